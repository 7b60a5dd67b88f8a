package ceg

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
)

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
	if began == "" || began == now.Digest() {
		return nil
	}
	return fmt.Errorf("%s: the run began with other images than the data set has now: the digest of all was %.12s, it is %.12s"+
		" (files have changed; or they are JPEGs, and the ledg that began it decoded them a little otherwise than this one, which does it as libjpeg does:"+
		" begin a new run, or go on with that ledg)", dir, began, now.Digest())
}

// open opens the data set at the place that the options give, or else the run in
// their directory remembers.
func (d Data) open(o Options) (*datasets.Dataset, datasets.Truth, error) {
	if o.Root == "" && o.Dir != "" {
		p, err := result.ReadPlace(o.Dir)
		if err != nil {
			return nil, datasets.Truth{}, err
		}
		o.Root, o.SplitsDir = p.Root, p.SplitsDir
	}
	return datasets.Open(d.Dataset, o.Root, datasets.Options{Seed: d.SplitSeed, SplitsDir: o.SplitsDir, CacheDir: o.CacheDir})
}

// remember notes where the run has found its images.
func (r *run) remember() (err error) {
	if r.o.Root == "" { // nothing new
		return nil
	}
	var p result.Place
	if p.Root, err = filepath.Abs(r.o.Root); err != nil {
		return err
	}
	if r.o.SplitsDir != "" {
		if p.SplitsDir, err = filepath.Abs(r.o.SplitsDir); err != nil {
			return err
		}
	}
	return r.dir.WritePlace(p)
}
