package imported

import (
	"github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
)

// Build implements nets.Graph. BatchNormalization has the file's statistics in training, too.
func (t *Trainable) Build(params map[string]*graph.Node, passes []nets.Pass, _ bool) nets.Features {
	merged := t.merge(params)
	var trained []string
	for _, p := range t.params {
		if !p.Fixed {
			trained = append(trained, p.Name)
		}
	}
	return nets.Joined(params, trained, passes, func(x *graph.Node) (features, maps *graph.Node) {
		y := t.output(merged, x)
		features = t.taking.node(y)
		return features, t.asMaps(y, features)
	})
}

// output adds the network to a graph. Images are [n, size, size, 3].
func (t *Trainable) output(params map[string]*graph.Node, images *graph.Node) *graph.Node {
	if !t.last {
		images = graph.TransposeAllAxes(images, 0, 3, 1, 2)
	}
	in := map[string]*graph.Node{t.input: images}
	for _, p := range t.params {
		if !p.Added {
			in[p.Name[len(Prefix):]] = params[p.Name]
		}
	}
	return t.model.CallGraph(nil, images.Graph(), in)[0]
}

// asMaps returns the output as maps [n, h, w, c], of one pixel if it is not a map.
func (t *Trainable) asMaps(y, features *graph.Node) *graph.Node {
	switch {
	case len(t.taking.axes) < 2:
		return graph.InsertAxes(features, 1, 1)
	case t.taking.axes[0] == 2:
		return graph.TransposeAllAxes(y, 0, 2, 3, 1)
	}
	return y
}
