package campaign_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ledg-go/ledg/ceg/campaign"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
)

// A bad image is replaced by the next one that is not like it. Here images 0 to 5 are dark and
// nearly the same, and where nothing else is left one of them has to do.
func TestBadIsNotReplacedByItsLike(t *testing.T) {
	const n = 9
	var features []float32
	for i := range n {
		if i < 6 {
			features = append(features, 1, 0.01*float32(i))
		} else {
			features = append(features, 0.1*float32(i), 1)
		}
	}
	data := fatal.Get(binary.Append(nil, binary.LittleEndian, features))(t)
	path := filepath.Join(t.TempDir(), "x.safetensors")
	f := fatal.Get(os.Create(path))(t)
	fatal.If(t, errors.Join(safetensors.Write(f, []safetensors.Entry{{Name: "features", DType: safetensors.Float32, Shape: []int{n, 2}, Data: data}}, nil), f.Close()))
	classes := []string{"cat", "dog"}
	d, _ := fatal.Get2(datasets.Open("features", path, datasets.Options{Classes: classes}))(t)
	c := configtest.New(t, "features", config.NoTarget, "uniform-ce", config.Authors, "schedule.timing", config.Once)
	c.Exploration.Budget, c.Exploration.Oracle, c.Data.Classes = "2", config.People, classes
	p := fatal.Get(campaign.New(c, d))(t)
	oracle, _ := fatal.Get2(campaign.People(t.TempDir(), p, nil, 1))(t)
	fatal.If(t, p.SetOracle(oracle))
	defer p.Close()
	inOrder := func(n int, may func(string) bool) (list []labels.Question, err error) {
		for i := 5; len(list) < n && i < 5+9; i++ { // from 5 on, around
			if id := fmt.Sprint(i % 9); may(id) {
				list = append(list, labels.Question{ID: id})
			}
		}
		return list, nil
	}
	say := func(kind labels.Kind, id string) {
		t.Helper()
		var awaiting *campaign.Awaiting
		if _, err := p.Query(t.Context(), 2, inOrder); !errors.As(err, &awaiting) {
			t.Fatalf("nothing is awaited: %v", err)
		}
		if q := awaiting.Queries[0].ID; q != id {
			t.Fatalf("%s is asked, want %s", q, id)
		}
		e := labels.Event{Kind: kind, ID: id, By: "ann"}
		if kind == labels.Labelled {
			e.Class = "cat"
		}
		l := fatal.Get(labels.Open(filepath.Dir(awaiting.Ledger), classes, labels.Options{}))(t)
		defer l.Close()
		fatal.Get(l.Append(e))(t)
	}
	say(labels.Bad, "5")
	say(labels.Labelled, "6")
	say(labels.Bad, "7") // not 0, which is dark, but in its place 8
	say(labels.Bad, "8")
	say(labels.Labelled, "0")
}
