package exchange

import (
	"archive/zip"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// Options are the settings of Write.
type Options struct {
	Data *datasets.Dataset
	// Files holds the image files by ID; nil for generated images, which excludes formats that
	// contain images.
	Files fs.FS
	// Classes are in index order.
	Classes []string
	// ImageURL is the prefix of image addresses in Label Studio; empty means
	// /data/local-files/?d= and ImageFolder.
	ImageURL string
	// ImageFolder is the data set's folder relative to Label Studio's
	// LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT.
	ImageFolder string
}

// digest returns the SHA-256 of an item's file; empty for feature vectors without known images.
func (o Options) digest(v Item) (string, error) {
	sum, err := o.Data.Digest(v.Index)
	if errors.Is(err, datasets.ErrNoImages) {
		return "", nil
	}
	return sum, err
}

// errExists is the error of an existing output; nothing is overwritten.
var errExists = errors.New("it exists already: choose another name, or remove it")

// Writable returns the items that a format can hold, and why the others are left out.
func Writable(f Format, items []Item) (fit []Item, left []error) {
	if f != CVAT {
		return items, nil
	}
	for _, v := range items {
		switch {
		case strings.ContainsAny(v.ID, "\"\n\r"):
			left = append(left, fmt.Errorf("%q: CVAT's list cannot hold a name with a quote or a newline", v.ID))
		case strings.ContainsAny(path.Ext(v.ID), " \t"): // CVAT cuts the text after the quote at spaces
			left = append(left, fmt.Errorf("%q: CVAT's list cannot hold an ending with a space", v.ID))
		default:
			fit = append(fit, v)
		}
	}
	return fit, left
}

// Write exports items for a tool: CSV to a file, other formats to a folder, which must not
// exist. notes are messages for the user.
func Write(ctx context.Context, f Format, out string, items []Item, o Options) (notes []string, err error) {
	if _, err := os.Lstat(out); err == nil {
		return nil, fmt.Errorf("%s: %w", out, errExists)
	}
	if len(items) == 0 {
		return nil, errors.New("there is nothing to export")
	}
	if _, left := Writable(f, items); len(left) > 0 {
		return nil, left[0]
	}
	if slices.ContainsFunc(items, func(v Item) bool { return rgb.FilePath(v.ID) != v.ID }) && f != CSV {
		return nil, fmt.Errorf("the items are boxes in images, which --format %s reads and %s does not", CSV, f)
	}
	if f == CSV {
		return nil, regular.WriteFile(out, func(w io.Writer) error { return writeCSV(w, items, o) })
	}
	if f != LabelStudio && o.Files == nil {
		return nil, fmt.Errorf("data set %s has no image files to export as %s", o.Data.Name, f)
	}
	// The output of a killed export can be recognised as incomplete.
	part := out + ".part"
	if err := os.RemoveAll(part); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(part, 0o777); err != nil {
		return nil, err
	}
	switch f {
	case LabelStudio:
		notes, err = writeLabelStudio(ctx, part, items, o)
	case CVAT:
		notes, err = writeCVAT(ctx, part, items, o)
	case Folder:
		err = writeFolder(ctx, part, items, o)
	}
	if err == nil {
		err = os.Rename(part, out)
	}
	if err != nil {
		os.RemoveAll(part)
		return nil, err
	}
	return notes, nil
}

func writeJSON(path string, v any) error {
	return regular.WriteFile(path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		return e.Encode(v)
	})
}

// copyImage copies the file of an item, to a path with slashes in a folder.
func copyImage(ctx context.Context, v Item, o Options, dir, name string) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return fmt.Errorf("%q would lie outside of %s", name, dir)
	}
	to := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	in, err := o.Files.Open(v.ID)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if closed := out.Close(); err == nil {
		err = closed
	}
	return err
}

// writeFolder writes domain/class/image, and domain/_unlabeled/image for images without a class,
// as for data sets of folders, and the class folders of FiftyOne and torchvision.
func writeFolder(ctx context.Context, dir string, items []Item, o Options) error {
	used := newUsed()
	for _, v := range items {
		class := cmp.Or(v.Class, datasets.Unlabelled)
		sum, err := o.digest(v)
		if err != nil {
			return err
		}
		if err := copyImage(ctx, v, o, dir, used.name(path.Join(v.Domain, class, path.Base(v.ID)), sum)); err != nil {
			return err
		}
	}
	return nil
}

// usedNames are names that must differ, also on file systems that ignore case.
type usedNames map[string]bool

func newUsed() usedNames { return make(usedNames) }

// name returns an unused name. A used name gets a part of the digest, or a number, before its
// extension.
func (u usedNames) name(name, sum string) string {
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	for n := 0; u[strings.ToLower(name)]; n++ {
		name = fmt.Sprintf("%s-%.8s%s", stem, sum, ext)
		if n > 0 {
			name = fmt.Sprintf("%s-%.8s-%d%s", stem, sum, n, ext)
		}
	}
	u[strings.ToLower(name)] = true
	return name
}

// writeCVAT writes images.zip for a new task, labels.json for its label constructor, and
// annotations.zip in the format ImageNet 1.0 if there are labels.
func writeCVAT(ctx context.Context, dir string, items []Item, o Options) ([]string, error) {
	type label struct {
		Name       string   `json:"name"`
		Type       string   `json:"type"`
		Attributes []string `json:"attributes"`
	}
	var constructor []label
	number := make(map[string]int)
	for i, class := range o.Classes {
		constructor = append(constructor, label{class, "tag", []string{}})
		number[class] = i
	}
	if err := writeJSON(filepath.Join(dir, "labels.json"), constructor); err != nil {
		return nil, err
	}
	var lines strings.Builder
	err := writeZip(filepath.Join(dir, "images.zip"), func(z *zip.Writer) error {
		for _, v := range items {
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			w, err := z.CreateHeader(&zip.FileHeader{Name: v.ID, Method: zip.Store})
			if err != nil {
				return err
			}
			in, err := o.Files.Open(v.ID)
			if err != nil {
				return err
			}
			_, err = io.Copy(w, in)
			in.Close()
			if err != nil {
				return err
			}
			if v.Class != "" {
				ext := path.Ext(v.ID)
				fmt.Fprintf(&lines, "\"%s\"%s %d\n", strings.TrimSuffix(v.ID, ext), ext, number[v.Class])
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	notes := []string{"make a task of images.zip, with the labels of labels.json in its constructor (Raw)"}
	if lines.Len() == 0 {
		return notes, nil
	}
	notes = append(notes, "upload annotations.zip to it as ImageNet 1.0")
	return notes, writeZip(filepath.Join(dir, "annotations.zip"), func(z *zip.Writer) error {
		for name, text := range map[string]string{"synsets.txt": strings.Join(o.Classes, "\n") + "\n", "default.txt": lines.String()} {
			w, err := z.Create(name)
			if err != nil {
				return err
			}
			if _, err := io.WriteString(w, text); err != nil {
				return err
			}
		}
		return nil
	})
}

func writeZip(path string, fill func(*zip.Writer) error) error {
	return regular.WriteFile(path, func(w io.Writer) error {
		z := zip.NewWriter(w)
		if err := fill(z); err != nil {
			return err
		}
		return z.Close()
	})
}
