package poolfile

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/seed"
)

// Rows of other splits than train are not queried, and the others as from a file without those.
func TestSplits(t *testing.T) {
	_, entries := golden(t)
	rows := 200
	splits, list := make([]int64, rows), []int{}
	for i := range splits {
		if splits[i] = int64(i % 5 % 3); splits[i] == 0 {
			list = append(list, i)
		}
	}
	with := writePool(t, "stored", append(slices.Clone(entries), entry{"splits", []int{rows}, splits}))
	if s, err := ShapeOf(with); err != nil || s.HeldOut != rows-len(list) {
		t.Errorf("%+v, %v", s, err)
	}
	entropy := active.Probability{Measure: active.MaxEntropy}
	for _, strategy := range []active.Strategy{active.CEG{Weights: active.Gammas(1, 1)}, entropy, active.CoreSet{}, active.Uniform{}} {
		all := fatal.Get(Query(t.Context(), with, strategy, len(list), 0, seed.New(1, "query")))(t)
		var got []int
		for _, p := range all {
			got = append(got, p.Index)
		}
		if slices.Sort(got); !slices.Equal(got, list) {
			t.Errorf("%s queries rows %v, want %v", strategy.Name(), got, list)
		}
		if _, err := Query(t.Context(), with, strategy, len(list)+1, 0, seed.New(1, "query")); err == nil {
			t.Errorf("%s queries more rows than are trained on", strategy.Name())
		}
	}
	whole := fatal.Get(Query(t.Context(), writePool(t, "stored", entries), entropy, rows, 0, nil))(t)
	some := fatal.Get(Query(t.Context(), with, entropy, len(list), 0, nil))(t)
	whole = slices.DeleteFunc(whole, func(p active.Pick) bool { return splits[p.Index] != 0 })
	if !slices.EqualFunc(whole, some, func(a, b active.Pick) bool { return a.Index == b.Index && a.ID == b.ID }) {
		t.Errorf("%v, want the order of %v", some, whole)
	}
}

// Arrays of samples that differ in length are refused, also those that a strategy does not read.
func TestLengths(t *testing.T) {
	_, entries := golden(t)
	for _, c := range []struct {
		extra entry
		want  string
	}{
		{entry{"domains", []int{199}, make([]int64, 199)}, "domains: 199 elements, but features has 200 rows"},
		{entry{"ids", []int{201}, make([]int64, 201)}, "ids: 201 elements, but features has 200 rows"},
		{entry{"class_probs", []int{3, 2}, make([]float32, 6)}, "class_probs: 3 rows, but features has 200 rows"},
		{entry{"labelled_groups", []int{1}, make([]int64, 1)}, "labelled_groups: 1 elements, but labelled_features has"},
	} {
		others := slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return e.name == c.extra.name })
		path := writePool(t, "stored", append(others, c.extra))
		_, query := Query(t.Context(), path, active.Uniform{}, 3, 0, seed.New(1, "query"))
		_, probe := Probe(t.Context(), path, ProbeOptions{Head: "logistic"}, seed.New(1, "probe"))
		for _, err := range []error{query, probe} {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.extra.name, err, c.want)
			}
		}
	}
}

// A strategy that looks at some rows alone chooses what it chooses of a file of them.
func TestQuerySome(t *testing.T) {
	_, entries := golden(t)
	pool := writePool(t, "deflated", entries)
	names := make([]string, 200)
	for i := range names {
		names[i] = fmt.Sprint(i)
	}
	keep := active.Ties{IDs: names}.Some(60)
	some := slices.Clone(entries)
	for k, e := range some {
		if e.shape[0] != 200 {
			continue
		}
		cols := 1
		if len(e.shape) > 1 {
			cols = e.shape[1]
		}
		shape := slices.Clone(e.shape)
		shape[0] = len(keep)
		switch v := e.values.(type) {
		case []float32:
			var taken []float32
			for _, i := range keep {
				taken = append(taken, v[i*cols:(i+1)*cols]...)
			}
			some[k] = entry{e.name, shape, taken}
		case []int64:
			some[k] = entry{e.name, shape, take(v, keep)}
		}
	}
	small := writePool(t, "safetensors", some)
	for _, strategy := range []active.Strategy{active.BADGE{}, active.CoreSet{}, active.Divided{Strategy: active.CoreSet{}, Division: active.ByShare}} {
		got := fatal.Get(Query(t.Context(), pool, strategy, 20, 60, seed.New(1, "query")))(t)
		want := query(t, small, strategy, 20)
		for i := range want {
			if got[i].Index != keep[want[i].Index] || got[i].ID != fmt.Sprint(got[i].Index) || got[i].Score != want[i].Score {
				t.Fatalf("%s: pick %d is %+v, want row %d of the kept %+v", strategy.Name(), i, got[i], want[i].Index, want[i])
			}
		}
		all, err := Query(t.Context(), pool, strategy, 20, 200, seed.New(1, "query"))
		if err != nil || !reflect.DeepEqual(all, query(t, pool, strategy, 20)) {
			t.Errorf("%s of at most all rows: %v", strategy.Name(), err)
		}
	}
	if _, err := Query(t.Context(), pool, active.BADGE{}, 20, 19, seed.New(1, "query")); err == nil {
		t.Error("20 of 19 rows are chosen")
	}
}
