package page

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/labels/review"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/seed"
)

// reviews finds probable label errors and near-duplicates by the data set's features. Both
// searches take seconds and run in the background.
type reviews struct {
	d    *datasets.Dataset
	stop context.CancelFunc
	ctx  context.Context
	open func() (*datasets.Vectors, error) // once

	mu         sync.Mutex // guards the fields below
	pairs      *finding[review.Pair]
	suspicious *finding[suspect]
}

// suspect is an example whose label is probably wrong.
type suspect struct {
	review.Suspect
	example int
	class   int // current label
}

// finding is a list that is computed in the background.
type finding[T any] struct {
	last    int64        // number of the last event included
	percent atomic.Int64 // how much is done; 0 if unknown
	done    chan struct{}
	list    []T
	err     error
}

// begin starts to compute a list.
func begin[T any](last int64, f func(progress func(share float64)) ([]T, error)) *finding[T] {
	x := &finding[T]{last: last, done: make(chan struct{})}
	go func() {
		defer close(x.done)
		x.list, x.err = f(func(share float64) { x.percent.Store(int64(100 * share)) })
	}()
	return x
}

// wait waits up to a second and reports whether the list is finished.
func (x *finding[T]) wait(ctx context.Context) bool {
	select {
	case <-x.done:
		return true
	case <-ctx.Done():
	case <-time.After(time.Second):
	}
	return false
}

func newReviews(d *datasets.Dataset) *reviews {
	f, ok := d.Features()
	if !ok {
		return nil
	}
	v := &reviews{d: d}
	v.ctx, v.stop = context.WithCancel(context.Background())
	v.open = sync.OnceValues(func() (*datasets.Vectors, error) { return f.OpenFew(v.ctx, "") })
	return v
}

// features reads the clean features of some examples.
func (v *reviews) features(examples []int) (head.Matrix, error) {
	x, err := v.open()
	if err != nil {
		return head.Matrix{}, err
	}
	m := head.Matrix{Rows: len(examples), Cols: x.Dim, Stride: x.Dim, Data: make([]float32, len(examples)*x.Dim)}
	var scratch []byte
	for k, i := range examples {
		if err := x.Read(i, 0, m.Data[k*x.Dim:(k+1)*x.Dim], &scratch); err != nil {
			return m, err
		}
	}
	return m, v.ctx.Err()
}

// duplicates starts the search for near-duplicates, or returns the one that was started. Features
// do not change while the server runs, so one search is enough.
func (v *reviews) duplicates() *finding[review.Pair] {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.pairs == nil {
		v.pairs = begin(0, func(progress func(float64)) ([]review.Pair, error) {
			if n := v.d.Len(); n > review.MaxRows {
				return nil, fmt.Errorf("there are %d images, and at most %d are compared with each other", n, review.MaxRows)
			}
			all := make([]int, v.d.Len())
			for i := range all {
				all[i] = i
			}
			m, err := v.features(all)
			if err != nil {
				return nil, err
			}
			return review.Duplicates(v.ctx, m, progress)
		})
	}
	return v.pairs
}

// fewLabels is the minimum number of labels for cross-validation.
const fewLabels = 10

// errFew is the error of a review with fewer labels.
var errFew = fmt.Errorf("there are too few labels: at least %d, and two of each of two classes, are needed to check one by the others", fewLabels)

// suspects starts a review of the labels, one class per example. It returns the existing review if
// the labels are the same, or if it has not finished.
func (v *reviews) suspects(last int64, current map[int]int, order []int, classes int) *finding[suspect] {
	v.mu.Lock()
	defer v.mu.Unlock()
	if x := v.suspicious; x != nil {
		select {
		case <-x.done:
			if x.last == last {
				return x
			}
		default:
			return x
		}
	}
	v.suspicious = begin(last, func(func(float64)) ([]suspect, error) {
		counts := make([]int, classes)
		for _, c := range current {
			counts[c]++
		}
		var rows, own []int
		known := make(map[int]bool)
		for _, i := range order {
			if c := current[i]; counts[c] > 1 { // a class with one label cannot be cross-validated
				rows, own = append(rows, i), append(own, c)
				known[c] = true
			}
		}
		if len(rows) < fewLabels || len(known) < 2 {
			return nil, errFew
		}
		m, err := v.features(rows)
		if err != nil {
			return nil, err
		}
		groups, err := v.groups(rows, m)
		if err != nil {
			return nil, err
		}
		p, err := review.OutOfSample(m, own, classes, groups, rand.New(seed.New(1, "review of labels")))
		if err != nil {
			return nil, err
		}
		ranked, err := review.Suspicious(p, own, classes)
		var list []suspect
		for _, s := range ranked {
			if s.Likely {
				list = append(list, suspect{s, rows[s.Row], own[s.Row]})
			}
		}
		return list, err
	})
	return v.suspicious
}

// groups joins near-duplicates and the images of a declared group.
func (v *reviews) groups(examples []int, m head.Matrix) (groups []int, err error) {
	if v.d.Groups != nil {
		for _, i := range examples {
			groups = append(groups, v.d.Groups[i])
		}
	}
	if m.Rows > review.MaxRows { // too many to compare
		return groups, nil
	}
	return review.Groups(v.ctx, m, groups, nil)
}

// reviewReply is a list of images to check again.
type reviewReply struct {
	// Why is the reason why there is no list, empty if there is one; Working is true while it is
	// computed, and Percent the share done, if it is known.
	Why     string       `json:"why,omitempty"`
	Working bool         `json:"working,omitempty"`
	Percent int64        `json:"percent,omitempty"`
	Items   []reviewItem `json:"items"`
}

// reviewItem is a probable label error, or an image beside an earlier one of the same group or
// nearly equal.
type reviewItem struct {
	reviewImage
	// Suggested is the suggested class. It is followed by its probability and the probability of
	// the current class.
	Suggested   string       `json:"suggested,omitempty"`
	Probability float64      `json:"probability,omitempty"`
	Own         float64      `json:"own,omitempty"`
	First       *reviewImage `json:"first,omitempty"`
}

type reviewImage struct {
	ID      string `json:"id"`
	Domain  string `json:"domain"`
	File    string `json:"file"`
	Rev     string `json:"rev"`
	Class   string `json:"class"`
	Current string `json:"current"`
}

// noFeatures says that a review needs features.
const noFeatures = "This list needs features that have not seen the labels, and there are images alone: ledg embed writes features, and the page of a run on them has the list."

// review serves GET review: probable label errors, near-duplicates, or groups with different
// labels.
func (s *Server) review(r *http.Request) (any, error) {
	kind := r.URL.Query().Get("kind")
	if kind != "suspicious" && kind != "duplicates" && kind != "groups" {
		return nil, refuse(http.StatusBadRequest, "kind: want suspicious, duplicates or groups")
	}
	reply := reviewReply{Items: []reviewItem{}}
	switch {
	case s.o.Blind:
		reply.Why = "Labels are given blind here, without seeing those of others, and are not compared."
	case kind == "groups" && s.groups == nil:
		reply.Why = "There are no groups: --group or a column of labels says which images belong together."
	case kind != "groups" && s.reviews == nil:
		reply.Why = noFeatures
	}
	if reply.Why != "" {
		return reply, nil
	}
	if err := s.o.Ledger.Refresh(); err != nil {
		return nil, err
	}
	var found bool
	var err error
	switch kind {
	case "groups":
		s.mixed(&reply)
		found = true
	case "suspicious":
		found, err = s.suspicious(r.Context(), &reply)
	default:
		found, err = s.duplicates(r.Context(), &reply)
	}
	reply.Working = !found
	if err != nil {
		reply.Why = err.Error()
	}
	return reply, nil
}

// reviewImage is an image of the review with its current state.
func (s *Server) reviewImage(st *labels.State, example int) (reviewImage, labels.Image) {
	id := s.o.Data.Examples[example].ID
	im := st.Image(id)
	return reviewImage{id, s.domainOf(id), text(path.Base(id)), rev(im), im.Class, statusText(im)}, im
}

// suspicious lists probable label errors that are not settled.
func (s *Server) suspicious(ctx context.Context, reply *reviewReply) (bool, error) {
	var last int64
	var order []int
	current := make(map[int]int)
	s.o.Ledger.View(func(st *labels.State) {
		last = st.Last()
		for im := range st.Images() {
			i, ok := s.o.Data.Index(im.ID)
			c, known := s.class[im.Class]
			if ok && known && im.Status == labels.IsLabelled {
				current[i] = c
				order = append(order, i)
			}
		}
	})
	x := s.reviews.suspects(last, current, order, len(s.o.Classes))
	if !x.wait(ctx) {
		return false, nil
	}
	s.o.Ledger.View(func(st *labels.State) {
		for _, v := range x.list {
			item, im := s.reviewImage(st, v.example)
			e, _ := st.Event(im.N)
			if im.Status == labels.IsLabelled && im.Class == s.o.Classes[v.class] && e.Kind != labels.Corrected {
				reply.Items = append(reply.Items, reviewItem{reviewImage: item, Suggested: s.o.Classes[v.Class], Probability: v.Other, Own: v.Own})
			}
		}
	})
	return true, x.err
}

// duplicates lists near-duplicates, unless one of them was removed or their labels are equal.
func (s *Server) duplicates(ctx context.Context, reply *reviewReply) (bool, error) {
	x := s.reviews.duplicates()
	if !x.wait(ctx) {
		reply.Percent = x.percent.Load()
		return false, nil
	}
	s.o.Ledger.View(func(st *labels.State) {
		for _, p := range x.list {
			a, first := s.reviewImage(st, p.A)
			b, second := s.reviewImage(st, p.B)
			if first.Class == "" && second.Class != "" {
				a, b, first, second = b, a, second, first
			}
			if gone(first) || gone(second) || first.Class != "" && first.Class == second.Class {
				continue
			}
			if reply.Items = append(reply.Items, reviewItem{reviewImage: b, First: &a, Probability: 1 - p.Distance}); len(reply.Items) == maxItems {
				return
			}
		}
	})
	if errors.Is(x.err, context.Canceled) {
		return true, nil
	}
	return true, x.err
}

// gone reports whether an image has left the pool.
func gone(im labels.Image) bool { return im.Status == labels.IsBad || im.Status == labels.IsNone }
