package imported

import (
	"fmt"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/datasets"
)

// Build implements nets.Graph. BatchNormalization has the file's statistics in training, too.
func (t *Trainable) Build(params map[string]*graph.Node, passes []nets.Pass, _ bool) nets.Features {
	f := nets.Features{Passes: make([]*graph.Node, len(passes)), Running: map[string]*graph.Node{}}
	inputs := make([]*graph.Node, len(passes))
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
		y := t.output(params, x)
		features, from := pool(y, x.Shape().Dimensions[0], t.Output, datasets.Reading{Pool: t.Pool}), 0
		for _, p := range l.Passes {
			to := from + passes[p].Images.Shape().Dimensions[0]
			out := features
			if passes[p].Maps {
				out = asMaps(y, features)
			}
			if f.Passes[p] = graph.SliceAxis(out, 0, graph.AxisRange(from, to)); passes[p].NoGrad {
				f.Passes[p] = graph.StopGradient(f.Passes[p])
			}
			from = to
		}
	}
	f.Pull = func(adjoints []*graph.Node) (map[string]*graph.Node, []*graph.Node) {
		return t.pull(params, inputs, passes, f.Passes, adjoints)
	}
	return f
}

// output adds the network to a graph. Images are [n, size, size, 3].
func (t *Trainable) output(params map[string]*graph.Node, images *graph.Node) *graph.Node {
	if !t.last {
		images = graph.TransposeAllAxes(images, 0, 3, 1, 2)
	}
	in := map[string]*graph.Node{t.input: images}
	for _, p := range t.params {
		v, ok := params[p.Name]
		if !ok {
			panic(fmt.Sprintf("no parameter %q", p.Name))
		}
		in[p.Name[len(Prefix):]] = v
	}
	return t.model.CallGraph(nil, images.Graph(), in)[0]
}

// asMaps returns the output as maps [n, h, w, c], of one pixel if it is not a map.
func asMaps(y, features *graph.Node) *graph.Node {
	if d := y.Shape().Dimensions; len(d) == 4 {
		if d[2] == d[3] && (d[1] != d[2] || d[2] == 1) { // as pool sees it
			return graph.TransposeAllAxes(y, 0, 2, 3, 1)
		}
		return y
	}
	return graph.InsertAxes(features, 1, 1)
}

// pull is the vector-Jacobian product of the features.
func (t *Trainable) pull(values map[string]*graph.Node, inputs []*graph.Node, passes []nets.Pass, feats, adjoints []*graph.Node) (params map[string]*graph.Node, images []*graph.Node) {
	var inner *graph.Node
	for i, d := range adjoints {
		if d == nil || passes[i].NoGrad {
			continue
		}
		v := graph.ReduceAllSum(graph.Mul(feats[i], graph.StopGradient(d)))
		if inner != nil {
			v = graph.Add(inner, v)
		}
		inner = v
	}
	params, images = map[string]*graph.Node{}, make([]*graph.Node, len(inputs))
	var leaves []*graph.Node
	for _, p := range t.params {
		leaves = append(leaves, values[p.Name])
	}
	for _, x := range inputs {
		if x != nil {
			leaves = append(leaves, x)
		}
	}
	grads := graph.Gradient(inner, leaves...)
	for i, p := range t.params {
		params[p.Name] = grads[i]
	}
	grads = grads[len(t.params):]
	for i, x := range inputs {
		if x != nil {
			images[i], grads = grads[0], grads[1:]
		}
	}
	return params, images
}
