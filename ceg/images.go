package ceg

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
)

// LocalFile is the name of the file in a run's directory that says where the run
// last found its images. It concerns one machine and is no part of the records.
const LocalFile = "local.json"

// local is the content of LocalFile. Paths are absolute.
type local struct {
	Root      string `json:"root"`
	SplitsDir string `json:"splits_dir"`
}

// Dataset opens the data set of the run in o.Dir, from o.Root or else from where
// the run last found it.
func Dataset(o Options) (*datasets.Dataset, error) {
	c, err := readConfig(o.Dir)
	if err != nil {
		return nil, err
	}
	d, _, err := c.Data.open(o)
	return d, err
}

// CheckImages returns an error if the images at o.Root are not those that the
// finished run in o.Dir was made of.
func CheckImages(ctx context.Context, o Options) error {
	c, err := readConfig(o.Dir)
	if err != nil {
		return err
	}
	res, err := result.ReadResult(os.DirFS(o.Dir), result.ResultFile)
	if err != nil {
		return fmt.Errorf("%s: %w", o.Dir, err)
	}
	d, _, err := c.Data.open(o)
	if err != nil {
		return err
	}
	images, err := datasets.Prepare(ctx, d, c.Data.ImageSize, o.CacheDir, nil)
	if err != nil {
		return err
	}
	defer images.Close()
	return sameImages(o.Dir, res.Images, images)
}

// sameImages returns an error if a run was made of other images; began is the
// digest that it recorded, empty if it is older than such records.
func sameImages(dir, began string, now *datasets.Images) error {
	if began != "" && began != now.Digest() {
		return fmt.Errorf("%s: the run began with other images than the data set has now: the digest of all was %.12s, it is %.12s", dir, began, now.Digest())
	}
	return nil
}

// open opens the data set at the place that the options give, or else the run in
// their directory remembers.
func (d Data) open(o Options) (*datasets.Dataset, datasets.Truth, error) {
	if o.Root == "" && o.Dir != "" {
		l, err := readLocal(o.Dir)
		if err != nil {
			return nil, datasets.Truth{}, err
		}
		o.Root, o.SplitsDir = l.Root, l.SplitsDir
	}
	return datasets.Open(d.Dataset, o.Root, datasets.Options{Seed: d.SplitSeed, SplitsDir: o.SplitsDir})
}

// readLocal reads a run's LocalFile, which need not be there.
func readLocal(dir string) (l local, err error) {
	path := filepath.Join(dir, LocalFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, err
	}
	if err := result.Decode(data, &l); err != nil {
		return l, fmt.Errorf("%s: %w", path, err)
	}
	return l, nil
}

// remember writes the run's LocalFile.
func (r *run) remember() (err error) {
	if r.o.Root == "" { // nothing new
		return nil
	}
	var l local
	if l.Root, err = filepath.Abs(r.o.Root); err != nil {
		return err
	}
	if r.o.SplitsDir != "" {
		if l.SplitsDir, err = filepath.Abs(r.o.SplitsDir); err != nil {
			return err
		}
	}
	return r.dir.WriteFile(LocalFile, func(w io.Writer) error { return json.NewEncoder(w).Encode(l) })
}
