package learner

import (
	"fmt"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/objective"
)

// network is a net of the objective with what the learner needs to know of it.
type network struct {
	objective.Net
	// params are its parameters, and local their names without the net's.
	params    []nets.Param
	local     []string
	batchNorm bool
	// rests is the net while the heads alone learn.
	rests *network
}

func (l *Learner) network(n objective.Net) (*network, error) {
	net := &network{Net: n}
	if n.Backbone.Layers == nil {
		for _, p := range n.Params {
			net.local = append(net.local, strings.TrimPrefix(p.Name, n.Name+"."))
			net.params = append(net.params, p)
		}
	} else {
		params, _, err := nets.Params(n.Backbone, l.o.ImageSize)
		if err != nil {
			return nil, err
		}
		for _, p := range params {
			net.batchNorm = net.batchNorm || p.Kind == nets.RunningMean && !n.Backbone.Still
			net.local = append(net.local, p.Name)
			p.Name = net.qualifiedName(p.Name)
			net.params = append(net.params, p)
		}
		if l.o.Back.Layers != nil && n.Backbone.Name == l.o.Back.Name {
			net.Backbone = l.o.Back
		}
	}
	for i := range net.params {
		p := &net.params[i]
		p.Fixed = p.Fixed || n.Fixed
		if n.SD != 0 && p.Kind.Trained() {
			p.Kind = nets.Normal
			if len(p.Shape) > 1 { // else a bias, which SD 0 makes 0
				p.SD = n.SD
			}
		}
	}
	return net, nil
}

// qualifiedName returns a parameter's name in the learner's state.
func (n *network) qualifiedName(local string) string {
	if n.Name == objective.Backbone {
		return local
	}
	return n.Name + "." + local
}

// forwardPass is one Forward: views that went through a network together.
type forwardPass struct {
	net   *network
	views []objective.View
	// images is the number of images that were computed.
	images int
	// out are the views' outputs, at which gradients end; nil where none flow.
	out []*Node
	// pull back-propagates gradients of out to the parameters (by their names in the
	// network) and to the views' images.
	pull func(adjoints []*Node) (params map[string]*Node, images []*Node)
}

// rowRange is some rows of a view, as rows of a pass.
type rowRange struct{ pass, from, to int }

// of returns the range of all rows, which is x itself if it is whole.
func (p rowRange) of(x *Node) *Node {
	if p.from == 0 && p.to == x.Shape().Dimensions[0] {
		return x
	}
	return SliceAxis(x, 0, AxisRange(p.from, p.to))
}

// concatRows puts rows under each other.
func concatRows(rows []*Node) *Node {
	if len(rows) == 1 {
		return rows[0]
	}
	return Concatenate(rows, 0)
}

// groupPasses distributes views over passes. A network without BatchNorm treats every
// image by itself, so that all views with and all without gradients travel as one
// batch each, and a view without gradients of the same images as one with them is
// that one: the same result from fewer, larger matrix products.
func (l *Learner) groupPasses(batchNorm bool, views []objective.View) (passes []nets.Pass, ranges [][]rowRange) {
	ranges = make([][]rowRange, len(views))
	rows := func(v objective.View) int { return v.Images.Shape().Dimensions[0] }
	if l.o.computed().Vector > 0 { // small products: copying costs more
		for i, v := range views {
			passes = append(passes, nets.Pass{Images: v.Images, NoGrad: v.NoGrad, ImageGrad: v.ImageGrad, Maps: v.Maps})
			ranges = append(ranges[:i], []rowRange{{i, 0, rows(v)}})
		}
		return passes, ranges
	}
	if batchNorm {
		groups := map[string]int{}
		for i, v := range views {
			parts, n := max(v.Parts, 1), rows(v)
			if n%parts != 0 {
				panic(fmt.Sprintf("view %q of %d images in %d parts", v.Name, n, parts))
			}
			name := "group " + v.Group
			if v.Group == "" {
				name = fmt.Sprint("view ", i)
			}
			for k := range parts {
				key := fmt.Sprint(name, " ", k)
				if _, ok := groups[key]; !ok {
					groups[key] = len(groups)
				}
				images := v.Images
				if parts > 1 {
					images = l.images(images, k*n/parts, (k+1)*n/parts)
				}
				ranges[i] = append(ranges[i], rowRange{len(passes), 0, n / parts})
				passes = append(passes, nets.Pass{Images: images, NoGrad: v.NoGrad, ImageGrad: v.ImageGrad, Maps: v.Maps,
					Group: groups[key], UpdateStats: !v.Frozen})
			}
		}
		return passes, ranges
	}
	type kind struct{ noGrad, imageGrad, maps bool }
	kindOf := func(v objective.View) kind { return kind{v.NoGrad, v.ImageGrad, v.Maps} }
	// Gradients first: the views without them may find their images there.
	for _, k := range []kind{{}, {maps: true}, {imageGrad: true}, {imageGrad: true, maps: true}, {noGrad: true}, {noGrad: true, maps: true}} {
		var images []*Node
		at := 0
		for i, v := range views {
			if kindOf(v) != k {
				continue
			}
			if same := sameImages(views, ranges, i); same >= 0 {
				ranges[i] = ranges[same]
				continue
			}
			images = append(images, v.Images)
			ranges[i] = []rowRange{{len(passes), at, at + rows(v)}}
			at += rows(v)
		}
		if at > 0 {
			passes = append(passes, nets.Pass{Images: Concatenate(images, 0), NoGrad: k.noGrad, ImageGrad: k.imageGrad, Maps: k.maps, Group: len(passes)})
		}
	}
	return passes, ranges
}

// sameImages returns a view that has ranges already and computes all that view i
// needs, or -1.
func sameImages(views []objective.View, ranges [][]rowRange, i int) int {
	if !views[i].NoGrad {
		return -1
	}
	for j, v := range views {
		if len(ranges[j]) > 0 && v.Images == views[i].Images && v.Maps == views[i].Maps {
			return j
		}
	}
	return -1
}

// forward builds a forward pass. It returns the views' outputs, those without gradients
// included, and the updated running statistics by their names in the network.
func (l *Learner) forward(net *network, params map[string]*Node, views []objective.View) (t *forwardPass, outputs []*Node, running map[string]*Node) {
	passes, ranges := l.groupPasses(net.batchNorm, views)
	f := l.build(net.Backbone, params, passes, !l.evaluation && !net.Backbone.Still)
	t = &forwardPass{net: net, views: views, out: make([]*Node, len(views))}
	for _, p := range passes {
		t.images += p.Images.Shape().Dimensions[0]
	}
	for v := range views {
		var rows []*Node
		for _, p := range ranges[v] {
			rows = append(rows, p.of(f.Passes[p.pass]))
		}
		out := constant(concatRows(rows))
		if !views[v].NoGrad {
			t.out[v] = out
		}
		outputs = append(outputs, out)
	}
	t.pull = func(adjoints []*Node) (map[string]*Node, []*Node) {
		byPass := make([][]*Node, len(passes))
		for v, d := range adjoints {
			from := 0
			for _, p := range ranges[v] {
				if d == nil && t.out[v] != nil {
					d = ZerosLike(t.out[v]) // another view of the pass may have one
				}
				if d != nil {
					byPass[p.pass] = append(byPass[p.pass], rowRange{0, from, from + p.to - p.from}.of(d))
				}
				from += p.to - p.from
			}
		}
		passAdjoints := make([]*Node, len(passes))
		for i, rows := range byPass {
			if len(rows) > 0 {
				passAdjoints[i] = concatRows(rows)
			}
		}
		grads, imageGrads := f.Pull(passAdjoints)
		images := make([]*Node, len(views))
		for v, w := range views {
			if !w.ImageGrad || w.NoGrad {
				continue
			}
			var rows []*Node
			for _, p := range ranges[v] {
				rows = append(rows, p.of(imageGrads[p.pass]))
			}
			images[v] = concatRows(rows)
		}
		return grads, images
	}
	return t, outputs, f.Running
}

// images copies some of the images, on the Go backend by its Gather, which copies
// runs where Slice visits element by element.
func (l *Learner) images(all *Node, from, to int) *Node {
	if l.backend.Kind == engine.Go {
		return GatherSlices(all, []int{0}, Const(all.Graph(), []int32{int32(from)}), []int{to - from}, true)
	}
	return SliceAxis(all, 0, AxisRange(from, to))
}

// constant returns x as a node of its own without a gradient, at which gradients
// of others may end.
func constant(x *Node) *Node { return Identity(StopGradient(x)) }
