package upload_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/learner/feed"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/learner/upload"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/datasets/rgb"
	"github.com/ledg-go/ledg/internal/fatal"
)

const size, count = 16, 48

var errUnreadable = errors.New("the image cannot be read")

// pictures are images that are computed; one may be unreadable.
type pictures struct{ bad int }

func (pictures) Size() int { return size }
func (pictures) Len() int  { return count }
func (p pictures) Read(i int, to *rgb.Image) error {
	if i == p.bad {
		return errUnreadable
	}
	for j := range to.Pix {
		to.Pix[j] = uint8(7*i + j)
	}
	return nil
}

// source uploads pictures for FixMatch with two source domains and three classes, six images
// in a step.
func source(t *testing.T, bad int) (upload.Source, feed.Subsets) {
	t.Helper()
	c := configtest.New(t, "glyphs", "photo", "fixmatch", config.Authors, "data.image_size", size, "network.width", 4, "schedule.per_domain", 3)
	o := fatal.Get(model.LearnerOptions(c, 3, 2, 0))(t)
	l := fatal.Get(learner.New(enginetest.Open(t), o, 1))(t)
	t.Cleanup(l.Close)
	pixels := feed.Pixels(pictures{bad})
	loader := fatal.Get(feed.New(pixels, feed.Config{Seed: 1, Domains: []string{"a", "b"}, Batch: 3, Workers: 2}))(t)
	var s feed.Subsets
	for i := range count {
		to := &s.Unlabelled
		if i%4 == 0 {
			to = &s.Labelled
			to.Label = append(to.Label, i%3)
		}
		to.Example, to.Domain = append(to.Example, i), append(to.Domain, i/4%2)
	}
	s.Labelled.Views, s.Unlabelled.Views = o.Objective.Views(objective.Labelled), o.Objective.Views(objective.Unlabelled)
	return upload.Source{Loader: loader, Examples: pixels, Learner: l, Objective: o.Objective, Seed: 1}, s
}

// Batches come in order, with the unlabelled examples of each, until io.EOF, and a step can
// be taken on every one.
func TestEpoch(t *testing.T) {
	from, subsets := source(t, -1)
	e := fatal.Get(from.Epoch(t.Context(), 0, subsets))(t)
	defer e.Close()
	if want := (count - count/4) / 6; e.Len() != want {
		t.Errorf("%d batches, want %d: one pass over the unlabelled images", e.Len(), want)
	}
	var seen []int
	for i := range e.Len() {
		b := fatal.Get(e.Next())(t)
		if b.Iteration != i {
			t.Errorf("batch %d is iteration %d", i, b.Iteration)
		}
		seen = append(seen, b.Unlabelled...)
		out := fatal.Get(from.Learner.StepOn(b.Inputs, learner.Now{Rates: learner.Rates{Backbone: 0.1, ClassHead: 0.1, DomainHead: 0.1}}))(t)
		if labels, _, err := out.PseudoLabels(); err != nil || len(labels) != len(b.Unlabelled) {
			t.Errorf("batch %d: %d pseudo-labels of %d images, %v", i, len(labels), len(b.Unlabelled), err)
		}
		b.Free()
	}
	if _, err := e.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("after the last batch: %v, want io.EOF", err)
	}
	slices.Sort(seen)
	if want := slices.Sorted(slices.Values(subsets.Unlabelled.Example)); !slices.Equal(seen, want) {
		t.Errorf("the epoch has the unlabelled examples %v, want each once", seen)
	}
}

// Equal seeds give equal steps, and epochs differ.
func TestSameStepsAgain(t *testing.T) {
	losses := func(number int) (list []float64) {
		from, subsets := source(t, -1)
		e := fatal.Get(from.Epoch(t.Context(), number, subsets))(t)
		defer e.Close()
		for range e.Len() {
			b := fatal.Get(e.Next())(t)
			out, err := from.Learner.StepOn(b.Inputs, learner.Now{Rates: learner.Rates{Backbone: 0.1, ClassHead: 0.1, DomainHead: 0.1}})
			b.Free()
			if err != nil {
				t.Fatal(err)
			}
			terms := fatal.Get(out.Terms())(t)
			list = append(list, out.Loss(terms))
		}
		return list
	}
	first := losses(0)
	if again := losses(0); !slices.Equal(first, again) {
		t.Errorf("the losses are %v, and again %v", first, again)
	}
	if next := losses(1); slices.Equal(first, next) {
		t.Errorf("another epoch has the same losses, %v", first)
	}
}

// Whoever stops in the middle leaves nothing that hinders the next epoch.
func TestCloseInTheMiddle(t *testing.T) {
	from, subsets := source(t, -1)
	for number := range 3 {
		e := fatal.Get(from.Epoch(t.Context(), number, subsets))(t)
		b := fatal.Get(e.Next())(t)
		b.Free()
		e.Close()
		if _, err := e.Next(); !errors.Is(err, context.Canceled) {
			t.Errorf("after Close: %v, want context.Canceled", err)
		}
	}
}

func TestCancelled(t *testing.T) {
	from, subsets := source(t, -1)
	ctx, stop := context.WithCancelCause(t.Context())
	e, err := from.Epoch(ctx, 0, subsets)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	enough := errors.New("enough")
	stop(enough)
	for range e.Len() + 1 { // what was ready may still come
		var b upload.Batch
		if b, err = e.Next(); err != nil {
			break
		}
		b.Free()
	}
	if !errors.Is(err, enough) {
		t.Errorf("got %v, want the cause of the cancellation", err)
	}
}

// An image that cannot be read ends the epoch with its error, in its place.
func TestUnreadable(t *testing.T) {
	from, subsets := source(t, 1)
	e, err := from.Epoch(t.Context(), 0, subsets)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for range e.Len() {
		var b upload.Batch
		if b, err = e.Next(); err != nil {
			break
		}
		b.Free()
	}
	if !errors.Is(err, errUnreadable) {
		t.Errorf("got %v, want the error of the image", err)
	}
}
