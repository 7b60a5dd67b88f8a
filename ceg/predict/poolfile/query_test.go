package poolfile

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/arrays/npztest"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
	"github.com/ledg-go/ledg/datasets/seed"
)

// entry is an array of a pool file: values is a slice of one of the four types.
type entry struct {
	name   string
	shape  []int
	values any
}

func raw(values any) []byte {
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, values); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func descr(values any) (numpy string, tensor safetensors.DType) {
	switch values.(type) {
	case []float32:
		return "<f4", safetensors.Float32
	case []float64:
		return "<f8", safetensors.Float64
	case []int32:
		return "<i4", safetensors.Int32
	case []int64:
		return "<i8", safetensors.Int64
	}
	panic(fmt.Sprintf("%T", values))
}

// writePool writes entries as "stored", "deflated" or "safetensors".
func writePool(t testing.TB, format string, entries []entry) string {
	t.Helper()
	var b bytes.Buffer
	if format == "safetensors" {
		var tensors []safetensors.Entry
		for _, e := range entries {
			_, dtype := descr(e.values)
			tensors = append(tensors, safetensors.Entry{Name: e.name, DType: dtype, Shape: e.shape, Data: raw(e.values)})
		}
		fatal.If(t, safetensors.Write(&b, tensors, nil))
	} else {
		method := map[string]uint16{"stored": zip.Store, "deflated": zip.Deflate}[format]
		z := zip.NewWriter(&b)
		for _, e := range entries {
			w := fatal.Get(z.CreateHeader(&zip.FileHeader{Name: e.name + ".npy", Method: method}))(t)
			dtype, _ := descr(e.values)
			shape := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(e.shape)), ", "), "[]") + ","
			dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }\n", dtype, shape)
			head := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(dict)))
			fatal.Get(w.Write(append(append(head, dict...), raw(e.values)...)))(t)
		}
		fatal.If(t, z.Close())
	}
	path := filepath.Join(t.TempDir(), "pool."+format)
	fatal.If(t, os.WriteFile(path, b.Bytes(), 0o666))
	return path
}

// golden returns the arrays of package active's golden exploration, with the
// names of a pool file.
func golden(t testing.TB) (npztest.File, []entry) {
	t.Helper()
	r := npztest.Open(t, "../../active/testdata/exploration.npz")
	floats := func(from, to string, cols int) entry {
		v := r.Floats(from)
		return entry{to, []int{len(v) / cols, cols}, v}
	}
	ints := func(from, to string) entry {
		v := npztest.Read[int64](r, from)
		return entry{to, []int{len(v)}, v}
	}
	return r, []entry{
		floats("u_features", "features", 16),
		floats("u_class_logits", "class_logits", 7),
		floats("u_domain_logits", "domain_logits", 3),
		floats("l_features", "labelled_features", 16),
		ints("l_label", "labelled_labels"),
		ints("l_domain", "labelled_domains"),
		ints("u_domain", "domains"),
		labelledLogits(floats("l_features", "labelled_class_logits", 16)),
	}
}

// labelledLogits takes seven of sixteen features for logits.
func labelledLogits(features entry) entry {
	var v []float32
	for i, x := range features.values.([]float32) {
		if i%16 < 7 {
			v = append(v, x)
		}
	}
	return entry{features.name, []int{len(v) / 7, 7}, v}
}

func rows(picks []active.Pick) []int64 {
	var v []int64
	for _, p := range picks {
		v = append(v, int64(p.Index))
	}
	return v
}

func query(t testing.TB, path string, s active.Strategy, n int) []active.Pick {
	t.Helper()
	return fatal.Get(Query(context.Background(), path, s, n, 0, seed.New(1, "query")))(t)
}

// otherTypes turns float32 into float64 and int64 into int32.
func otherTypes(entries []entry) []entry {
	entries = slices.Clone(entries)
	for i, e := range entries {
		switch v := e.values.(type) {
		case []float32:
			var w []float64
			for _, x := range v {
				w = append(w, float64(x))
			}
			entries[i].values = w
		case []int64:
			var w []int32
			for _, x := range v {
				w = append(w, int32(x))
			}
			entries[i].values = w
		}
	}
	return entries
}

// probabilities turns logits into probabilities, in float32.
func probabilities(entries []entry) []entry {
	entries = slices.Clone(entries)
	for i, e := range entries {
		name, ok := strings.CutSuffix(e.name, "_logits")
		if !ok {
			continue
		}
		var p []float32
		row := make([]float64, e.shape[1])
		for i, v := range e.values.([]float32) {
			row[i%len(row)] = float64(v)
			if (i+1)%len(row) == 0 {
				head.Softmax(row, row)
				for _, x := range row {
					p = append(p, float32(x))
				}
			}
		}
		entries[i] = entry{name + "_probs", e.shape, p}
	}
	return entries
}

func TestGoldenExploration(t *testing.T) {
	r, entries := golden(t)
	for _, format := range []string{"stored", "deflated", "safetensors"} {
		for name, entries := range map[string][]entry{
			"float32 logits":        entries,
			"float64 logits":        otherTypes(entries),
			"float32 probabilities": probabilities(entries),
			"float64 probabilities": otherTypes(probabilities(entries)),
		} {
			path := writePool(t, format, entries)
			for tag, weights := range map[string]active.Weights{
				"g1_1_g2_1": active.Gammas(1, 1), "g1_3_g2_1": active.Gammas(3, 1), "g1_0.5_g2_0.5": active.Gammas(0.5, 0.5),
			} {
				for prefix, ceg := range map[string]active.CEG{
					"":     {Weights: weights},
					"ref_": {Weights: weights, Space: cluster.Augmented},
					"dsm_": {Weights: weights, Space: cluster.Augmented, SoftmaxTwice: true},
				} {
					picks := query(t, path, ceg, 20)
					if want := npztest.Read[int64](r, prefix+"top20_"+tag); !slices.Equal(rows(picks), want) {
						t.Errorf("%s, %s, %s%s: rows %v, want %v", format, name, prefix, tag, rows(picks), want)
					}
					rank := npztest.Read[int64](r, prefix+"rank_sd")
					for _, p := range picks {
						if !p.Scored || int64(p.RankSd) != rank[p.Index] || p.ID != fmt.Sprint(p.Index) {
							t.Errorf("%s, %s, %s%s: %+v, want S_d's rank %d", format, name, prefix, tag, p, rank[p.Index])
						}
					}
				}
			}
		}
	}
}

// Every strategy picks from a file what it picks from memory.
func TestStrategiesAgreeWithMemory(t *testing.T) {
	_, entries := golden(t)
	path := writePool(t, "stored", probabilities(entries))
	matrix := func(e entry) active.Matrix {
		return active.Matrix{Rows: e.shape[0], Cols: e.shape[1], Stride: e.shape[1], Data: e.values.([]float32)}
	}
	p := probabilities(entries)
	c := &active.Candidates{Features: matrix(p[0]), ClassProbs: matrix(p[1]), DomainProbs: matrix(p[2]), LabelledFeatures: matrix(p[3])}
	for i := range 200 {
		c.IDs = append(c.IDs, fmt.Sprint(i))
	}
	for _, v := range p[4].values.([]int64) {
		c.LabelledClasses = append(c.LabelledClasses, int(v))
	}
	for _, v := range p[5].values.([]int64) {
		c.LabelledDomains = append(c.LabelledDomains, int(v))
	}
	for _, v := range p[6].values.([]int64) {
		c.Domains = append(c.Domains, int(v))
	}
	c.LabelledClassProbs = matrix(p[7])
	all := active.Strategies(active.Options{Weights: active.Gammas(3, 1), Space: cluster.Augmented, SoftmaxTwice: true, Classes: 7})
	for _, s := range all {
		divided := fatal.Get(active.Divide(s, active.Balanced))(t)
		all = append(all, divided)
	}
	for _, s := range all {
		want := fatal.Get(s.Query(c, 30, seed.New(1, "query")))(t)
		if got := query(t, path, s, 30); !slices.Equal(got, want) {
			t.Errorf("%s: picks %v, want %v", s.Name(), rows(got), rows(want))
		}
	}
}

// Each strategy works on a file with only the arrays that it needs.
func TestOnlyNeededArrays(t *testing.T) {
	_, entries := golden(t)
	byName := map[string]entry{}
	for _, e := range entries {
		byName[e.name] = e
	}
	for name, needs := range map[string]string{
		"uniform":    "domain_logits",
		"entropy":    "class_logits",
		"bvsb":       "class_logits",
		"confidence": "class_logits",
		"coreset":    "features labelled_features",
		"typiclust":  "features labelled_features",
		"maxherding": "features labelled_features",
		"uherding":   "features class_logits labelled_features labelled_labels",
		"bait":       "features class_logits labelled_features labelled_class_logits",
		"dropquery":  "features labelled_features labelled_labels",
		"tcm":        "features class_logits labelled_features",
		"badge":      "features class_logits",
		"kmeans":     "features",
		"ceg":        "features class_logits domain_logits labelled_features labelled_labels labelled_domains",
		"ceg-batch":  "features class_logits domain_logits labelled_features labelled_labels labelled_domains",

		"ceg-balanced": "features class_logits domain_logits labelled_features labelled_labels labelled_domains domains",
	} {
		s := fatal.Get(active.ByName(name, active.Options{Weights: active.Gammas(1, 1)}))(t)
		var some []entry
		for _, n := range strings.Fields(needs) {
			some = append(some, byName[n])
		}
		want := query(t, writePool(t, "safetensors", entries), s, 10)
		if got := query(t, writePool(t, "safetensors", some), s, 10); !slices.Equal(got, want) {
			t.Errorf("%s: picks %v, with all arrays %v", name, rows(got), rows(want))
		}
		for i := range some {
			missing := slices.Delete(slices.Clone(some), i, i+1)
			_, err := Query(context.Background(), writePool(t, "safetensors", missing), s, 10, 0, seed.New(1, "query"))
			if cold := active.Cold(s) && some[i].name == "labelled_features"; cold {
				if err != nil {
					t.Errorf("%s without labelled samples: %v", name, err)
				}
				continue
			}
			if want := some[i].name; name != "uniform" && (err == nil || !strings.Contains(err.Error(), fmt.Sprintf("no array %q", want))) {
				t.Errorf("%s without %s: error %v", name, want, err)
			}
		}
	}
}

// A file that has something of the labelled samples but not their features is not supported
// for one without labelled samples.
func TestHalfOfTheLabelledSamples(t *testing.T) {
	_, entries := golden(t)
	path := writePool(t, "stored", []entry{entries[0], entries[4]})
	_, err := Query(context.Background(), path, active.MaxHerding{}, 3, 0, nil)
	if err == nil || !strings.Contains(err.Error(), `no array "labelled_features"`) {
		t.Errorf("error %v", err)
	}
}

// Where float32 would round two rows' scores to one, float64 still tells them
// apart.
func TestFloat64Stays(t *testing.T) {
	path := writePool(t, "stored", []entry{
		{"features", []int{3, 2}, []float64{1, 1e-9, 1, 3e-9, 1, 2e-9}},
		{"class_logits", []int{3, 2}, []float64{20, 0, 20, 2, 20, 1}},
		{"domain_logits", []int{3, 2}, []float32{25, 0, 27, 0, 26, 0}},
		{"labelled_features", []int{1, 2}, []float64{1, -1}},
		{"labelled_labels", []int{1}, []int32{0}},
		{"labelled_domains", []int{1}, []int32{0}},
	})
	for _, p := range query(t, path, active.CEG{Weights: active.Gammas(1, 1)}, 3) {
		if want := []int{2, 0, 1}[p.Index]; p.RankSu != want || p.RankSr != want || p.RankSd != want {
			t.Errorf("row %d: %+v, want ranks %d", p.Index, p, want)
		}
	}
}

// Heads that are very sure, of two softmaxes and one: a file of logits gives the
// ranks that the same logits have in memory, and a file of their float32
// probabilities, of which the largest are all 1, the same while the others do not
// underflow.
func TestSaturatedRanks(t *testing.T) {
	_, entries := golden(t)
	for scale, places := range map[float32]bool{12: true, 400: false} {
		saturated := slices.Clone(entries)
		for i, e := range entries {
			if strings.HasSuffix(e.name, "_logits") {
				v := slices.Clone(e.values.([]float32))
				for j := range v {
					v[j] *= scale
				}
				saturated[i].values = v
			}
		}
		matrix := func(e entry) active.Matrix {
			return active.Matrix{Rows: e.shape[0], Cols: e.shape[1], Stride: e.shape[1], Data: e.values.([]float32)}
		}
		c := &active.Candidates{Features: matrix(saturated[0]), ClassLogits: matrix(saturated[1]), DomainLogits: matrix(saturated[2]), LabelledFeatures: matrix(saturated[3])}
		for i := range 200 {
			c.IDs = append(c.IDs, fmt.Sprint(i))
		}
		for i, v := range saturated[4].values.([]int64) {
			c.LabelledClasses = append(c.LabelledClasses, int(v))
			c.LabelledDomains = append(c.LabelledDomains, int(saturated[5].values.([]int64)[i]))
		}
		for _, twice := range []bool{false, true} {
			s := active.CEG{Weights: active.Gammas(3, 1), SoftmaxTwice: twice, TieSeed: 5}
			want := fatal.Get(s.Query(c, 200, nil))(t)
			ones := 0
			for _, p := range want {
				if p.Sr == 1 {
					ones++
				}
			}
			if !twice && scale == 400 && ones < 100 {
				t.Errorf("only %d of 200 are saturated: the test is of something else", ones)
			}
			if got := query(t, writePool(t, "stored", saturated), s, 200); !slices.Equal(got, want) {
				t.Errorf("scale %v, twice %v: a file of logits has other ranks than memory", scale, twice)
			}
			got := query(t, writePool(t, "stored", probabilities(saturated)), s, 200)
			if same := slices.Equal(rows(got), rows(want)); same != places {
				t.Errorf("scale %v, twice %v: a file of probabilities has the same picks: %v, want %v", scale, twice, same, places)
			}
		}
	}
}

func Example() {
	dir, err := os.MkdirTemp("", "pool")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "pool.safetensors")
	var b bytes.Buffer
	if err := safetensors.Write(&b, []safetensors.Entry{
		{Name: "class_probs", DType: safetensors.Float32, Shape: []int{3, 2}, Data: raw([]float32{0.9, 0.1, 0.5, 0.5, 0.7, 0.3})},
	}, nil); err != nil {
		panic(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		panic(err)
	}
	picks, err := Query(context.Background(), path, active.Probability{Measure: active.MinMargin}, 2, 0, nil)
	if err != nil {
		panic(err)
	}
	for _, p := range picks {
		fmt.Printf("row %d, score %.2f\n", p.Index, p.Score)
	}
	// Output:
	// row 1, score 1.00
	// row 2, score 0.60
}
