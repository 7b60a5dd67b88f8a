package poolfile

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/predict/shard"
	"github.com/ledg-go/ledg/datasets/seed"
)

var settings = json.RawMessage(`{"seed":9007199254740993}`)

// scoreShards scores all shards of a pool.
func scoreShards(t *testing.T, pool, out string, strategy active.Strategy, count int) (files []string) {
	t.Helper()
	for i := range count {
		p := shard.Shard{Index: i, Count: count}
		if _, err := Score(t.Context(), pool, strategy, 30, p, settings, out); err != nil {
			t.Fatal(err)
		}
		files = append(files, p.File(out))
	}
	return files
}

func mergePicks(t *testing.T, strategy active.Strategy, paths ...string) ([]active.Pick, error) {
	t.Helper()
	files, err := shard.Together(paths)
	if err != nil {
		return nil, err
	}
	return Merge(t.Context(), files, strategy, 30, seed.New(1, "query"))
}

// Whatever is scored in shards is chosen as of the whole file, with the same scores and ranks.
func TestShards(t *testing.T) {
	_, entries := golden(t)
	views := slices.Clone(entries)
	{ // a second view of the features, which does not count
		clean := views[0].values.([]float32)
		var both []float32
		for i := range 200 {
			both = append(append(both, clean[16*i:16*i+16]...), make([]float32, 16)...)
		}
		views[0] = entry{"features", []int{200, 2, 16}, both}
	}
	for format, entries := range map[string][]entry{"stored": entries, "deflated": probabilities(entries), "safetensors": views} {
		pool := writePool(t, format, entries)
		for _, strategy := range active.Strategies(active.Options{Weights: active.Gammas(3, 1), Space: cluster.Augmented, TieSeed: 5}) {
			if !Separable(strategy) {
				if _, err := Score(t.Context(), pool, strategy, 30, shard.Shard{Index: 0, Count: 2}, settings, filepath.Join(t.TempDir(), "x")); err == nil {
					t.Errorf("%s is scored", strategy.Name())
				}
				continue
			}
			want := query(t, pool, strategy, 30)
			for _, count := range []int{1, 3} {
				got, err := mergePicks(t, strategy, scoreShards(t, pool, filepath.Join(t.TempDir(), "q"), strategy, count)...)
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s, %s in %d shards: %v, %v, want %v", format, strategy.Name(), count, rows(got), err, rows(want))
				}
			}
		}
	}
}

func TestShardsRefuse(t *testing.T) {
	_, entries := golden(t)
	dir := t.TempDir()
	ceg := active.CEG{Weights: active.Gammas(3, 1)}
	pool := writePool(t, "safetensors", entries)
	files := scoreShards(t, pool, filepath.Join(dir, "q"), ceg, 3)

	changed := slices.Clone(entries)
	for i, e := range changed {
		if e.name == "labelled_features" {
			v := slices.Clone(e.values.([]float32))
			v[3]++
			changed[i].values = v
		}
	}
	other := writePool(t, "safetensors", changed)
	two := shard.Shard{Index: 2, Count: 3}
	score := func(pool, name string, strategy active.Strategy, settings string) string {
		out := filepath.Join(dir, name)
		if _, err := Score(t.Context(), pool, strategy, 30, two, json.RawMessage(settings), out); err != nil {
			t.Fatal(err)
		}
		return two.File(out)
	}
	damaged := filepath.Join(dir, "damaged")
	data, err := os.ReadFile(files[2])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(damaged, data[:len(data)-8], 0o666); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ file, want string }{
		"another pool":  {score(other, "other", ceg, string(settings)), "pool is"},
		"another seed":  {score(pool, "seed", ceg, `{"seed":9007199254740992}`), "settings.seed is 9007199254740993 in one, 9007199254740992 in the other"},
		"other columns": {score(pool, "columns", active.Probability{}, string(settings)), "columns is 5 in one, 2 in the other"},
		"twice":         {files[1], "shard 1/3 is there twice"},
		"damaged":       {damaged, "damaged: shard 2/3 is not complete"},
	} {
		if _, err := mergePicks(t, ceg, files[0], files[1], c.file); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one line with %q", name, err, c.want)
		}
	}
	if _, err := mergePicks(t, ceg, files[:2]...); err == nil || !strings.Contains(err.Error(), "shard 2/3 is missing") {
		t.Error(err)
	}

	// Rows in errors refer to the whole file, and a failed shard leaves no output.
	for _, e := range entries {
		if e.name == "features" {
			e.values.([]float32)[16*137+3] = float32(math.NaN())
		}
	}
	bad, out := writePool(t, "stored", entries), filepath.Join(dir, "bad")
	for i := range 3 {
		p := shard.Shard{Index: i, Count: 3}
		_, err := Score(t.Context(), bad, ceg, 30, p, settings, out)
		if (err != nil) != (i == 2) || err != nil && !strings.Contains(err.Error(), "features: row 137: feature 3 is NaN") {
			t.Errorf("part %s: %v", p, err)
		}
	}
	if _, err := os.Stat(out + ".2-of-3"); err == nil {
		t.Error("a part that failed has written")
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
		got, err := QuerySome(t.Context(), pool, strategy, 20, 60, seed.New(1, "query"))
		if err != nil {
			t.Fatal(err)
		}
		want := query(t, small, strategy, 20)
		for i := range want {
			if got[i].Index != keep[want[i].Index] || got[i].ID != fmt.Sprint(got[i].Index) || got[i].Score != want[i].Score {
				t.Fatalf("%s: pick %d is %+v, want row %d of the kept %+v", strategy.Name(), i, got[i], want[i].Index, want[i])
			}
		}
		all, err := QuerySome(t.Context(), pool, strategy, 20, 200, seed.New(1, "query"))
		if err != nil || !reflect.DeepEqual(all, query(t, pool, strategy, 20)) {
			t.Errorf("%s of at most all rows: %v", strategy.Name(), err)
		}
	}
	if _, err := QuerySome(t.Context(), pool, active.BADGE{}, 20, 19, seed.New(1, "query")); err == nil {
		t.Error("20 of 19 rows are chosen")
	}
}

// FuzzMerge chooses by anything that is a well-formed shard of a query.
func FuzzMerge(f *testing.F) {
	dir := f.TempDir()
	f.Add([]byte(`{"settings":{},"pool":"x","columns":2}`), make([]byte, 32), 2)
	f.Add([]byte(`{"settings":{},"pool":"x","columns":5,"domains":true}`), make([]byte, 96), 2)
	f.Add([]byte(`{"columns":0}`), []byte{0, 0}, 2)
	f.Add([]byte(`{"columns":0}`), []byte{}, 1<<60)
	f.Add([]byte(`{"columns":-1}`), []byte{0xff, 0xff}, -1)
	f.Fuzz(func(t *testing.T, of, item []byte, total int) {
		path := filepath.Join(dir, "q.0-of-1")
		j, err := shard.Open(path, shard.Record{Kind: shard.Query, Shard: shard.Shard{Index: 0, Count: 1}, Total: total, Of: of}, nil)
		if err != nil {
			return // of is no JSON
		}
		defer os.Remove(path)
		defer j.Close()
		if _, err := j.Append(item); err != nil {
			t.Fatal(err)
		}
		if err := j.End(); err != nil {
			t.Fatal(err)
		}
		files, err := shard.Together([]string{path})
		if err != nil {
			return
		}
		for _, strategy := range []active.Strategy{active.CEG{Weights: active.Gammas(3, 1)}, active.BalancedCEG{CEG: active.CEG{Weights: active.Gammas(3, 1)}}, active.Probability{}, active.Uniform{}} {
			picks, err := Merge(t.Context(), files, strategy, 2, seed.New(1, "query"))
			if err == nil && len(picks) != 2 {
				t.Errorf("%d rows are chosen", len(picks))
			}
		}
	})
}
