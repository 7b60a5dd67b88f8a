package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
)

// writeTestPool writes a pool of three samples. Row 0 is best by every score, row 1 worst except
// by diversity.
func writeTestPool(t *testing.T, dir string) {
	t.Helper()
	raw := func(values any) []byte {
		var b bytes.Buffer
		fatal.If(t, binary.Write(&b, binary.LittleEndian, values))
		return b.Bytes()
	}
	var b bytes.Buffer
	fatal.If(t, safetensors.Write(&b, []safetensors.Entry{
		{Name: "features", DType: safetensors.Float32, Shape: []int{3, 2}, Data: raw([]float32{0, 1, 1, 1, 1, 0})},
		{Name: "class_probs", DType: safetensors.Float64, Shape: []int{3, 2}, Data: raw([]float64{0.5, 0.5, 1, 0, 0.75, 0.25})},
		{Name: "domain_probs", DType: safetensors.Float64, Shape: []int{3, 2}, Data: raw([]float64{1, 0, 0.5, 0.5, 0.25, 0.75})},
		{Name: "labelled_features", DType: safetensors.Float32, Shape: []int{1, 2}, Data: raw([]float32{2, 0})},
		{Name: "labelled_labels", DType: safetensors.Int64, Shape: []int{1}, Data: raw([]int64{1})},
		{Name: "labelled_domains", DType: safetensors.Int32, Shape: []int{1}, Data: raw([]int32{0})},
	}, nil))
	fatal.If(t, os.WriteFile(filepath.Join(dir, "pool.safetensors"), b.Bytes(), 0o666))
}

func TestQuery(t *testing.T) {
	dir := t.TempDir()
	writeTestPool(t, dir)
	for _, c := range []struct{ args, want string }{
		{"-n 3 --gamma1 3 --gamma2 1", "0\n2\n1\n"},
		{"-n 3 --gamma1 0 --gamma2 3", "0\n1\n2\n"},
		{"-n 1", "0\n"},
		{"-n 3 --gamma1 3 --gamma2 1 --json", `{"index":0,"s_u":1,"s_r":1,"s_d":1,"rank_u":0,"rank_r":0,"rank_d":0,"r":0}
{"index":2,"s_u":0.5,"s_r":0.75,"s_d":0,"rank_u":1,"rank_r":1,"rank_d":2,"r":6}
{"index":1,"s_u":0,"s_r":0.5,"s_d":0.29289321881345254,"rank_u":2,"rank_r":2,"rank_d":1,"r":9}
`},
		{"-n 2 --strategy bvsb --json", `{"index":0,"score":1}
{"index":2,"score":0.5}
`},
		{"-n 3 --strategy coreset", "0\n1\n2\n"},
	} {
		stdout, stderr, status := call(t, dir, append([]string{"query", "--pool", "pool.safetensors"}, strings.Fields(c.args)...)...)
		if stdout != c.want || stderr != "" || status != 0 {
			t.Errorf("%s: status %d, stderr %q, stdout\n%swant\n%s", c.args, status, stderr, stdout, c.want)
		}
	}
	// Draws follow the seed.
	draw := func(seed string) string {
		stdout, _, _ := call(t, dir, "query", "--pool", "pool.safetensors", "-n", "3", "--strategy", "uniform", "--seed", seed)
		return stdout
	}
	differ := false
	for _, seed := range []string{"0", "1", "2", "3", "4", "5"} {
		if a, b := draw(seed), draw(seed); a != b || len(a) != 6 {
			t.Errorf("seed %s: %q, then %q", seed, a, b)
		}
		differ = differ || draw(seed) != draw("0")
	}
	if !differ {
		t.Error("all seeds draw the same")
	}
}

func TestQueryPresets(t *testing.T) {
	dir := t.TempDir()
	writeTestPool(t, dir)
	sd := map[string]float64{}
	for _, preset := range []string{"paper", "authors"} {
		stdout, stderr, status := call(t, dir, "query", "--pool", "pool.safetensors", "-n", "1", "--json", "--preset", preset)
		var p scoredPick
		if err := json.Unmarshal([]byte(stdout), &p); err != nil || status != 0 {
			t.Fatalf("%s: status %d, %v, stderr %s", preset, status, err, stderr)
		}
		sd[preset] = p.Sd
	}
	// (0,1) and (2,0), each with a 1 appended: 1 - 1/sqrt(2*5).
	if got := sd["authors"]; sd["paper"] != 1 || got < 0.68377 || got > 0.68378 {
		t.Errorf("S_d of row 0: %v", sd)
	}
}

func TestQueryErrors(t *testing.T) {
	dir := t.TempDir()
	writeTestPool(t, dir)
	data := fatal.Get(os.ReadFile(filepath.Join(dir, "pool.safetensors")))(t)
	fatal.If(t, os.WriteFile(filepath.Join(dir, "cut.safetensors"), data[:len(data)-1], 0o666))
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"-n 1", 2, "pool"},
		{"--pool pool.safetensors", 2, "number"},
		{"--pool pool.safetensors -n 0", 2, `"0" for "-n, --number" flag: want at least 1`},
		{"--pool pool.safetensors -n 4", 2, "-n 4: pool.safetensors has a pool of 3"},
		{"--pool pool.safetensors -n 1 --strategy best", 2, `--strategy "best": want one of ceg, ceg-batch, ceg-balanced, uniform`},
		{"--pool pool.safetensors -n 1 --preset mine", 2, `--preset: "mine", want one of paper, authors, ledg`},
		{"--pool pool.safetensors -n 1 --gamma1 -1", 2, `argument "-1" for "--gamma1" flag: want at least 0`},
		{"--pool pool.safetensors -n 1 --gamma2 NaN", 2, `argument "NaN" for "--gamma2" flag: want at least 0`},
		{"--pool pool.safetensors -n 1 --num-classes 1000000000", 2, `"1000000000" for "--num-classes" flag: want at least 2 and at most 10000`},
		{"--pool pool.safetensors -n 1 --seed x", 2, "seed"},
		{"--pool pool.safetensors -n 1 extra", 2, "extra"},
		{"--pool none.npz -n 1 --shard 0/4", 2, "unknown flag: --shard"},
		{"--pool none.npz -n 1 --out none/q", 1, "there is no folder none"},
		{"--pool none.npz -n 2 --subsample 1 --strategy badge", 2, "--subsample 1: want at least -n 2"},
		{"--pool none.npz -n 2 --subsample 5", 2, "--subsample 5: ceg reads pools of any size"},
		{"--pool none.npz -n 1", 2, "--pool none.npz: file does not exist"},
		{"--pool . -n 1", 1, ".: it is a folder"},
		{"--pool cut.safetensors -n 1", 1, "cut.safetensors: safetensors: tensor"},
	} {
		stdout, stderr, status := call(t, dir, append([]string{"query"}, strings.Fields(c.args)...)...)
		if status != c.status || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: status %d, stdout %q, stderr %q; want status %d and one line with %q", c.args, status, stdout, stderr, c.status, c.want)
		}
	}
}

// Of a pool too large for strategies that compare rows, these look at some if asked to.
func TestQuerySubsample(t *testing.T) {
	dir := t.TempDir()
	n := maxTogether + 1
	var b bytes.Buffer
	fatal.If(t, safetensors.Write(&b, []safetensors.Entry{{Name: "features", DType: safetensors.Float32, Shape: []int{n, 1}, Data: make([]byte, 4*n)}}, nil))
	fatal.If(t, os.WriteFile(filepath.Join(dir, "pool.safetensors"), b.Bytes(), 0o666))
	args := []string{"query", "--pool", "pool.safetensors", "-n", "5", "--strategy", "coreset"}
	if _, stderr, status := call(t, dir, args...); status != 2 || !strings.Contains(stderr, "and 1,000,001 are too many: --subsample 100000 draws that many") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("status %d, %s", status, stderr)
	}
	args[len(args)-1] = "kmeans"
	if stdout, stderr, status := call(t, dir, append(args, "--subsample", "50")...); status != 0 || strings.Count(stdout, "\n") != 5 {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
}

func TestQueryHelpListsStrategies(t *testing.T) {
	stdout, _, status := call(t, t.TempDir(), "query", "--help")
	for _, want := range []string{
		"  ceg          features, class_*, domain_*, labelled_features, labelled_labels, labelled_domains\n", "labelled_domains, domains\n", "  uniform      any one\n", "  entropy      class_*\n",
		"  coreset      features, labelled_features\n", "  badge        features, class_*\n", "  kmeans       features\n",
	} {
		if status != 0 || !strings.Contains(stdout, want) {
			t.Errorf("help has no %q:\n%s", want, stdout)
		}
	}
}
