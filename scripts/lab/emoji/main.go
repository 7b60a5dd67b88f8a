// Command emoji makes the archives of the data set emoji from pinned npm packages (156 MB), one for
// each artist, and resvg, which rasterises SVG:
//
//	cd scripts/lab && npm ci --prefix emoji && go run ./emoji
//	python3 emoji/repack.py ../../datasets/emoji/{fluent,noto,openmoji,twemoji}.zip
//	zstd --ultra -22 --rm ../../datasets/emoji/*.zip
//
// A test of package datasets/emoji has the archives' digests. The features of EfficientNet-Lite0
// beside the archives are made by
//
//	ledg embed --dataset emoji --dtype float16 --out /tmp/lite0.safetensors
//	python3 scripts/lab/emoji/pack.py /tmp/lite0.safetensors datasets/emoji/lite0.npz
package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	_ "image/png"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/HugoSmits86/nativewebp"
	_ "golang.org/x/image/webp"

	"github.com/ledg-go/ledg/datasets/emoji"
	"github.com/ledg-go/ledg/datasets/rgb"
)

func main() {
	log.SetFlags(0)
	if err := build(); err != nil {
		log.Fatal("emoji: ", err)
	}
}

// Folders of the archives and of the npm packages, from scripts/lab.
const (
	out     = "../../datasets/emoji"
	modules = "emoji/node_modules/"
)

// build makes the archives. An emoji is used if all four artists drew it.
func build() error {
	drawings, err := os.MkdirTemp("", "emoji")
	if err != nil {
		return err
	}
	defer os.RemoveAll(drawings)
	node := exec.Command("node", "emoji/resvg.mjs", strconv.Itoa(emoji.Size), modules+"openmoji/color/svg", drawings)
	if text, err := node.CombinedOutput(); err != nil {
		return fmt.Errorf("node resvg.mjs: %w: %s; run npm ci --prefix emoji in scripts/lab first", err, text)
	}
	folders := map[string]string{
		"fluent":   modules + "@lobehub/fluent-emoji-3d/assets",
		"noto":     modules + "emoji-datasource-google/img/google/64",
		"openmoji": drawings,
		"twemoji":  modules + "emoji-datasource-twitter/img/twitter/64",
	}
	list, err := concepts()
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(c concept) bool {
		return slices.ContainsFunc(emoji.Domains(), func(domain string) bool { return c.find(folders[domain]) == "" })
	})
	for _, domain := range emoji.Domains() {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for _, c := range list {
			image, err := render(c.find(folders[domain]))
			if err != nil {
				return fmt.Errorf("%s: %s: %w", domain, c.Unified, err)
			}
			w, err := z.CreateHeader(&zip.FileHeader{Name: c.path(), Method: zip.Store}) // without a time
			if err != nil {
				return err
			}
			if _, err := w.Write(image); err != nil {
				return err
			}
		}
		if err := z.Close(); err != nil {
			return err
		}
		path := filepath.Join(out, domain+".zip")
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			return err
		}
		fmt.Printf("%s: %d images, %d bytes\n", path, len(list), b.Len())
	}
	return nil
}

type concept struct{ Unified, Image, Subcategory string }

// concepts returns the emoji of the data set's classes, sorted by path.
func concepts() ([]concept, error) {
	data, err := os.ReadFile(modules + "emoji-datasource-google/emoji.json")
	if err != nil {
		return nil, err
	}
	var all []concept
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("emoji.json: %w", err)
	}
	all = slices.DeleteFunc(all, func(c concept) bool {
		_, ok := emoji.ClassOf(c.Subcategory)
		return !ok
	})
	slices.SortFunc(all, func(a, b concept) int { return cmp.Compare(a.path(), b.path()) })
	return all, nil
}

// path is the concept's name in an archive.
func (c concept) path() string {
	class, _ := emoji.ClassOf(c.Subcategory)
	return class + "/" + strings.ToLower(c.Unified) + ".webp"
}

// find returns the path of the concept's image in an artist's folder; "" if there is none.
func (c concept) find(folder string) string {
	name := strings.ToLower(c.Unified)
	short := strings.ReplaceAll(name, "-fe0f", "")
	for _, n := range []string{c.Image, name + ".webp", short + ".webp", short + "-fe0f.webp", name + ".png", short + ".png"} {
		if _, err := os.Stat(filepath.Join(folder, n)); err == nil {
			return filepath.Join(folder, n)
		}
	}
	return ""
}

// render returns an image file over white as a lossless WebP of the data set's size.
func render(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, _, err := image.Decode(f)
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
