package imported

import (
	"github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
)

// Build implements nets.Graph. BatchNormalization has the file's statistics in training, too.
func (t *Trainable) Build(params map[string]*graph.Node, passes []nets.Pass, _ bool) nets.Features {
	f := nets.Features{Passes: make([]*graph.Node, len(passes)), Running: map[string]*graph.Node{}}
	inputs := make([]*graph.Node, len(passes))
	merged := t.merge(params)
	lanes, _ := nets.Lanes(passes)
	for _, l := range lanes {
		var images []*graph.Node
		for _, p := range l.Passes {
			x := passes[p].Images
			if passes[p].ImageGrad {
				x = graph.Identity(graph.StopGradient(x)) // a node of this pass, where gradients stop
				inputs[p] = x
			}
			images = append(images, x)
		}
		x := graph.Concatenate(images, 0)
		y := t.output(merged, x)
		features, from := t.taking.node(y), 0
		for _, p := range l.Passes {
			to := from + passes[p].Images.Shape().Dimensions[0]
			out := features
			if passes[p].Maps {
				out = t.asMaps(y, features)
			}
			if f.Passes[p] = graph.SliceAxis(out, 0, graph.AxisRange(from, to)); passes[p].NoGrad {
				f.Passes[p] = graph.StopGradient(f.Passes[p])
			}
			from = to
		}
	}
	var trained []string
	for _, p := range t.params {
		if !p.Fixed {
			trained = append(trained, p.Name)
		}
	}
	f.Pull = nets.Pull(passes, f.Passes, params, trained, inputs)
	return f
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
