package poolfile

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/seed"
)

// probePool is two groups of two classes in two domains; of one sample the class is not
// known, and of one it is given wrong.
func probePool() []entry {
	return []entry{
		{"features", []int{6, 2}, []float32{1, 0.1, 1, -0.1, 0.1, 1, -0.1, 1, 1, 0, 0, 1}},
		{"labels", []int{6}, []int64{0, 0, 1, 1, -1, 0}},
		{"domains", []int{6}, []int64{0, 1, 0, 1, 0, 1}},
		{"labelled_features", []int{4, 2}, []float32{1, 0.2, 1, -0.2, 0.2, 1, -0.2, 1}},
		{"labelled_labels", []int{4}, []int64{0, 0, 1, 1}},
		{"labelled_domains", []int{4}, []int64{0, 1, 0, 1}},
		{"class_logits", []int{6, 2}, make([]float32, 12)}, // of another head
	}
}

func TestProbe(t *testing.T) {
	pool := writePool(t, "stored", probePool())
	text := writePool(t, "stored", []entry{{"text", []int{2, 2}, []float32{2, 0.5, 0.5, 2}}})
	for _, name := range Heads() {
		p := fatal.Get(Probe(context.Background(), pool, ProbeOptions{Head: name, Text: text}, seed.New(1, "probe")))(t)
		if got := p.Predictions(); !slices.Equal(got, []int{0, 0, 1, 1, 0, 1}) {
			t.Errorf("%s: predictions %v", name, got)
		}
		if want := []DomainTally{{0, 2, 2, ""}, {1, 2, 3, ""}}; !slices.Equal(p.Domains, want) {
			t.Errorf("%s: right answers %v, want %v", name, p.Domains, want)
		}
		// What it writes is a pool file with everything for bait.
		out := filepath.Join(t.TempDir(), "out.safetensors")
		fatal.If(t, p.WriteFile(context.Background(), out, pool))
		if picks := query(t, out, active.BAIT{}, 2); len(picks) != 2 {
			t.Errorf("%s: %d picks", name, len(picks))
		}
		if s, err := ShapeOf(out); err != nil || s != (Shape{6, 2, 2, 0}) {
			t.Errorf("%s: shape %+v, error %v", name, s, err)
		}
	}
}

func TestProbeErrors(t *testing.T) {
	entries := probePool()
	pool := writePool(t, "stored", entries)
	stray := slices.Clone(entries)
	stray[4] = entry{"labelled_labels", []int{4}, []int64{0, 0, 1, 1e9}}
	wide := writePool(t, "stored", []entry{{"text", []int{2, 3}, make([]float32, 6)}})
	for _, s := range []struct {
		pool string
		o    ProbeOptions
		want string
	}{
		{pool, ProbeOptions{Head: "svm"}, `head "svm", want one of`},
		{pool, ProbeOptions{Head: "clap"}, "give a file with an array text [C, 2]"},
		{pool, ProbeOptions{Head: "clap", Text: wide}, "text: 3 columns, but features has 2"},
		{pool, ProbeOptions{Head: "clap", Text: pool}, `no array "text"`},
		{pool, ProbeOptions{Head: "logistic", Classes: 1}, "labelled row 2: class 1, want 0 to 0"},
		{writePool(t, "stored", stray), ProbeOptions{Head: "logistic"}, "labelled_labels: row 3: 1000000000, want 0 to 9999"},
		{writePool(t, "stored", entries[:3]), ProbeOptions{Head: "gda"}, `no array "labelled_features"`},
		{writePool(t, "stored", append(slices.Clone(entries[:1]), append([]entry{{"labels", []int{2}, []int64{0, 1}}}, entries[3:]...)...)), ProbeOptions{Head: "gda"}, "labels: 2 elements, but features has 6 rows"},
	} {
		fatal.Says(t, fatal.Err(Probe(context.Background(), s.pool, s.o, seed.New(1, "probe"))), s.want)
	}
}
