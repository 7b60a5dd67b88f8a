package exchange

import (
	"archive/zip"
	"bufio"
	"context"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/foreign"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// Read reads a tool's export: a file for CSV and Label Studio, a zip archive, a folder or the
// file of annotations for CVAT and COCO, a folder for class folders. It is an error if there is
// no label in it.
func Read(ctx context.Context, f Format, name string, o ReadOptions) (*Import, error) {
	im := &Import{f: f, o: o}
	err := foreign.Check(name, formats[f].accepts...)
	if err == nil {
		err = im.read(ctx, name)
	}
	if err == nil && len(im.Labels)+len(im.Left) == 0 {
		err = fmt.Errorf("%s: there is no label in it; looked for %s", name, formats[f].holds)
	}
	if err != nil {
		return nil, err
	}
	return im, nil
}

func (im *Import) read(ctx context.Context, name string) error {
	switch im.f {
	case CSV:
		return im.readCSV(name)
	case LabelStudio:
		return im.readLabelStudio(name)
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if info.IsDir() {
		root, err := os.OpenRoot(name) // a link out of it is not followed
		if err != nil {
			return err
		}
		defer root.Close()
		return im.readFolder(ctx, root.FS(), name)
	}
	if im.f == Folder {
		return fmt.Errorf("%s: want the folder that was exported", name)
	}
	alone := strings.EqualFold(filepath.Ext(name), formats[im.f].file)
	limit := int64(math.MaxInt64)
	if alone {
		limit = maxFile
	}
	file, err := regular.Open(name, limit)
	if err != nil {
		return err
	}
	defer file.Close()
	switch {
	case alone && im.f == CVAT:
		return im.readCVATXML(file, name)
	case alone:
		return im.readCOCO(file, name)
	}
	z, err := zip.NewReader(file, info.Size())
	if err == nil {
		err = checkInflated(z, info.Size())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return im.readFolder(ctx, z, name)
}

func (im *Import) readFolder(ctx context.Context, fsys fs.FS, name string) error {
	switch im.f {
	case CVAT:
		return im.readCVAT(ctx, inside(fsys, "annotations.xml", "synsets.txt"), name)
	case COCO:
		return im.readCOCOs(ctx, fsys, name)
	}
	return im.readTree(ctx, fsys, name)
}

// inside returns the folder that has one of some files: the export's own, or one that lies
// alone in it, as in archives that were packed again. Without such a file it is the export's own.
func inside(fsys fs.FS, names ...string) fs.FS {
	here := fsys
	for range 8 {
		for _, name := range names {
			if _, err := fs.Stat(here, name); err == nil {
				return here
			}
		}
		entries, err := fs.ReadDir(here, ".")
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return datasets.Ignored(e.Name()) })
		if err != nil || len(entries) != 1 || !entries[0].IsDir() {
			break
		}
		if here, err = fs.Sub(here, entries[0].Name()); err != nil {
			break
		}
	}
	return fsys
}

// An archive may inflate to maxRatio times its size plus maxFile: images hardly compress, and
// text stays far below.
const maxRatio = 20

// checkInflated sums the declared inflated sizes of an archive's entries; no more is read of
// any.
func checkInflated(z *zip.Reader, size int64) error {
	room := uint64(maxFile + maxRatio*size)
	for _, e := range z.File {
		if e.UncompressedSize64 > room {
			return fmt.Errorf("its %d bytes inflate to more than %d: it is damaged, or no export", size, maxFile+maxRatio*size)
		}
		room -= e.UncompressedSize64
	}
	return nil
}

// walk calls f with the paths of the files in a folder or an archive.
func walk(ctx context.Context, fsys fs.FS, name string, f func(p string) error) error {
	return fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case p != "." && datasets.Ignored(path.Base(p)) && d.IsDir():
			return fs.SkipDir
		case d.IsDir() || datasets.Ignored(path.Base(p)):
			return nil
		}
		return f(p)
	})
}

// readTree reads class folders: the class of an image is the name of its folder.
func (im *Import) readTree(ctx context.Context, fsys fs.FS, name string) error {
	return walk(ctx, fsys, name, func(p string) error {
		a := Label{Path: p, Kind: labels.Labelled, Class: path.Base(path.Dir(p)), Where: path.Join(filepath.ToSlash(name), p)}
		sum, isImage, err := imageDigest(fsys, p)
		switch {
		case err != nil:
		case !isImage || a.Class == datasets.Unlabelled:
			return nil
		case a.Class == ".":
			err = errors.New("the image lies in no class folder")
		case im.f == CVAT: // label/label_image.jpg
			dir, base := path.Split(p)
			a.Path = dir + strings.TrimPrefix(base, a.Class+"_")
		}
		a.Digest = sum
		return im.take(a, err)
	})
}

// imageDigest returns the digest of a file, and whether its first bytes are those of an image
// format.
func imageDigest(fsys fs.FS, p string) (sum string, isImage bool, err error) {
	f, err := regular.OpenFS(fsys, p, rgb.MaxFile)
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	head := make([]byte, rgb.Magic)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", false, err
	}
	if rgb.Format(head[:n]) == "" {
		return "", false, nil
	}
	h := datasets.ContentHash(head[:n])
	h.Write(head[:n])
	if _, err := io.Copy(h, f); err != nil {
		return "", false, err
	}
	return hex.EncodeToString(h.Sum(nil)), true, nil
}

// readCVAT reads an archive of ImageNet 1.0, with images or without, of Ultralytics
// YOLO Classification, or of CVAT for images.
func (im *Import) readCVAT(ctx context.Context, fsys fs.FS, name string) error {
	if f, err := regular.OpenFS(fsys, "annotations.xml", maxFile); err == nil {
		defer f.Close()
		return im.readCVATXML(f, path.Join(filepath.ToSlash(name), "annotations.xml"))
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", name, err)
	}
	text, err := regular.ReadFS(fsys, "synsets.txt", maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return im.readTree(ctx, fsys, name)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var classes []string
	for line := range strings.Lines(string(text)) {
		classes = append(classes, strings.TrimRight(line, "\r\n"))
	}
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, e := range entries {
		if e.IsDir() || path.Ext(e.Name()) != ".txt" || e.Name() == "synsets.txt" || datasets.Ignored(e.Name()) {
			continue
		}
		text, err := regular.ReadFS(fsys, e.Name(), maxFile)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			n++
			a, ok, err := imageNetLine(strings.TrimSpace(line), classes)
			if err == nil && !ok {
				continue
			}
			a.Where = fmt.Sprintf("%s:%d", path.Join(filepath.ToSlash(name), e.Name()), n)
			if err := im.take(a, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// imageNetLine reads `image.jpg 3`, or `"an image".jpg 3`. ok is false for an image
// without a label.
func imageNetLine(line string, classes []string) (a Label, ok bool, err error) {
	if line == "" {
		return a, false, nil
	}
	rest := line
	if quoted, after, found := strings.Cut(strings.TrimPrefix(line, `"`), `"`); strings.HasPrefix(line, `"`) {
		if !found {
			return a, false, fmt.Errorf("the quote of %q does not end", line)
		}
		ext, numbers, _ := strings.Cut(after, " ")
		a.Path, rest = quoted+ext, numbers
	} else {
		a.Path, rest, _ = strings.Cut(line, " ")
	}
	fields := strings.Fields(rest)
	switch len(fields) {
	case 0:
		return a, false, nil
	case 1:
	default:
		return a, false, fmt.Errorf("%q has %d labels, want one", a.Path, len(fields))
	}
	k, err := strconv.Atoi(fields[0])
	if err != nil || k < 0 || k >= len(classes) {
		return a, false, fmt.Errorf("%q has label %q, want 0 to %d, the lines of synsets.txt", a.Path, fields[0], len(classes)-1)
	}
	a.Kind, a.Class = labels.Labelled, classes[k]
	return a, true, nil
}

// readCVATXML reads the tags of a CVAT for images 1.1 file.
func (im *Import) readCVATXML(r io.Reader, name string) error {
	d := xml.NewDecoder(bufio.NewReader(r))
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			line, _ := d.InputPos()
			return fmt.Errorf("%s:%d: %w", name, line, err)
		}
		start, ok := t.(xml.StartElement)
		if !ok || start.Name.Local != "image" {
			continue
		}
		line, _ := d.InputPos()
		where := fmt.Sprintf("%s:%d", name, line)
		var image struct {
			Name string `xml:"name,attr"`
			Tags []struct {
				Label string `xml:"label,attr"`
			} `xml:"tag"`
		}
		if err := d.DecodeElement(&image, &start); err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
		var classes []string
		for _, tag := range image.Tags {
			if !slices.Contains(classes, tag.Label) {
				classes = append(classes, tag.Label)
			}
		}
		if err := im.addOne(where, image.Name, classes); err != nil {
			return err
		}
	}
}
