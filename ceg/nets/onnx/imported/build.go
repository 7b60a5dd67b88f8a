package imported

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/datasets"
)

// matrices are a lane's inputs in training: its groups of images, as differentiable needs them.
func matrices(l nets.Lane, g *graph.Graph) (shares, members *graph.Node) {
	var a, b [][]float32
	for i, of := range l.Groups {
		row := make([]float32, 0)
		for j, other := range l.Groups {
			for range other.Images {
				v := float32(0)
				if i == j {
					v = 1 / float32(of.Images)
				}
				row = append(row, v)
			}
		}
		a = append(a, row)
		for range of.Images {
			one := make([]float32, len(l.Groups))
			one[i] = 1
			b = append(b, one)
		}
	}
	return graph.Const(g, a), graph.Const(g, b)
}

// Build implements nets.Graph.
func (t *Trainable) Build(params map[string]*graph.Node, passes []nets.Pass, train bool) nets.Features {
	lanes, updates := nets.Lanes(passes)
	f := nets.Features{Passes: make([]*graph.Node, len(passes)), Running: map[string]*graph.Node{}}
	inputs := make([]*graph.Node, len(passes))
	var running *statistics
	if train {
		running = newStatistics(t, params, updates)
	}
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
		y := t.output(params, x, l, running)
		features, from := pool(y, x.Shape().Dimensions[0], t.Output, datasets.Reading{Pool: t.Pool}), 0
		for _, p := range l.Passes {
			to := from + passes[p].Images.Shape().Dimensions[0]
			out := features
			if passes[p].Maps {
				out = asMaps(y, features)
			}
			out = graph.SliceAxis(out, 0, graph.AxisRange(from, to))
			if passes[p].NoGrad {
				out = graph.StopGradient(out)
			}
			f.Passes[p], from = out, to
		}
	}
	if running != nil {
		f.Running = running.values
	}
	f.Pull = func(adjoints []*graph.Node) (map[string]*graph.Node, []*graph.Node) {
		return t.pull(params, inputs, passes, f.Passes, adjoints)
	}
	return f
}

// output returns the network's output for a lane's images.
func (t *Trainable) output(params map[string]*graph.Node, x *graph.Node, l nets.Lane, s *statistics) *graph.Node {
	if s == nil {
		return t.call(t.test, params, x, nil, nil)[0]
	}
	var names []string
	for _, n := range t.norms {
		names = append(names, n.groupMean, n.groupVariance)
	}
	inputs := map[string]*graph.Node{}
	if len(t.norms) > 0 {
		inputs[sharesInput], inputs[membersInput] = matrices(l, x.Graph())
	}
	values := t.call(t.train, params, x, inputs, names)
	s.add(l, values[1:])
	return values[0]
}

// call adds a program to a graph and returns its output and values by name. Images are
// [n, size, size, 3].
func (t *Trainable) call(p program, params map[string]*graph.Node, images *graph.Node, inputs map[string]*graph.Node, names []string) []*graph.Node {
	if !t.last {
		images = graph.TransposeAllAxes(images, 0, 3, 1, 2)
	}
	in := map[string]*graph.Node{}
	for _, s := range p.inputs {
		switch {
		case s == t.input.name:
			in[s] = images
		case inputs[s] != nil:
			in[s] = inputs[s]
		default:
			v, ok := params[Prefix+s]
			if !ok {
				panic(fmt.Sprintf("no parameter %q", Prefix+s))
			}
			in[s] = v
		}
	}
	return p.model.CallGraph(nil, images.Graph(), in, append([]string{p.output}, names...)...)
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

// statistics computes the running statistics of BatchNormalization. Like PyTorch, it moves them by
// the momentum toward each group's statistics in turn, which gives weighted sums.
type statistics struct {
	of      *Trainable
	updates int
	values  map[string]*graph.Node
}

func newStatistics(t *Trainable, params map[string]*graph.Node, updates int) *statistics {
	s := &statistics{t, updates, map[string]*graph.Node{}}
	for _, n := range t.norms {
		weight := math.Pow(1-n.momentum, float64(updates))
		for _, name := range []string{n.mean, n.variance} {
			s.values[Prefix+name] = graph.StopGradient(graph.MulScalar(params[Prefix+name], weight))
		}
	}
	return s
}

// add includes a lane's statistics, [groups, channels]: mean and variance of each norm in turn.
func (s *statistics) add(l nets.Lane, values []*graph.Node) {
	for i, n := range s.of.norms {
		ofMean, ofVariance := make([]float32, len(l.Groups)), make([]float32, len(l.Groups))
		for k, g := range l.Groups {
			if g.Update > 0 {
				w, count := n.momentum*math.Pow(1-n.momentum, float64(s.updates-g.Update)), float64(g.Images*n.places)
				ofMean[k], ofVariance[k] = float32(w), float32(w*count/math.Max(count-1, 1))
			}
		}
		for k, w := range [][]float32{ofMean, ofVariance} {
			v := graph.StopGradient(values[2*i+k])
			name := Prefix + []string{n.mean, n.variance}[k]
			s.values[name] = graph.Add(s.values[name], graph.ReduceSum(graph.Mul(v, graph.Reshape(graph.Const(v.Graph(), w), -1, 1)), 0))
		}
	}
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
	var names []string
	for _, p := range t.params {
		if p.Kind.Trained() {
			names, leaves = append(names, p.Name), append(leaves, values[p.Name])
		}
	}
	for _, x := range inputs {
		if x != nil {
			leaves = append(leaves, x)
		}
	}
	grads := graph.Gradient(inner, leaves...)
	for i, name := range names {
		params[name] = grads[i]
	}
	grads = grads[len(names):]
	for i, x := range inputs {
		if x != nil {
			images[i], grads = grads[0], grads[1:]
		}
	}
	return params, images
}
