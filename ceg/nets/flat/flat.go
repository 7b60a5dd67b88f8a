// Package flat builds backbones for GoMLX's pure-Go backend from the operations that are fast
// there: matrix products, concatenation, and element-wise operations on equal shapes. It
// implements nets.Ops; [Build] adds a network to a graph.
//
// # Layout
//
// A feature map is a matrix [channels, images*height*width]. A convolution is one product of its
// weights with a column matrix (im2col), which holds a shifted copy of the map for each position
// (tap) of the kernel. Pixels that the shift would move across an image's edge are first cleared
// by a 0/1 mask. In order of decreasing shift the copies do not overlap, so the column matrix is
// one flat Concatenate of whole maps with zeros between them, which is a memcpy.
//
// A map is also divided into phases: with p x p phases, phase (a, b) holds the pixels (p*i+a,
// p*j+b). Max-pooling is then an element-wise maximum of phases, and a stride selects some of
// them, so nothing is sliced. Most taps of a phase read another phase without a shift and need
// no mask. Phases are independent nodes, so operations that use one core each run in parallel.
//
// A 3x3 convolution with stride 1 on phases needs no column matrix: winograd.go computes tiles
// of 2x2 outputs with 16 instead of 36 products.
//
// The images of many passes are concatenated in one map, since every node has a fixed cost. They
// are divided into a few shards, which bounds the memory in use. BatchNorm, the only layer that
// mixes images, sums over segments of a shard. Without batch statistics, passes are divided
// among shards arbitrarily. A ReLU before max-pooling is computed after it, on a quarter of the
// values, with the same maps and gradients.
//
// # Costs
//
// Measured with AVX-512 on two cores (compute v0.1.14, Go 1.27), in core-ns per element unless
// stated otherwise; from cold memory, operations take up to three times as long.
//
//   - A product of more than 4 Mi multiply-adds takes 0.008 to 0.014 ns for each,
//     close to the cores' peak. In addition, its left operand is packed at 0.4,
//     once for every 512 columns of the right one. The right one is packed at 0.1
//     to 0.3, or at 0.3 by a scalar loop if its rows are contracted. The product is
//     divided among cores by rows unless the result has more than about 1500 columns,
//     and each core packs the right operand again. So shards have that many
//     columns, and a gradient's product has its larger operand on the left, with
//     contracted rows. A batched product is not divided, and concatenating the
//     batch costs what it saves.
//   - A smaller product runs on one core without packing, at 0.018 to 0.022 ns
//     for a multiply-add. The Winograd filtering of a narrow network, with 16
//     products of 64 by 64 channels, is faster this way by a fifth of a step, so
//     its shards are smaller.
//   - Concatenate and Gather copy runs at 0.3 to 0.4. Slice takes 2, element by
//     element, even if the part is contiguous.
//   - A binary operation takes 0.2 to 0.35, also with a broadcast column [n, 1],
//     which BatchNorm uses; a comparison takes 0.8. The derivative of ReLU is one
//     operation on all cores, and serves max-pooling as well: it selects b or a by
//     the sign of b-a.
//   - ReduceSum of rows takes 0.1, a product with ones 0.2.
//   - A matrix transposition takes 0.7 on all cores, but several times that
//     if the strides are powers of two; a block transposition (1, 0, 2) copies runs;
//     any other permutation takes 4 to 8. So phases are cut by one of the first two.
//   - Reshape is free if nothing else reads its operand, and else copies.
//
// In ResNet-18 with 64 channels at 64 pixels, large products take 34% of a step, packing 15%,
// binary operations (Winograd sums, BatchNorm, SGD) 22%, copies 9%, and transpositions 4%. Both
// cores are always busy.
//
// These did not help when measured:
//   - transposing an operand of the gradients' products first, which costs as much
//     as the scalar packing
//   - fewer executors than the backend's eight
//   - Winograd filtering of layers with 16 channels, which costs a tenth of the step
//   - recomputing Winograd inputs in the backward pass, which saves no memory and
//     costs 4% of DDAIG's step on one core, 10% on two
//   - FusedDense, which adds its bias along the columns: pixels here
//
// # Plain graphs instead
//
// A decorator of compute.Backend could turn the convolutions of a plain GoMLX graph, and of its
// derivative, into the same products and copies. It would have some 900 lines instead of 2,500.
// It sees one operation at a time, so maps between layers have no phases.
//
// What that costs at least was measured by this package itself: with its own backward steps, shards
// and late ReLU, but with maps of one phase below 128 channels. A second variant also filtered
// all layers from 24 channels, whose maps it divided and joined around each convolution. Both
// passed the tests of values. The table has the speed of CEG's training step relative to this
// package. It is CPU time, medians of 3 alternating pairs, beside other work on two cores with
// AVX-512.
//
//	                          column matrices  filtering
//	smallcnn w64, 32 pixels              0.41       0.41
//	resnet18 w16, 64 pixels              0.62       0.61
//	resnet18 w64, 64 pixels              0.85       0.73
//
// In smallcnn the large products and their packing alone take 0.33 s there, and the whole step
// 0.38 s here. GoMLX's derivatives of BatchNorm, ReLU and max-pooling would come on top. The
// aim was 0.9, so the layers stay as they are.
//
// # Gradients
//
// Every layer appends its backward step to a list (reverse-mode differentiation by hand).
// GoMLX's derived gradients of slices and concatenations are many times slower than the same
// construction on the output's gradient. The tests compare both.
package flat

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
)

// Images are cut into at most maxPhases phases per axis, of at least minSide
// pixels.
const (
	maxPhases = 16
	minSide   = 4
)

// Build adds backbone b to the graph: it passes every pass through the network with the
// parameters by name (see [nets.Params] for shapes), in training or evaluation mode. It panics
// if a parameter is missing or misshapen.
func Build(b nets.Backbone, params map[string]*Node, passes []nets.Pass, train bool) nets.Features {
	columns := columnsFor(params)
	d := divide(passes, columns, train && hasBatchNorm(params))
	f := &flat{
		g:        passes[0].Images.Graph(),
		params:   params,
		division: d,
		passes:   d.microbatches,
		shards:   cut(d.microbatches, columns),
		segment:  segment(d.microbatches),
		train:    train,
		norm:     b.Norm.OrDefault(),
		memo:     map[string]*Node{},
		running:  map[string]*Node{},
	}
	input := f.input(b.In())
	last := settled(b.Layers(f, input))
	feats, pull := f.features(last, b.Pooling)
	return nets.Features{
		Passes:  d.join(feats),
		Running: f.running,
		Pull: func(adjoints []*Node) (params map[string]*Node, images []*Node) {
			f.adjoint, f.grads = map[*Node]*Node{}, map[string]*Node{}
			pull(d.divide(adjoints))
			for i := len(f.back) - 1; i >= 0; i-- {
				f.back[i]()
			}
			return f.grads, d.join(f.imageGrads(input))
		},
	}
}

// flat implements nets.Ops.
type flat struct {
	g      *Graph
	params map[string]*Node
	division
	passes []nets.Pass
	shards []shard
	// segment is the number of images that every pass is a multiple of.
	segment int
	train   bool
	norm    nets.Norm

	// memo holds nodes that several layers or phases share.
	memo map[string]*Node
	// back holds the layers' backward steps in forward order.
	back []func()
	// adjoint is the gradient of the loss with respect to a phase, and grads that
	// with respect to a parameter, while Pull is at work.
	adjoint map[*Node]*Node
	grads   map[string]*Node
	running map[string]*Node
}

// maps are the feature maps of all shards.
type maps struct {
	c, h, w int
	// p is the number of phases per axis; it divides h and w.
	p int
	// at holds for every shard its p*p phases in reading order, each a matrix
	// [c, images*(h/p)*(w/p)] as one line, [c*images*(h/p)*(w/p)]: the backend
	// copies what it reshapes unless nothing else reads it, so that matrices are
	// made where they are needed.
	at [][]*Node
	// leaf is true if no gradient is needed: the maps are the images. images is true if they are
	// images with a gradient.
	leaf, images bool
	// rectify builds these maps if they are a ReLU that was put off, in which
	// case at is what it applies to; rectified is what it has built.
	rectify   func() *maps
	rectified *maps
	// halves are these maps after split.
	halves *maps
}

func (m *maps) Dims() (c, h, w int) { return m.c, m.h, m.w }

// like returns maps of the same shards, c channels, side h x w in p phases, with
// room for the phases.
func (m *maps) like(c, h, w, p int) *maps {
	out := &maps{c: c, h: h, w: w, p: p, at: make([][]*Node, len(m.at))}
	for i := range out.at {
		out.at[i] = make([]*Node, p*p)
	}
	return out
}

// images returns the number of images of shard i.
func (f *flat) images(i int) int { return f.shards[i].images }

// grid returns the shape of one phase of shard i.
func (f *flat) grid(i int, m *maps) grid {
	return grid{images: f.images(i), h: m.h / m.p, w: m.w / m.p}
}

// grid is the shape of a phase: its columns are the pixels of images in reading
// order.
type grid struct{ images, h, w int }

func (g grid) columns() int { return g.images * g.h * g.w }

// input splits the images of every shard, with the given number of channels, into phases.
func (f *flat) input(channels int) *maps {
	d := f.passes[0].Images.Shape().Dimensions
	m := f.phased(channels, d[1], d[2])
	m.leaf = true
	for i, s := range f.shards {
		var images []*Node
		for _, j := range s.passes {
			f.passes[j].Images.AssertDims(-1, m.h, m.w, channels)
			images = append(images, f.passes[j].Images)
			m.leaf = m.leaf && !f.passes[j].ImageGrad
		}
		m.at[i] = f.toPhases(i, m, Concatenate(images, 0))
	}
	return m
}

// split doubles the phases of maps, which must have even phase sides.
func (f *flat) split(x *maps) *maps {
	if x.halves != nil {
		return x.halves
	}
	out := x.like(x.c, x.h, x.w, 2*x.p)
	x.halves = out
	out.leaf = x.leaf
	h, w := x.h/out.p, x.w/out.p
	for i := range x.at {
		b := f.images(i)
		for q, node := range x.at[i] {
			a, c := q/x.p, q%x.p
			// [c*images*h, 2, w*2] to [2, c*images*h*w, 2] to [2, 2, c*images*h*w]
			n := x.c * b * h
			v := TransposeAllAxes(Reshape(node, n, 2, w*2), 1, 0, 2)
			v = Reshape(transpose(v, 2*n*w), 2, 2, n*w)
			for s := range 4 {
				node := gatherSlice(v, []int{s % 2, s / 2}, []int{1, 1})
				out.at[i][(a+x.p*(s/2))*out.p+c+x.p*(s%2)] = line(node)
			}
		}
	}
	if x.leaf {
		return out
	}
	f.backward(func(i int) {
		b := f.images(i)
		for q, node := range x.at[i] {
			a, c := q/x.p, q%x.p
			var rows [2]*Node
			for s := range 2 {
				var cols [2]*Node
				for t := range 2 {
					part := out.at[i][(a+x.p*s)*out.p+c+x.p*t]
					cols[t] = Reshape(f.adjointOf(part), x.c, b, h, 1, w, 1)
				}
				rows[s] = Concatenate(cols[:], 5)
			}
			f.addAdjoint(node, line(Concatenate(rows[:], 3)))
		}
	})
	return out
}

// backward appends a backward step that runs for every shard with gradients.
func (f *flat) backward(step func(shard int)) {
	f.back = append(f.back, func() { f.eachGrad(step) })
}

// eachGrad calls do for every shard with gradients.
func (f *flat) eachGrad(do func(shard int)) {
	for _, i := range f.which(true) {
		do(i)
	}
}

// which lists the shards with or without gradients.
func (f *flat) which(grad bool) []int {
	var list []int
	for i, s := range f.shards {
		if s.grad == grad {
			list = append(list, i)
		}
	}
	return list
}

// adjointOf returns the gradient that has arrived at a phase, zeros if none has.
func (f *flat) adjointOf(x *Node) *Node {
	if d := f.adjoint[x]; d != nil {
		return d
	}
	return ZerosLike(x)
}

func (f *flat) addAdjoint(x, d *Node) {
	f.adjoint[x] = plus(f.adjoint[x], d)
}

func (f *flat) addGrad(name string, d *Node) {
	f.grads[name] = plus(f.grads[name], d)
}

// param returns a parameter and panics if it is missing or has another shape.
func (f *flat) param(name string, shape ...int) *Node {
	p, ok := f.params[name]
	if !ok {
		panic(fmt.Sprintf("no parameter %q", name))
	}
	p.AssertDims(shape...)
	return p
}

// once returns the node that make builds, built the first time for a key.
func (f *flat) once(key string, make func() *Node) *Node {
	n, ok := f.memo[key]
	if !ok {
		n = make()
		f.memo[key] = n
	}
	return n
}

// fill returns a node of the given shape with one value everywhere.
func (f *flat) fill(value float64, dims ...int) *Node {
	return f.once(fmt.Sprint("fill", value, dims), func() *Node {
		return BroadcastToDims(Scalar(f.g, dtypes.Float32, value), dims...)
	})
}

// spread repeats every value of a column [c, 1] n times, as one line.
func (f *flat) spread(column *Node, n int) *Node {
	return line(dot(column, f.fill(1, 1, n)))
}

// line reads a node as one line.
func line(x *Node) *Node { return Reshape(x, x.Shape().Size()) }

// dot is the matrix product of a [m, k] and b [k, n].
func dot(a, b *Node) *Node { return DotGeneral(a, []int{1}, nil, b, []int{0}, nil) }

// dotRows is the product of a [m, n] and the transpose of b [k, n].
func dotRows(a, b *Node) *Node { return DotGeneral(a, []int{1}, nil, b, []int{1}, nil) }

// plus adds two nodes of equal shape; the first may be nil.
func plus(sum, n *Node) *Node {
	if sum == nil {
		return n
	}
	return Add(sum, n)
}
