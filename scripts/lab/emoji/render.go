package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	_ "image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/HugoSmits86/nativewebp"
	_ "golang.org/x/image/webp"

	"github.com/ledg-go/ledg/datasets/emoji"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// entry is a file of an archive.
type entry struct {
	path string
	data []byte
}

// render returns an image over white as a lossless WebP of the data set's size.
func render(data []byte) ([]byte, error) {
	src, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	side := max(src.Bounds().Dx(), src.Bounds().Dy())
	flat := image.NewRGBA(image.Rect(0, 0, side, side))
	draw.Draw(flat, flat.Rect, image.NewUniform(color.White), image.Point{}, draw.Src)
	at := image.Pt((side-src.Bounds().Dx())/2, (side-src.Bounds().Dy())/2)
	draw.Draw(flat, src.Bounds().Sub(src.Bounds().Min).Add(at), src, src.Bounds().Min, draw.Over)
	small := rgb.New(emoji.Size, emoji.Size)
	rgb.FromImage(flat).ResizeInto(small)
	for i := range small.Pix {
		small.Pix[i] |= 1 // which saves a fifth of the bytes; white stays white
	}
	var b bytes.Buffer
	err = nativewebp.Encode(&b, small.ToImage(), nil)
	return b.Bytes(), err
}

// rasterise turns the SVG files among an artist's into PNGs by resvg, which npm installed.
func rasterise(files map[string][]byte) error {
	dir, err := os.MkdirTemp("", "emoji")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	node := exec.Command("node", "emoji/resvg.mjs", strconv.Itoa(emoji.Size), dir)
	if text, err := node.CombinedOutput(); err != nil {
		return fmt.Errorf("node resvg.mjs: %w: %s; run npm ci --prefix emoji in scripts/lab first", err, text)
	}
	for name := range files {
		if files[name], err = os.ReadFile(filepath.Join(dir, strings.TrimSuffix(name, ".svg")+".png")); err != nil {
			return err
		}
	}
	return nil
}

// archive returns a zip of stored files without times.
func archive(files []entry) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		w, err := z.CreateHeader(&zip.FileHeader{Name: f.path, Method: zip.Store})
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}
