package model

import (
	"math"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// A graph gives the features that the loops do, batches that are not full included.
func TestExtractorByGraph(t *testing.T) {
	const size, n = 32, 2*graphBatch + 5
	b := nets.SmallCNN(4, config.MeanPool)
	x := fatal.Get(NewExtractor("go", b, size, nil, 1))(t)
	defer x.Close()
	params, features := fatal.Get2(nets.Params(b, size))(t)
	values := map[string][]float32{}
	for _, p := range params {
		values[p.Name] = p.Init(1)
	}
	backend := fatal.Get(engine.Open("go"))(t)
	g := &Extractor{Size: size, features: features}
	g.graph(backend, b, params, values)
	defer g.Close()
	images := make([]byte, n*3*size*size)
	for i := range images {
		images[i] = byte(i * i >> 3)
	}
	var got [2][]float32
	for i, x := range []*Extractor{x, g} {
		got[i] = make([]float32, n*x.FeatureDim())
		fatal.If(t, x.Worker()(got[i], images))
	}
	for i, v := range got[0] {
		if !(math.Abs(float64(v-got[1][i])) <= 1e-4) {
			t.Fatalf("value %d: %v without a graph, %v with one", i, v, got[1][i])
		}
	}
}
