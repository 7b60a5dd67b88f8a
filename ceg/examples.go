package ceg

import (
	"context"
	"fmt"
	"iter"

	"github.com/ledg-go/ledg/ceg/ask"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/feed"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
)

// evalBatch is the number of examples in a prediction batch.
const evalBatch = 128

// examples are the second part of a run: where what the networks see comes from.
// Nothing else in a run knows what they are of.
type examples struct {
	feed.Source
	// digest is equal only for equal examples.
	digest string
	loader *feed.Loader
	close  func() error
}

// openExamples makes the examples of a pool's data set ready to be read, which of
// images means decoded and cached. progress is told how far it is.
func openExamples(ctx context.Context, c Config, o Options, p *ask.Campaign, progress func(done, total int)) (*examples, error) {
	x, err := prepare(ctx, c.Data, p.Data, o, progress)
	if err != nil {
		return nil, err
	}
	if v, ok := x.Source.(*vectors); ok {
		if err := v.standardise(ctx, p.Places); err != nil {
			x.close()
			return nil, err
		}
	}
	x.loader, err = feed.New(x.Source, feed.Config{Seed: c.Seed, Domains: p.SourceNames(), Batch: c.Schedule.PerDomain, Workers: o.Workers})
	if err != nil {
		x.close()
		return nil, err
	}
	return x, nil
}

// prepare is openExamples without a loader.
func prepare(ctx context.Context, d config.Data, data *datasets.Dataset, o Options, progress func(done, total int)) (*examples, error) {
	if f, ok := data.Features(); ok {
		return openVectors(ctx, f, d.Normalise, o.CacheDir, o.Shared)
	}
	images, err := datasets.Prepare(ctx, data, d.ImageSize, o.CacheDir, progress)
	if err != nil {
		return nil, err
	}
	return &examples{Source: feed.Pixels(images), digest: images.Digest(), close: images.Close}, nil
}

// batches returns plain views of some examples, for predictions.
func (x *examples) batches(ctx context.Context, list []int) iter.Seq2[*feed.EvalBatch, error] {
	return feed.EvalBatches(ctx, x.Source, list, evalBatch)
}

// same returns an error if a run was made of other examples; began is the digest
// that it recorded, empty if it is older than such records. path names the run.
func (x *examples) same(path, began string) error {
	if began == "" || began == x.digest {
		return nil
	}
	return fmt.Errorf("%s: the run began with other images than the data set has now: the digest of all was %.12s, it is %.12s"+
		" (files have changed; or they are JPEGs, and the ledg that began it decoded them a little otherwise than this one, which does it as libjpeg does:"+
		" begin a new run, or go on with that ledg)", path, began, x.digest)
}

// CheckImages returns an error if the images at o.Root are not those that the
// finished run in o.Dir was made of.
func CheckImages(ctx context.Context, o Options) error {
	c, err := readConfig(o.Dir)
	if err != nil {
		return err
	}
	fsys, err := result.FS(o.Dir)
	if err != nil {
		return err
	}
	res, err := result.ReadResult(fsys, result.ResultFile)
	if err != nil {
		return fmt.Errorf("%s: %w", o.Dir, err)
	}
	data, _, err := openData(c.Data, o)
	if err != nil {
		return err
	}
	x, err := prepare(ctx, c.Data, data, o, nil)
	if err != nil {
		return err
	}
	defer x.close()
	return x.same(o.Dir, res.Images)
}

// openData opens the data set at the place that the options give, or else the run in
// their directory remembers.
func openData(d config.Data, o Options) (*datasets.Dataset, datasets.Truth, error) {
	if o.Root == "" && o.Dir != "" {
		p, err := result.ReadPlace(o.Dir)
		if err != nil {
			return nil, datasets.Truth{}, err
		}
		o.Root, o.SplitsDir, o.FollowLinks = p.Root, p.SplitsDir, p.FollowLinks
		if o.Labels == "" {
			o.Labels = p.Labels
		}
	}
	given, err := givenLabels(d, o.Labels)
	if err != nil {
		return nil, datasets.Truth{}, err
	}
	return datasets.Open(d.Dataset, o.Root, datasets.Options{Seed: d.SplitSeed, SplitsDir: o.SplitsDir, CacheDir: o.CacheDir,
		Classes: d.Classes, Labels: given, FollowLinks: o.FollowLinks})
}

// givenLabels reads the labels that the settings tell of.
func givenLabels(d config.Data, path string) ([]datasets.Label, error) {
	if path == "" && d.Labels == "" {
		return nil, nil
	}
	if path == "" {
		return nil, &config.Error{Path: "data.labels", Err: fmt.Errorf("the run was given labels, of digest %.12s; give their file", d.Labels)}
	}
	list, err := labels.ReadFile(path)
	if err != nil {
		return nil, &config.Error{Path: "data.labels", Err: err}
	}
	if now := labels.Digest(list); now != d.Labels {
		return nil, &config.Error{Path: "data.labels", Err: fmt.Errorf("%s has not the labels that the run was given: their digest was %.12s, it is %.12s", path, d.Labels, now)}
	}
	return list, nil
}
