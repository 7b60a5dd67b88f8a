// Package examples opens and prepares a data set for training: it decodes and caches images, and
// checks and normalises feature vectors. The resulting [Set] hides the difference from the rest
// of a run.
package examples

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/learner/feed"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
)

// EvalBatch is the batch size of predictions.
const EvalBatch = 128

// Set is a prepared set of examples, images or feature vectors.
type Set struct {
	feed.Source
	// Digest identifies the examples' content.
	Digest string
	close  func() error
}

// Close frees memory and closes files.
func (x *Set) Close() error { return x.close() }

// Where locates a data set.
type Where struct {
	// Dir is a run's folder, which records where its data set was; it is used if Root is empty.
	Dir string
	// Root is the folder of the images, SplitsDir the folder of the PACS lists, Labels a file of
	// labels of the user's own images, and FollowLinks the field of datasets.Options.
	Root, SplitsDir, Labels string
	FollowLinks             bool
	// CacheDir holds decoded images; empty means the default of package datasets.
	CacheDir string
}

// Prepare makes the examples of a data set readable: images are decoded and cached, vectors
// checked and normalised. A nil shared shares nothing. progress reports the progress.
func Prepare(ctx context.Context, d config.Data, data *datasets.Dataset, cacheDir string, shared *Shared, progress func(done, total int)) (*Set, error) {
	if f, ok := data.Features(); ok {
		return openVectors(ctx, f, d.Normalise, cacheDir, shared)
	}
	images, err := datasets.Prepare(ctx, data, d.ImageSize, cacheDir, progress)
	if err != nil {
		return nil, err
	}
	return &Set{Source: feed.Pixels(images), Digest: images.Digest(), close: images.Close}, nil
}

// Standardise computes the mean and scale of feature vectors over the examples of a pool. It
// does nothing for images.
func (x *Set) Standardise(ctx context.Context, pool []int) error {
	if v, ok := x.Source.(*vectors); ok {
		return v.standardise(ctx, pool)
	}
	return nil
}

// Batches returns plain views of some examples, for predictions.
func (x *Set) Batches(ctx context.Context, list []int) iter.Seq2[*feed.EvalBatch, error] {
	return feed.EvalBatches(ctx, x.Source, list, EvalBatch)
}

// Same returns an error if a run used other examples; began is the digest in its record, empty
// for old records. path names the run.
func (x *Set) Same(path, began string) error {
	if began == "" || began == x.Digest {
		return nil
	}
	return fmt.Errorf("%s: the run began with other images than the data set has now: the digest of all was %.12s, it is %.12s"+
		" (files have changed; or they are JPEGs, and the ledg that began it decoded them a little otherwise than this one, which does it as libjpeg does:"+
		" begin a new run, or go on with that ledg)", path, began, x.Digest)
}

// Open opens a data set. For a run on features, a Root that is a folder locates the images that
// they were computed from.
func Open(d config.Data, o Where) (*datasets.Dataset, datasets.Truth, error) {
	images := ""
	if info, _ := datasets.Lookup(d.Dataset); info.Vectors && o.Dir != "" && isFolder(o.Root) {
		images, o.Root = o.Root, ""
	}
	if o.Root == "" && o.Dir != "" {
		p, err := result.ReadPlace(o.Dir)
		if err != nil {
			return nil, datasets.Truth{}, err
		}
		o.Root, o.SplitsDir, o.FollowLinks = p.Root, p.SplitsDir, p.FollowLinks
		images = cmp.Or(images, p.Images)
	}
	given, err := Given(d, o)
	if err != nil {
		return nil, datasets.Truth{}, err
	}
	return datasets.Open(d.Dataset, o.Root, datasets.Options{Seed: d.SplitSeed, SplitsDir: o.SplitsDir, CacheDir: o.CacheDir,
		Classes: d.Classes, Labels: given, Group: d.Group, Decoding: d.Decode, Patterns: d.Exclude, Layout: d.Layout, SiteRule: d.Site, FollowLinks: o.FollowLinks, Images: images})
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Given reads the labels that the settings name: from the specified file, else from the run's
// own copy, or from where the run last found them.
func Given(d config.Data, o Where) ([]datasets.Label, error) {
	if o.Labels == "" && d.Labels == "" {
		return nil, nil
	}
	path := o.Labels
	if path == "" && o.Dir != "" {
		path = filepath.Join(o.Dir, labels.GivenFile)
		if _, err := os.Stat(path); err != nil { // of an older version
			p, err := result.ReadPlace(o.Dir)
			if err != nil {
				return nil, err
			}
			path = p.Labels
		}
	}
	if path == "" {
		return nil, config.Errorf("data.labels", "the run was given labels, of digest %.12s; give their file", d.Labels)
	}
	list, err := labels.ReadFile(path)
	if err != nil {
		return nil, &config.Error{Path: "data.labels", Err: err}
	}
	if now := labels.Digest(list); now != d.Labels {
		return nil, config.Errorf("data.labels", "%s has not the labels that the run was given: their digest was %.12s, it is %.12s", path, d.Labels, now)
	}
	return list, nil
}
