package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/learner/embedding"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/datasets"
)

// without opens the data set of the flags without images that cannot be decoded.
func (f *dataFlags) without(damaged []datasets.Skipped) (*datasets.Dataset, datasets.Truth, error) {
	o, err := f.options()
	if err != nil {
		return nil, datasets.Truth{}, err
	}
	o.Damaged = damaged
	return datasets.Open(f.dataset, f.root, o)
}

// damaged returns the images that an error is about, if they are left out: not with --strict,
// nor of published data sets.
func (f *dataFlags) damaged(err error) []datasets.Skipped {
	if bad := (*datasets.UnreadableError)(nil); errors.As(err, &bad) && !f.strict && f.dataset == photoDataset {
		return bad.Files
	}
	return nil
}

// sayLeftOut says which files are left out, if any are.
func sayLeftOut(w io.Writer, d *datasets.Dataset) {
	if info, _ := datasets.Lookup(d.Name); !info.Yours {
		return
	}
	if line := d.LeftOut(); line != "" {
		fmt.Fprintln(w, line)
	}
}

// writeFeatures writes the features of a data set of the flags, without images that cannot be
// decoded, and returns the data set that is left.
func writeFeatures(ctx context.Context, out string, data *dataFlags, d *datasets.Dataset, truth datasets.Truth, x *model.Extractor, o embedding.Options) (*datasets.Dataset, error) {
	err := embedding.Write(ctx, out, d, truth, x, o)
	bad := data.damaged(err)
	if bad == nil {
		return d, err
	}
	if !o.Shard.Whole() { // all shards are of the same images
		return d, fmt.Errorf("%w; leave them out of every shard with --exclude", err)
	}
	if d, truth, err = data.without(bad); err != nil {
		return nil, err
	}
	return d, embedding.Write(ctx, out, d, truth, x, o)
}

// leaveOut decodes the images of a run that begins on pixels, and makes its config leave out
// those that cannot be decoded, which it returns.
func (f *trainFlags) leaveOut(cmd *cobra.Command, c *config.Config) ([]datasets.Skipped, error) {
	d, _, err := f.data.openDataset()
	if err != nil {
		return nil, err
	}
	var progress func(done, total int)
	if !f.quiet {
		progress = countProgress(cmd.ErrOrStderr(), "images")
	}
	images, err := datasets.Prepare(cmd.Context(), d, c.Data.ImageSize, f.cache, progress)
	if line := d.SayPictures(); line != "" && f.data.dataset == photoDataset {
		fmt.Fprintln(cmd.ErrOrStderr(), line)
	}
	if err == nil {
		sayLeftOut(cmd.ErrOrStderr(), d)
		return nil, images.Close()
	}
	bad := f.data.damaged(err)
	if bad == nil {
		return nil, err
	}
	c.Data.Exclude = slices.Clone(c.Data.Exclude)
	for _, file := range bad {
		c.Data.Exclude = append(c.Data.Exclude, datasets.ExactPattern(file.ID))
	}
	if d, _, err = f.data.without(bad); err != nil {
		return nil, err
	}
	sayLeftOut(cmd.ErrOrStderr(), d)
	return bad, nil
}
