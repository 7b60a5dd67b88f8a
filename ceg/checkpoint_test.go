package ceg

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/safetensors"
)

// state returns a checkpoint with everything in it, and its pool.
func state(t *testing.T, n int) (checkpoint, *active.Pool) {
	t.Helper()
	ids, domains := make([]string, n), make([]int, n)
	for i := range n {
		ids[i], domains[i] = fmt.Sprintf("d%d/c/%06d.jpg", 2*i/n, i), 2*i/n
	}
	p, err := active.NewPool(ids, domains, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Record("simulated", 1, []string{ids[n-1], ids[0]}, []int{2, 1}); err != nil {
		t.Fatal(err)
	}
	return checkpoint{
		Format: checkpointFormat, Epoch: 3, Steps: 30, Round: 1, Images: "abc", Pool: p.Snapshot(),
		Reliable: []int32{5, 2}, ReliableLabels: []int32{0, 2},
		Engines: []result.Engine{{Backend: "go"}}, Written: result.Lengths{Records: 7, Queries: 8},
	}, p
}

func TestCheckpointRoundTrip(t *testing.T) {
	params := nets.LinearParams("fc", 2, 1)
	weights := learner.State{Weights: [][]float32{{1, 2}, {3}}, Velocity: [][]float32{{4, 5}, {6}}}
	for name, empty := range map[string]bool{"full": false, "no labels": true} {
		t.Run(name, func(t *testing.T) {
			c, _ := state(t, 10)
			if empty {
				for _, col := range c.columns()[1:] {
					v := reflect.ValueOf(col.values).Elem()
					v.Set(reflect.MakeSlice(v.Type(), 0, 0))
					if col.optional {
						v.SetZero()
					}
				}
			} else {
				c.Pool.Gone, c.Unasked, c.Withdrawn, c.Changed = []int32{4, 3}, 1, 2, -1
				c.Pending = &result.Record{Epoch: 3, Loss: result.Losses{{Name: "ce", Value: 0.1}}, Accuracy: []result.Accuracy{}}
			}
			path := filepath.Join(t.TempDir(), "c")
			var b bytes.Buffer
			if err := c.write(&b, params, weights); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
			got, s, ok, err := readCheckpoint(path, params)
			if err != nil || !ok || !reflect.DeepEqual(got, c) || !reflect.DeepEqual(s, weights) {
				t.Errorf("%+v, %+v, %v, %v; want %+v", got, s, ok, err, c)
			}
		})
	}
}

// The header, which the format limits, does not grow with the pool.
func TestCheckpointHeaderIsSmall(t *testing.T) {
	header := func(n int) int {
		var b bytes.Buffer
		c, _ := state(t, n)
		if err := c.write(&b, nil, learner.State{}); err != nil {
			t.Fatal(err)
		}
		h, err := safetensors.ParseHeader(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		return b.Len() - 4*n - int(h.Tensors[len(h.Tensors)-1].Bytes())
	}
	if a, b := header(10), header(10000); b-a > 100 {
		t.Errorf("%d bytes beside the tensors for 10 images, %d for 10000", a, b)
	}
}

// A checkpoint of form 1 gives the state that it was written from.
func TestOldCheckpoint(t *testing.T) {
	want, pool := state(t, 10)
	var old oldCheckpoint
	old.Format, old.Epoch, old.Steps, old.Round, old.Images = 1, want.Epoch, want.Steps, want.Round, want.Images
	old.Pool.Domains, old.Pool.Classes, old.Pool.Labelled = 2, 3, pool.Labelled()
	for i := range 10 {
		old.Pool.IDs = append(old.Pool.IDs, fmt.Sprintf("d%d/c/%06d.jpg", i/5, i))
		old.Pool.Domain = append(old.Pool.Domain, i/5)
	}
	for i, at := range want.Reliable {
		old.Reliable = append(old.Reliable, old.Pool.IDs[at])
		old.ReliableLabels = append(old.ReliableLabels, int(want.ReliableLabels[i]))
	}
	old.Engines, old.Written = want.Engines, want.Written
	read := func(change func(*oldCheckpoint)) (checkpoint, error) {
		t.Helper()
		o := old
		change(&o)
		meta, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		var c checkpoint
		return c, c.decode(&safetensors.Header{Metadata: map[string]string{metadataKey: string(meta)}})
	}
	meta, err := json.Marshal(old)
	if err != nil {
		t.Fatal(err)
	}
	var got checkpoint
	if err := got.decode(&safetensors.Header{Metadata: map[string]string{metadataKey: string(meta)}}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for want, change := range map[string]func(*oldCheckpoint){
		`"x", which the pool has not`: func(o *oldCheckpoint) { o.Reliable = []string{"x", "y"} },
		"2 reliable images with 1":    func(o *oldCheckpoint) { o.ReliableLabels = []int{1} },
		"label 0":                     func(o *oldCheckpoint) { o.Pool.Labelled = []active.Label{{ID: "x", Oracle: "o"}} },
		"checkpoint format 3":         func(o *oldCheckpoint) { o.Format = 3 },
	} {
		if _, err := read(change); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
