// Command domains writes the images of a built-in data set as a folder of photos, in which they have
// the same IDs. The domain labels of built-in images cannot be set, and domains.py, which writes
// labels for a study in which the true ones are unknown, reads images from a folder:
//
//	go run -C scripts/lab ./domains glyphs PHOTOS
package main

import (
	"image/png"
	"log"
	"os"
	"path/filepath"

	"github.com/ledg-go/ledg/datasets"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: domains DATASET PHOTOS")
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		log.Fatal("domains: ", err)
	}
}

// write writes the images as PNG files, whatever their IDs end in.
func write(name, folder string) error {
	data, _, err := datasets.Open(name, "", datasets.Options{})
	if err != nil {
		return err
	}
	for i, e := range data.Examples {
		m, err := data.Image(i)
		if err != nil {
			return err
		}
		path := filepath.Join(folder, filepath.FromSlash(e.ID))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		if err := png.Encode(f, m.ToImage()); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}
