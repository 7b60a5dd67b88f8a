// Package examples opens and prepares a data set for training: it decodes and caches images, and
// checks and normalises feature vectors. The resulting [Set] hides the difference from the rest
// of a run.
package examples

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/learner/feed"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/scaler"
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

// Prepare makes the examples of a data set readable: images are decoded and cached, vectors
// checked and normalised. A nil shared shares nothing. progress reports the progress.
func Prepare(ctx context.Context, d config.Data, data *datasets.Dataset, cacheDir string, shared *Shared, progress func(done, total int)) (*Set, error) {
	if f, ok := data.Features(); ok {
		x, err := openVectors(ctx, f, d.Normalise, cacheDir, shared)
		if err == nil && f.Names() != nil {
			v := x.Source.(*vectors)
			v.names, _ = f.Names().Of(data.Classes)
		}
		return x, err
	}
	images, err := datasets.Prepare(ctx, data, d.ImageSize, cacheDir, progress)
	if err != nil {
		return nil, err
	}
	return &Set{Source: feed.Pixels(images), Digest: images.Digest(), close: images.Close}, nil
}

// Names returns the embeddings of class names beside feature vectors, which are standardised; nil if a class
// has none.
func (x *Set) Names() *objective.Names {
	v, ok := x.Source.(*vectors)
	if !ok || v.names == nil {
		return nil
	}
	rows := cluster.Matrix{Rows: len(v.names) / v.Dim, Cols: v.Dim, Stride: v.Dim, Data: v.names}
	return &objective.Names{Rows: rows, Mean: v.mean, Scale: v.scale}
}

// NamesLogits returns the class logits [n, C] of names alone for n examples, by the stored clean views. It
// has no rows if [Set.Names] is nil.
func (x *Set) NamesLogits(list []int) (logits cluster.Matrix, err error) {
	n := x.Names()
	if n == nil {
		return logits, nil
	}
	h, err := head.ZeroShot(n.Rows)
	if err != nil {
		return logits, err
	}
	v := x.Source.(*vectors)
	logits = cluster.Matrix{Rows: len(list), Cols: n.Rows.Rows, Stride: n.Rows.Rows}
	var scratch []byte
	for part := range slices.Chunk(list, 1024) {
		rows := cluster.Matrix{Rows: len(part), Cols: v.Dim, Stride: v.Dim, Data: make([]float32, len(part)*v.Dim)}
		for k, i := range part {
			row := rows.Data[k*v.Dim : (k+1)*v.Dim]
			if err := v.read(i, 0, row, &scratch); err != nil {
				return logits, err
			}
			scaler.Undo(v.normal, row)
		}
		logits.Data = append(logits.Data, h.Logits(rows).Data...)
	}
	return logits, nil
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

// Same returns an error if a run used other examples; began is the digest in its record, if it has
// one. path names the run.
func (x *Set) Same(path, began string) error {
	if began == "" || began == x.Digest {
		return nil
	}
	return fmt.Errorf("%s: the run began with other images than the data set has now: the digest of all was %.12s, it is %.12s: begin a new run", path, began, x.Digest)
}

// Open opens the data set of the run in dir, where at says or else where the run remembers it;
// an empty dir has no run.
func Open(d config.Data, dir string, at result.Place) (*datasets.Dataset, datasets.Truth, error) {
	userLabels, err := UserLabels(d, dir, at.Labels, at.Columns)
	if err != nil {
		return nil, datasets.Truth{}, err
	}
	cache := at.CacheDir
	if at, err = result.Locate(dir, d.Dataset, at); err != nil {
		return nil, datasets.Truth{}, err
	}
	return datasets.Open(d.Dataset, at.Root, datasets.Options{Seed: d.SplitSeed, SplitsDir: at.SplitsDir, CacheDir: cache,
		Classes: d.Classes, Labels: userLabels, Group: d.Group, Decoding: d.Decode, Patterns: d.Exclude, Layout: d.Layout, SiteRule: d.Site, FollowLinks: at.FollowLinks, Images: at.Images})
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// UserLabels reads the labels that the settings name by their digest: from the columns of the file at path,
// or else from the copy of the run in dir.
func UserLabels(d config.Data, dir, path string, columns datasets.ColumnNames) ([]datasets.Label, error) {
	if path == "" && d.Labels == "" {
		return nil, nil
	}
	if path == "" && dir != "" {
		if kept := filepath.Join(dir, labels.UserLabelsFile); exists(kept) {
			path = kept
		}
	}
	if path == "" {
		return nil, config.Errorf("data.labels", "the run used a file of labels with digest %.12s; specify this file", d.Labels)
	}
	t, err := labels.ReadTable(path, columns)
	if err != nil {
		return nil, &config.Error{Path: "data.labels", Err: err}
	}
	if now := labels.Digest(t.Labels); now != d.Labels {
		return nil, config.Errorf("data.labels", "%s has other labels than the run used: their digest was %.12s, it is %.12s", path, d.Labels, now)
	}
	return t.Labels, nil
}
