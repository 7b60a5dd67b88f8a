package checkpoint_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/learner/checkpoint"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
)

var (
	params  = nets.LinearParams("fc", 2, 1)
	weights = learner.State{Weights: [][]float32{{1, 2}, {3}}, Velocity: [][]float32{{4, 5}, {6}}}
)

// settings are a run's, with what JSON keeps of them.
func settings(t *testing.T) config.Config {
	t.Helper()
	c := configtest.New(t, "glyphs", "photo", "ceg", config.Authors)
	c.Seed = 1<<63 + 1 // no float64
	return c
}

// state returns a checkpoint with everything in it.
func state(t *testing.T, n int) checkpoint.State {
	t.Helper()
	ids, domains := make([]string, n), make([]int, n)
	for i := range n {
		ids[i], domains[i] = fmt.Sprintf("d%d/c/%06d.jpg", 2*i/n, i), 2*i/n
	}
	p := fatal.Get(active.NewPool(ids, domains, 2, 3))(t)
	fatal.If(t, p.Record("simulated", 1, []string{ids[n-1], ids[0]}, []int{2, 1}))
	return checkpoint.State{
		Format: 1, Epoch: 3, Steps: 30, Round: 1, Images: "abc", Pool: p.Snapshot(),
		Reliable: []int32{5, 2}, ReliableLabels: []int32{0, 2},
		Engines: []result.Engine{{Backend: "go"}}, Written: result.Lengths{Records: 7, Queries: 8},
	}
}

// write returns the directory of a checkpoint, and its bytes.
func write(t *testing.T, s checkpoint.State, c config.Config) (dir string, data []byte) {
	t.Helper()
	var b bytes.Buffer
	fatal.If(t, s.Write(&b, c, params, weights))
	dir = t.TempDir()
	put(t, dir, b.Bytes())
	return dir, b.Bytes()
}

func put(t *testing.T, dir string, data []byte) {
	t.Helper()
	fatal.If(t, os.WriteFile(filepath.Join(dir, checkpoint.File), data, 0o666))
}

func TestRoundTrip(t *testing.T) {
	c := settings(t)
	full := state(t, 10)
	full.Pool.Gone, full.Unqueried, full.Withdrawn, full.Changed = []int32{4, 3}, 1, 2, -1
	full.Pending = &result.Record{Epoch: 3, Loss: result.Losses{{Name: "ce", Value: 0.1}}, Accuracy: []result.Accuracy{}}
	empty := state(t, 10)
	empty.Reliable, empty.ReliableLabels = []int32{}, []int32{}
	p := &empty.Pool
	p.Sample, p.Class, p.Round, p.Oracle, p.Gone = []int32{}, []int32{}, []int32{}, []int32{}, nil
	for name, want := range map[string]checkpoint.State{"full": full, "no labels": empty} {
		t.Run(name, func(t *testing.T) {
			dir, _ := write(t, want, c)
			got, l, ok, err := checkpoint.Read(dir, c, params)
			if err != nil || !ok || !reflect.DeepEqual(got, want) || !reflect.DeepEqual(l, weights) {
				t.Errorf("%+v, %+v, %v, %v; want %+v", got, l, ok, err, want)
			}
		})
	}
	if _, _, ok, err := checkpoint.Read(t.TempDir(), c, params); ok || err != nil {
		t.Errorf("of no file: %v, %v", ok, err)
	}
}

// The header, which the format limits, does not grow with the pool.
func TestHeaderIsSmall(t *testing.T) {
	header := func(n int) int {
		_, data := write(t, state(t, n), settings(t))
		h := fatal.Get(safetensors.ParseHeader(bytes.NewReader(data), int64(len(data))))(t)
		return len(data) - 4*n - int(h.Tensors[len(h.Tensors)-1].Bytes())
	}
	if a, b := header(10), header(10000); b-a > 100 {
		t.Errorf("%d bytes beside the tensors for 10 images, %d for 10000", a, b)
	}
}

// A run does not go on with settings that it did not have.
func TestEditedSettings(t *testing.T) {
	c := settings(t)
	dir, _ := write(t, state(t, 10), c)
	for path, value := range map[string]any{
		"seed": uint64(1 << 63), "generalization.tau": 0.9, "optimizer.momentum": 0.5, "exploration.strategy": "entropy",
		"generalization.objective": "erm", "network.domain_hidden": []int{128}, "data.classes": []string{"a"},
		"network.weights": &config.Weights{Name: "imagenet"},
	} {
		s := fatal.Get(config.Lookup(path))(t)
		edited := fatal.Get(s.With(c, value))(t)
		was, now := s.Text(c), s.Text(edited)
		_, _, _, err := checkpoint.Read(dir, edited, params)
		if err == nil || !strings.HasPrefix(err.Error(), filepath.Join(dir, checkpoint.File)+": the run was made with "+path+" ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s %s instead of %s: error %v", path, now, was, err)
		}
	}
}

// Whatever bit is another one, the file is refused.
func TestFlippedBits(t *testing.T) {
	c := settings(t)
	dir, data := write(t, state(t, 10), c)
	refused := func(what string, at int, bit byte) string {
		t.Helper()
		broken := bytes.Clone(data)
		broken[at] ^= bit
		put(t, dir, broken)
		_, _, _, err := checkpoint.Read(dir, c, params)
		if err == nil {
			t.Fatalf("%s: bit %x of byte %d of %d is another one, and nobody notices", what, bit, at, len(data))
		}
		return err.Error()
	}
	for at := range data {
		if data[at] != ' ' { // padding between the header and the tensors
			refused("anywhere", at, 1<<(at%8))
		}
	}
	last := len(data) - 1 // a label: the largest elements come first, and the weights among them
	for _, at := range []int{last, bytes.LastIndexByte(data, '}') + 8} {
		if got := refused("tensors", at, 1); !strings.Contains(got, "the file is damaged") {
			t.Errorf("byte %d: error %s", at, got)
		}
	}
}

// A file without its digest is refused.
func TestWithoutDigest(t *testing.T) {
	c := settings(t)
	dir, data := write(t, state(t, 10), c)
	put(t, dir, bytes.Replace(data, []byte(`"sha256"`), []byte(`"sha255"`), 1))
	if _, _, _, err := checkpoint.Read(dir, c, params); err == nil || !strings.Contains(err.Error(), "the file is damaged") {
		t.Error(err)
	}
}
