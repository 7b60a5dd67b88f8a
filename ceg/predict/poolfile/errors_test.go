package poolfile

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/datasets/seed"
)

func TestErrors(t *testing.T) {
	_, entries := golden(t)
	nan := math.NaN()
	// with replaces or adds an array.
	with := func(name string, shape []int, values any) []entry {
		out := slices.Clone(entries)
		for i, e := range out {
			if e.name == name {
				out[i] = entry{name, shape, values}
				return out
			}
		}
		return append(out, entry{name, shape, values})
	}
	// poke sets one value.
	poke := func(entries []entry, name string, at int, v float64) []entry {
		out := slices.Clone(entries)
		for i, e := range out {
			if e.name != name {
				continue
			}
			switch values := e.values.(type) {
			case []float32:
				values = slices.Clone(values)
				values[at] = float32(v)
				out[i].values = values
			case []int64:
				values = slices.Clone(values)
				values[at] = int64(v)
				out[i].values = values
			}
		}
		return out
	}
	probs := probabilities(entries)
	ceg := active.CEG{Weights: active.Gammas(1, 1)}
	badge, coreset := active.BADGE{}, active.CoreSet{}
	entropy := active.Probability{Measure: active.MaxEntropy}
	for _, s := range []struct {
		name     string
		entries  []entry
		strategy active.Strategy
		n        int
		want     string
	}{
		{"n above", entries, ceg, 201, "201 samples queried from a pool of 200"},
		{"n above", entries, active.Uniform{}, 201, "201 samples queried from a pool of 200"},
		{"n above", entries, entropy, 201, "201 samples queried from a pool of 200"},
		{"n zero", entries, badge, 0, "0 samples queried from a pool of 200"},
		{"no rows", []entry{{"features", []int{0, 4}, []float32{}}}, active.KMeans{}, 1, "1 samples queried from a pool of 0"},
		{"nan feature", poke(entries, "features", 16*137+3, nan), ceg, 5, "features: row 137: feature 3 is NaN"},
		{"inf feature", poke(entries, "features", 16*137+3, math.Inf(-1)), badge, 5, "features: row 137: column 3 is -Inf"},
		{"nan class", poke(entries, "class_logits", 7*9+1, nan), ceg, 5, "class_logits: row 9: column 1 is NaN"},
		{"nan class", poke(entries, "class_logits", 7*9+1, nan), badge, 5, "class_logits: row 9: column 1 is NaN"},
		{"inf domain", poke(entries, "domain_logits", 3*9+1, math.Inf(1)), ceg, 5, "domain_logits: row 9: column 1 is +Inf"},
		{"nan labelled", poke(entries, "labelled_features", 16*3+1, nan), ceg, 5, "labelled_features: row 3: feature 1 is NaN"},
		{"nan labelled", poke(entries, "labelled_features", 16*3+1, nan), coreset, 5, "labelled_features: row 3: column 1 is NaN"},
		{"negative label", poke(entries, "labelled_labels", 8, -1), ceg, 5, "labelled_labels: row 8: -1, want 0 to 6, the columns of class_logits"},
		{"label", poke(entries, "labelled_labels", 8, 7), active.BatchCEG{CEG: ceg}, 5, "labelled_labels: row 8: 7, want 0 to 6"},
		{"domain", poke(probs, "labelled_domains", 0, 3), ceg, 5, "labelled_domains: row 0: 3, want 0 to 2, the columns of domain_probs"},
		{"nan probability", poke(probs, "class_probs", 7*4, nan), entropy, 5, "class_probs: row 4: column 0 is NaN, want a probability"},
		{"negative", poke(probs, "domain_probs", 3*4+2, -0.25), ceg, 5, "domain_probs: row 4: column 2 is -0.25"},
		{"sum", poke(probs, "class_probs", 7*4, 0.9), ceg, 5, "class_probs: row 4: probabilities sum to 1"},
		{"row counts", with("class_logits", []int{199, 7}, make([]float32, 199*7)), ceg, 5, "class_logits: 199 rows, but features has 200"},
		{"columns", with("labelled_features", []int{40, 8}, make([]float32, 320)), ceg, 5, "labelled_features: 8 columns, but features has 16"},
		{"one class", with("class_logits", []int{200, 1}, make([]float32, 200)), entropy, 5, "class_logits: 1 columns, want at least 2"},
		{"flat", with("features", []int{3200}, make([]float32, 3200)), ceg, 5, "features: shape [3200], want two dimensions"},
		{"label shape", with("labelled_labels", []int{40, 1}, make([]int64, 40)), ceg, 5, "labelled_labels: shape [40 1], want one dimension"},
		{"label count", with("labelled_labels", []int{39}, make([]int64, 39)), ceg, 5, "labelled_labels: 39 elements, but labelled_features has 40 rows"},
		{"label type", with("labelled_labels", []int{40}, make([]float32, 40)), ceg, 5, "labelled_labels: type float32, want int64 or int32"},
		{"feature type", with("features", []int{200, 16}, make([]int64, 3200)), ceg, 5, "features: type int64, want float32 or float64"},
		{"no labelled", with("labelled_features", []int{0, 16}, []float32{}), ceg, 5, "40 rows, but labelled_features has 0 rows"},
		{"nan labelled logit", poke(entries, "labelled_class_logits", 7*2+1, nan), active.BAIT{}, 5, "labelled_class_logits: row 2: column 1 is NaN"},
		{"labelled logits", with("labelled_class_logits", []int{40, 3}, make([]float32, 120)), active.BAIT{}, 5, "labelled samples have 3 columns, those of candidates 7"},
		{"class of uherding", poke(entries, "labelled_labels", 8, 7), active.UHerding{}, 5, "labelled_labels: row 8: 7, want 0 to 6, the columns of class_logits"},
		{"classes", entries, active.ProbCover{}, 5, "the number of classes is not known"},
		{"domains", with("domains", []int{199}, make([]int64, 199)), active.Divided{Strategy: active.MaxHerding{}, Division: active.ByShare}, 5, "domains: 199 elements, but features has 200 rows"},
		{"weights", entries, active.CEG{}, 5, "weights of all ranks are 0"},
		{"missing both", entries[:1], badge, 5, "want class_logits or class_probs"},
		{"nothing", []entry{{"other", []int{1}, []int64{1}}}, active.Uniform{}, 1, `no array "features"; the file has other`},
	} {
		path := writePool(t, "stored", s.entries)
		_, err := Query(context.Background(), path, s.strategy, s.n, 0, seed.New(1, "query"))
		if err == nil || !strings.Contains(err.Error(), s.want) || strings.Count(err.Error(), path) != 1 {
			t.Errorf("%s: error %v, want one with the path once and %q", s.name, err, s.want)
		}
	}
	var count *CountError
	_, err := Query(context.Background(), writePool(t, "stored", entries), ceg, 201, 0, nil)
	if !errors.As(err, &count) || count.N != 201 || count.Rows != 200 {
		t.Errorf("n above: error %#v", err)
	}
	if _, err := Query(context.Background(), "none.npz", ceg, 1, 0, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: error %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Query(ctx, writePool(t, "stored", entries), ceg, 1, 0, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
}
