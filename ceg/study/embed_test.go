package study

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/study/studytest"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

// fakeEmbedding has the images that studytest.Queries asks for, and others: two
// features that are the class and the round, and probabilities that fall with the
// number of the image.
func fakeEmbedding() *run.Embedding {
	e := &run.Embedding{ClassNames: []string{"one", "two"}, DomainNames: []string{"source"}}
	for _, m := range []*active.Matrix{&e.Features, &e.ClassProbs, &e.DomainProbs} {
		*m = active.Matrix{Cols: 2, Stride: 2}
	}
	e.DomainProbs.Cols, e.DomainProbs.Stride = 1, 1
	add := func(id string, round float32) {
		n := len(e.IDs)
		e.IDs, e.Classes, e.Domains = append(e.IDs, id), append(e.Classes, n%2), append(e.Domains, 0)
		p := 1 - float32(n)/100
		e.Features.Data = append(e.Features.Data, 1+float32(n%2), round+float32(n)/1000)
		e.ClassProbs.Data = append(e.ClassProbs.Data, p, 1-p)
		e.DomainProbs.Data = append(e.DomainProbs.Data, 1)
	}
	for round := range 2 {
		for _, q := range studytest.Queries(round) {
			add(q.ID, float32(round))
		}
	}
	for i := range 20 {
		add(fmt.Sprintf("other/%d", i), 2)
	}
	for _, m := range []*active.Matrix{&e.Features, &e.ClassProbs, &e.DomainProbs} {
		m.Rows = len(e.IDs)
	}
	return e
}

// The first ten images are labelled before the last round, the next ten are what
// it asks for, the other twenty what it leaves.
func TestScoreCandidates(t *testing.T) {
	e := fakeEmbedding()
	list := fatal.Get(scoreCandidates(e, config.Exploration{}, studytest.Queries(0)))(t)
	if len(list) != 30 {
		t.Fatalf("%d candidates", len(list))
	}
	// Image 10 has 0.9 and 0.1: its uncertainty is 1 - 0.8.
	for i, want := range []float64{0.2, 0.22} {
		if d := list[i].Su - want; d > 1e-6 || d < -1e-6 {
			t.Errorf("uncertainty %d is %v, want %v", i, list[i].Su, want)
		}
	}
	for i, q := range studytest.Queries(1) {
		if list[i].ID != q.ID {
			t.Errorf("candidate %d is %s, want %s", i, list[i].ID, q.ID)
		}
	}
	strange := studytest.Queries(0)
	strange[3].ID = "elsewhere"
	fatal.Says(t, fatal.Err(scoreCandidates(e, config.Exploration{}, strange)), "elsewhere was queried, but is not in the pool")
}

// A map of many images is one of a sample, in which every cell has its share.
func TestMapSample(t *testing.T) {
	e := &run.Embedding{}
	for i := range 1000 {
		e.IDs = append(e.IDs, fmt.Sprint(i))
		e.Domains, e.Classes = append(e.Domains, i%10/8), append(e.Classes, i%2) // 400, 400, 100, 100
	}
	if all := mapSample(e, 1000, 1); len(all) != 1000 || all[999] != 999 {
		t.Errorf("%d rows of 1000 are taken, want all", len(all))
	}
	rows := mapSample(e, 100, 1)
	count := map[[2]int]int{}
	for k, i := range rows {
		if k > 0 && i <= rows[k-1] {
			t.Fatalf("rows %v are not ascending", rows)
		}
		count[[2]int{e.Domains[i], e.Classes[i]}]++
	}
	if count[[2]int{0, 0}] != 40 || count[[2]int{0, 1}] != 40 || count[[2]int{1, 0}] != 10 || count[[2]int{1, 1}] != 10 {
		t.Errorf("the sample has %v, want 40, 40, 10 and 10", count)
	}
	if slices.Equal(rows, mapSample(e, 100, 2)) || !slices.Equal(rows, mapSample(e, 100, 1)) {
		t.Error("the sample is not a function of the seed")
	}
}

// Images that nobody has labelled are on the map, too, and a label counts as it was
// answered, whatever is known.
func TestUnknownClasses(t *testing.T) {
	e := fakeEmbedding()
	queries := studytest.Queries(0)
	rows := fatal.Get(result.Rows(e.IDs, queries))(t)
	for i := range e.Classes {
		e.Classes[i] = datasets.Unknown
	}
	if got := className(e, 0); got != "unlabelled" {
		t.Errorf("class %q", got)
	}
	c, err := Candidates(e, queries)
	if err != nil || len(c.LabelledClasses) != len(rows) || e.ClassNames[c.LabelledClasses[0]] != queries[0].Class {
		t.Errorf("%v, labelled %v", err, c.LabelledClasses)
	}
	for at, i := range rows {
		got, want := c.LabelledClassProbs.Data[at*c.LabelledClassProbs.Stride], e.ClassProbs.Data[i*e.ClassProbs.Stride]
		if got != want {
			t.Errorf("%s, labelled, has the probability %v of its first class, want %v", e.IDs[i], got, want)
		}
	}
	queries[0].Class = "cow"
	fatal.Says(t, fatal.Err(Candidates(e, queries)), `"cow"`)
}
