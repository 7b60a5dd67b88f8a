package model

import (
	"math"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/nets"
)

// A graph gives the features that the loops do, batches that are not full included.
func TestExtractorByGraph(t *testing.T) {
	const size, n = 32, 2*graphBatch + 5
	b := nets.SmallCNN(4, config.MeanPool)
	x, err := NewExtractor("go", b, size, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	params, features, err := nets.Params(b, size)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string][]float32{}
	for _, p := range params {
		values[p.Name] = p.Init(1)
	}
	backend, err := engine.Open("go")
	if err != nil {
		t.Fatal(err)
	}
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
		if err := x.Worker()(got[i], images); err != nil {
			t.Fatal(err)
		}
	}
	for i, v := range got[0] {
		if !(math.Abs(float64(v-got[1][i])) <= 1e-4) {
			t.Fatalf("value %d: %v without a graph, %v with one", i, v, got[1][i])
		}
	}
}
