package evaluate_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/evaluate"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

// predicted are the classes that the fake networks of these tests predict, by example.
var predicted = []int32{0, 1, 1, 0, 1, 0, 1, 1}

// evaluator has two sources and the target c. The first source and the target each have an image
// of unknown class.
func evaluator(target int) evaluate.Evaluator {
	examples := []datasets.Example{
		{Domain: 0, Split: datasets.Val},   // right
		{Domain: 0, Split: datasets.Val},   // unknown
		{Domain: 0, Split: datasets.Train}, // never evaluated
		{Domain: 1, Split: datasets.Val},   // wrong
		{Domain: 1, Split: datasets.Val},   // right
		{Domain: 2, Split: datasets.Train}, // right: all of the target counts
		{Domain: 2, Split: datasets.Val},   // wrong
		{Domain: 2, Split: datasets.Train}, // unknown
	}
	truth := []int{0, datasets.Unknown, 1, 1, 1, 0, 0, datasets.Unknown}
	d, t := datasets.Recorded("fake", []string{"a", "b", "c"}, []string{"cat", "dog"}, examples, truth)
	return evaluate.Evaluator{Data: d, Truth: t, Target: target}
}

// each answers in batches of two, and records what it was asked.
func each(seen *[]int) evaluate.Each {
	return func(ctx context.Context, examples []int, fn func(n int, logits []float32)) error {
		*seen = append(*seen, examples...)
		for batch := range slices.Chunk(examples, 2) {
			var logits []float32
			for _, i := range batch {
				logits = append(logits, []float32{float32(1 - predicted[i]), float32(predicted[i])}...)
			}
			fn(len(batch), logits)
		}
		return nil
	}
}

func TestAccuracies(t *testing.T) {
	var seen []int
	list := fatal.Get(evaluator(2).Accuracies(t.Context(), each(&seen), true))(t)
	if want := []int{0, 3, 4, 5, 6}; !slices.Equal(seen, want) {
		t.Errorf("the networks saw the examples %v, want those of known classes alone, %v", seen, want)
	}
	want := []struct {
		domain, split string
		tally         result.Tally
	}{
		{"a", result.ValSplit, result.Tally{Correct: 1, Total: 1, Unknown: 1}},
		{"b", result.ValSplit, result.Tally{Correct: 1, Total: 2}},
		{"c", result.TestSplit, result.Tally{Correct: 1, Total: 2, Unknown: 1}},
	}
	if len(list) != len(want) {
		t.Fatalf("%d accuracies, want %d", len(list), len(want))
	}
	for i, w := range want {
		a := list[i]
		if a.Domain != w.domain {
			t.Errorf("accuracy %d is of %s, want %s", i, a.Domain, w.domain)
		}
		if a.Split != w.split {
			t.Errorf("%s is of the split %s, want %s", a.Domain, a.Split, w.split)
		}
		if a.Tally != w.tally {
			t.Errorf("%s has %+v, want %+v", a.Domain, a.Tally, w.tally)
		}
		if hasConfusion := a.Confusion != nil; hasConfusion != (w.domain == "c") {
			t.Errorf("%s: confusion %v; only the target has one", a.Domain, a.Confusion)
		}
	}
	if want := (result.Confusion{{1, 1}, {0, 0}}); !reflect.DeepEqual(list[2].Confusion, want) {
		t.Errorf("the target's confusion is %v, want %v", list[2].Confusion, want)
	}
}

func TestAccuraciesBeforeTheEnd(t *testing.T) {
	var seen []int
	list := fatal.Get(evaluator(2).Accuracies(t.Context(), each(&seen), false))(t)
	for _, a := range list {
		if a.Confusion != nil {
			t.Errorf("%s has a confusion before the end", a.Domain)
		}
	}
}

func TestAccuraciesWithoutTarget(t *testing.T) {
	var seen []int
	v := evaluator(-1)
	list := fatal.Get(v.Accuracies(t.Context(), each(&seen), true))(t)
	for _, a := range list {
		if a.Split != result.ValSplit {
			t.Errorf("%s is measured on the split %s, want %s", a.Domain, a.Split, result.ValSplit)
		}
	}
	if v.KnowsTarget() {
		t.Error("a target is known where there is none")
	}
	if !evaluator(2).KnowsTarget() {
		t.Error("the target's classes are not known")
	}
}

func TestValidation(t *testing.T) {
	var seen []int
	v := evaluator(2)
	sum := fatal.Get(v.Validation(t.Context(), each(&seen)))(t)
	if want := []int{0, 3, 4}; !slices.Equal(seen, want) {
		t.Errorf("the networks saw the examples %v, want %v", seen, want)
	}
	if want := (result.Tally{Correct: 2, Total: 3}); sum != want {
		t.Errorf("validation gives %+v, want %+v", sum, want)
	}
	if n := v.ValLabels(); n != 3 {
		t.Errorf("%d labels of validation splits, want 3", n)
	}
}

// An error of the networks ends the evaluation.
func TestErrorOfTheNetworks(t *testing.T) {
	broken := errors.New("the device is gone")
	fail := func(context.Context, []int, func(int, []float32)) error { return broken }
	if _, err := evaluator(2).Accuracies(t.Context(), fail, true); !errors.Is(err, broken) {
		t.Errorf("Accuracies: %v", err)
	}
	if _, err := evaluator(2).Validation(t.Context(), fail); !errors.Is(err, broken) {
		t.Errorf("Validation: %v", err)
	}
}

func TestPseudoLabels(t *testing.T) {
	var sum result.PseudoLabel
	v := evaluator(2)
	v.PseudoLabels(&sum, []int{0, 1, 3}, []int32{0, 1, 0}, []bool{true, true, true})
	v.PseudoLabels(&sum, []int{4, 2}, []int32{1, 0}, []bool{true, false})
	if want := (result.PseudoLabel{Correct: 2, Accepted: 4, Total: 5, Unknown: 1}); sum != want {
		t.Errorf("pseudo-labels are %+v, want %+v", sum, want)
	}
	if got, want := v.Reliable([]int{0, 1, 3}, []int{0, 1, 0}), (result.Tally{Correct: 1, Total: 2, Unknown: 1}); got != want {
		t.Errorf("the reliable set is %+v, want %+v", got, want)
	}
}

func TestArgMax(t *testing.T) {
	for want, v := range [][]float32{{2, 1, 2}, {-3, -1, -1}, {0, 1, 5}} {
		if got := evaluate.ArgMax(v); got != want {
			t.Errorf("the largest of %v is number %d, want %d, the first of equals", v, got, want)
		}
	}
}
