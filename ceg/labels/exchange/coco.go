package exchange

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/datasets/regular"
)

// readCOCOs reads the .json files of an archive or folder, wherever they lie in it.
func (im *Import) readCOCOs(ctx context.Context, fsys fs.FS, name string) error {
	return walk(ctx, fsys, name, func(p string) error {
		if !strings.EqualFold(path.Ext(p), ".json") {
			return nil
		}
		f, err := regular.OpenFS(fsys, p, maxFile)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		defer f.Close()
		return im.readCOCO(f, path.Join(filepath.ToSlash(name), p))
	})
}

// readCOCO reads images, annotations and categories. Several annotations of an image, such as
// boxes, are one label if they are of one category.
func (im *Import) readCOCO(r io.Reader, name string) error {
	var file struct {
		Images []struct {
			ID   json.RawMessage `json:"id"`
			File string          `json:"file_name"`
		} `json:"images"`
		Annotations []struct {
			Image    json.RawMessage `json:"image_id"`
			Category json.RawMessage `json:"category_id"`
		} `json:"annotations"`
		Categories []struct {
			ID   json.RawMessage `json:"id"`
			Name string          `json:"name"`
		} `json:"categories"`
	}
	d := json.NewDecoder(transform.NewReader(r, unicode.BOMOverride(encoding.Nop.NewDecoder())))
	if err := d.Decode(&file); err != nil {
		return fmt.Errorf("%s: it is no coco file: %w", name, labels.Undecoded(err))
	}
	names, of := make(map[string]string), make(map[string][]string)
	for _, c := range file.Categories {
		names[idText(c.ID)] = c.Name
	}
	for i, a := range file.Annotations {
		class, ok := names[idText(a.Category)]
		if !ok {
			if err := im.leave(fmt.Sprintf("%s (annotation %d)", name, i+1), fmt.Errorf("category_id %s is none of the %d categories", cut(a.Category), len(names))); err != nil {
				return err
			}
			continue
		}
		if id := idText(a.Image); !slices.Contains(of[id], class) {
			of[id] = append(of[id], class)
		}
	}
	for _, m := range file.Images {
		id := idText(m.ID)
		classes := of[id]
		delete(of, id)
		if err := im.addOne(fmt.Sprintf("%s (%s)", name, m.File), m.File, classes); err != nil {
			return err
		}
	}
	if len(of) > 0 {
		return im.leave(name, fmt.Errorf("%d annotations are of an image_id that no image has", len(of)))
	}
	return nil
}

// idText returns an ID without quotes: some tools write the same ID as a string and as a number.
func idText(id json.RawMessage) string { return strings.Trim(string(id), `"`) }

// addOne adds the label of an image that has one class, and leaves out one that has several.
func (im *Import) addOne(where, file string, classes []string) error {
	switch {
	case len(classes) == 0:
		return nil
	case len(classes) > 1:
		return im.leave(where, one(file, classes))
	case file == "":
		return im.leave(where, errors.New("it has no name of a file"))
	}
	return im.add(Label{Path: file, Kind: labels.Labelled, Class: classes[0], Where: where})
}

// cut returns the beginning of a JSON value for an error.
func cut(raw json.RawMessage) string { return fmt.Sprintf("%.40s", raw) }
