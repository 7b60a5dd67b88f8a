package examples

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gomlx/compute/dtypes"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/internal/dot"
	"github.com/ledg-go/ledg/ceg/learner/feed"
	"github.com/ledg-go/ledg/ceg/objective/augment"
	"github.com/ledg-go/ledg/ceg/rundir/scaler"
	"github.com/ledg-go/ledg/datasets"
)

// vectors are the source of a data set of features. Rows are [1, 1, D], normalised as
// Data.Normalise specifies and standardised by clean views of the pool: features are centred and
// divided by one common scale, so that their mean square is 1. The target is not part of these
// statistics. But target accuracy was the reason to prefer one common scale to one for each
// feature: dividing by each feature's own deviation amplifies the weakest ones, and with 1% of
// the labels of PACS and EfficientNet-Lite0 logistic regression then has 46.9% on the targets
// (mean of four targets and three draws, without records) instead of 48.3%.
//
// The plain view is the stored clean one. A weak view is a random stored weak one or, without
// any, the clean one. A strong view is a random stored strong one. Without any it is a weak view
// with dropout: each feature is set to its mean with probability 0.3, and the others are scaled
// up. Stored views of unknown kind serve as both.
type vectors struct {
	*datasets.Vectors
	weak, strong []int // views
	dropout      bool
	// normal is applied to every vector before its mean is taken off.
	normal config.Normalisation
	mean   []float32
	scale  float32
	// names are the embeddings of class names, row by row; nil if a class has none.
	names []float32
}

// openVectors opens the features of a data set, or takes those that are shared.
func openVectors(ctx context.Context, f *datasets.Features, normal config.Normalisation, cacheDir string, shared *Shared) (*Set, error) {
	open, digest, free, err := shared.openShared(ctx, f, normal, cacheDir)
	if err != nil {
		return nil, err
	}
	v := &vectors{Vectors: open, normal: normal}
	for i, k := range f.Views {
		if k == datasets.WeakView || k == datasets.AnyView {
			v.weak = append(v.weak, i)
		}
		if k == datasets.StrongView || k == datasets.AnyView {
			v.strong = append(v.strong, i)
		}
	}
	if len(v.weak) == 0 {
		v.weak = []int{0}
	}
	if len(v.strong) == 0 {
		v.strong, v.dropout = v.weak, true
	}
	return &Set{Source: v, Digest: digest, close: free}, nil
}

// standardise computes the mean of every feature over some examples, and the deviation
// of all. Features that do not vary are only centred.
func (v *vectors) standardise(ctx context.Context, list []int) error {
	byRow := slices.Clone(list) // as they lie in the file
	slices.SortFunc(byRow, func(a, b int) int { return v.Row(a) - v.Row(b) })
	origin := make([]float32, v.Dim) // near the mean, for accuracy
	var scratch []byte
	if err := v.read(byRow[0], 0, origin, &scratch); err != nil {
		return err
	}
	// Sums of blocks, so that they do not depend on who adds up which.
	const block = 4096
	blocks := make([]moments, (len(byRow)+block-1)/block)
	if err := dot.Each(len(blocks), 1, func(b, _ int) (err error) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		blocks[b], err = v.moments(byRow[b*block:min((b+1)*block, len(byRow))], origin)
		return err
	}); err != nil {
		return err
	}
	total := moments{make([]float64, v.Dim), 0}
	for _, m := range blocks {
		for j := range v.Dim {
			total.sum[j] += m.sum[j]
		}
		total.square += m.square
	}
	v.mean, v.scale = make([]float32, v.Dim), 1
	n, variance := float64(len(byRow)), total.square/float64(len(byRow))
	for j := range v.Dim {
		m := total.sum[j] / n
		v.mean[j] = float32(float64(origin[j]) + m)
		variance -= m * m
	}
	if variance /= float64(v.Dim); variance > 1e-20 {
		v.scale = float32(1 / math.Sqrt(variance))
	}
	return nil
}

// read reads a view as it is after normalisation.
func (v *vectors) read(i, view int, x []float32, scratch *[]byte) error {
	if err := v.Vectors.Read(i, view, x, scratch); err != nil {
		return err
	}
	if !v.InMemory() { // where they have been normalised
		scaler.Normalise(v.normal, x)
	}
	return nil
}

// shift sets dst to a vector, which may be dst itself, as it is standardised; vectors that are not
// standardised are copied.
func (v *vectors) shift(dst, x []float32) {
	x = x[:len(dst)]
	if v.mean == nil {
		copy(dst, x)
		return
	}
	standardiseRow(dst, x, v.mean[:len(dst)], v.scale)
}

// Scaler returns the scaler that Standardise fitted; nil for images.
func (x *Set) Scaler() *scaler.Scaler {
	v, ok := x.Source.(*vectors)
	if !ok {
		return nil
	}
	s := &scaler.Scaler{Normal: v.normal, Mean: v.mean, Scale: v.scale}
	if o, ok := v.Origin(); ok {
		s.Origin = &o
	}
	return s
}

// moments are sums over examples, of each feature's distance from an origin and of all
// squares of those.
type moments struct {
	sum    []float64
	square float64
}

func (v *vectors) moments(list []int, origin []float32) (moments, error) {
	m := moments{make([]float64, v.Dim), 0}
	x := make([]float32, v.Dim)
	var scratch []byte
	for _, i := range list {
		if err := v.read(i, 0, x, &scratch); err != nil {
			return m, err
		}
		for j, y := range x {
			d := float64(y - origin[j])
			m.sum[j] += d
			m.square += d * d
		}
	}
	return m, nil
}

func (v *vectors) Len() int { return v.Vectors.Len() }

func (v *vectors) Shape() []int { return []int{1, 1, v.Dim} }

func (v *vectors) DType() dtypes.DType { return dtypes.Float32 }

func (v *vectors) Check(w augment.View) error {
	switch w.Kind {
	case augment.PlainKind, augment.WeakKind, augment.StrongKind:
		return nil
	}
	return fmt.Errorf("view %q is made of pixels, and the examples are feature vectors", w.Name)
}

func (v *vectors) Reader() feed.Reader { return &vectorReader{v: v} }

// vectorReader reads the rows of one goroutine.
type vectorReader struct {
	v       *vectors
	example int
	scratch []byte
}

func (r *vectorReader) Read(i int) error {
	r.example = i
	return nil
}

func (r *vectorReader) View(w augment.View, dst []byte, rng *rand.Rand) error {
	v := r.v
	var list []int
	switch w.Kind {
	case augment.WeakKind:
		list = v.weak
	case augment.StrongKind:
		list = v.strong
	}
	view := 0
	if len(list) == 1 {
		view = list[0]
	} else if len(list) > 1 {
		view = list[rng.IntN(len(list))]
	}
	x := feed.Values(dtypes.Float32, dst).([]float32)
	from := v.Vectors.View(r.example, view)
	if from == nil {
		if err := v.read(r.example, view, x, &r.scratch); err != nil {
			return err
		}
		from = x
	}
	v.shift(x, from)
	if v.dropout && w.Kind == augment.StrongKind {
		dropOut(x, rng)
	}
	return nil
}
