package artifact_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/artifact"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

func write(t *testing.T, k *artifact.Artifact) string {
	t.Helper()
	dir := t.TempDir()
	f := fatal.Get(os.Create(filepath.Join(dir, artifact.File)))(t)
	defer f.Close()
	fatal.If(t, k.Write(f))
	return dir
}

func TestWrittenIsRead(t *testing.T) {
	want := &artifact.Artifact{Domains: []string{"day", "night"}, Classes: []string{"cat", "dog", "cow"}, Dim: 2, Features: []float32{1, 2, 3, 4},
		Measured: []datasets.Example{{ID: "day/1", Split: datasets.Val}, {ID: "night/2", Domain: 1}}, Class: []int{0, 2},
		Logits:   []float32{1, 0, 0, 0, 5, 0},
		Estimate: &audit.Estimate{Labels: 2, Seen: result.Tally{Correct: 1, Total: 2}},
		Crossed:  artifact.NewCrossed([]int{2, 0}, 3)}
	want.Crossed.Add(1, []float32{3, 2, 1})
	want.Crossed.Add(1, []float32{4, 5, 6})
	if folds, leftOut := want.Crossed.Labelled(); len(folds.Class) != 1 || folds.Class[0] != 0 || folds.Logits[0][0] != 3 || leftOut.Logits[0][2] != 6 {
		t.Errorf("folds %+v, left out %+v", folds, leftOut)
	}
	want.Crossed.Add(0, []float32{1, 2, 3})
	copy(want.Crossed.LeftOut, []float32{1, 2, 3}) // NaN equals nothing
	want.CountPrediction(datasets.Example{ID: "night/3", Domain: 1}, []float32{0, 1, 0})
	got, err := artifact.Read(write(t, want))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\n%+v, want\n%+v", err, got, want)
	}
	d, truth := got.Dataset("folder")
	if d.Domains[d.Examples[1].Domain] != "night" || truth.Class(1) != 2 || truth.Known() != 2 {
		t.Errorf("%+v, %+v", d, truth)
	}
	fatal.Says(t, fatal.Err(d.Image(0)), "day/1: the image is not there")
	few := &artifact.Artifact{Domains: []string{"day"}, Classes: []string{"cat", "dog"}, Dim: 1, Features: []float32{1}}
	if got, err = artifact.Read(write(t, few)); err != nil || !reflect.DeepEqual(got, few) {
		t.Errorf("%v\n%+v, want\n%+v", err, got, few)
	}
	if none, err := artifact.Read(t.TempDir()); none != nil || err != nil {
		t.Errorf("%v, %v of a run without", none, err)
	}
}

func TestWhatDoesNotFit(t *testing.T) {
	for want, k := range map[string]*artifact.Artifact{
		"class: 3, want 0 to 2":                                       {Domains: []string{"day"}, Classes: []string{"cat", "dog", "cow"}, Measured: make([]datasets.Example, 1), Class: []int{3}, Logits: make([]float32, 3)},
		"domain: 1, want 0 to 0":                                      {Domains: []string{"day"}, Classes: []string{"cat"}, Measured: []datasets.Example{{Domain: 1}}, Class: []int{0}, Logits: make([]float32, 1)},
		"1 rows for 1 images and 6 logits of 3 classes":               {Domains: []string{"day"}, Classes: []string{"cat", "dog", "cow"}, Measured: make([]datasets.Example, 1), Class: []int{0}, Logits: make([]float32, 6)},
		"crossed_class: 3, want 0 to 2":                               {Domains: []string{"day"}, Classes: []string{"cat", "dog", "cow"}, Crossed: artifact.NewCrossed([]int{3}, 3)},
		"crossed_folds has 6 logits of 3 classes, want 1 images of 3": {Domains: []string{"day"}, Classes: []string{"cat", "dog", "cow"}, Crossed: &artifact.Crossed{Class: []int{1}, Folds: make([]float32, 6), LeftOut: make([]float32, 3)}},
		"counts of 2 domains of 1":                                    {Domains: []string{"day"}, Classes: []string{"cat"}, Seen: [][]int{{1}, {2}}},
		`"x" is of domain 1 and class 0`:                              {Domains: []string{"day"}, Classes: []string{"cat"}, Unsure: []artifact.Seen{{ID: "x", Domain: 1}}},
	} {
		k.Dim, k.Features = 1, []float32{1}
		fatal.Says(t, fatal.Err(artifact.Read(write(t, k))), want)
	}
}

// Of each domain the least sure are kept, these first.
func TestLeastSure(t *testing.T) {
	k := &artifact.Artifact{Domains: []string{"day", "night"}, Classes: []string{"cat", "dog"}}
	for i := range 40 { // 20 of each domain; the logits' difference is 20 to 1
		e := datasets.Example{ID: fmt.Sprint(i), Domain: i % 2}
		k.CountPrediction(e, []float32{0, float32(20-i/2) / 10})
	}
	k.CountPrediction(datasets.Example{ID: "wild", Domain: 0}, []float32{float32(math.NaN()), 0})
	if len(k.Unsure) != 24 || k.Unsure[0].ID != "wild" || k.Unsure[0].Probability != 0 {
		t.Fatalf("%d, the first is %+v", len(k.Unsure), k.Unsure[0])
	}
	for i, u := range k.Unsure[1:] {
		if i > 0 && u.Probability < k.Unsure[i].Probability {
			t.Errorf("%v comes after %v", u, k.Unsure[i])
		}
		if u.Class != 1 || u.Probability > 1/(1+math.Exp(-1.2))+1e-6 {
			t.Errorf("%+v is not among the least sure", u)
		}
	}
	if fmt.Sprint(k.Seen) != "[[1 20] [0 20]]" {
		t.Errorf("counts %v", k.Seen)
	}
}
