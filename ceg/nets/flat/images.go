package flat

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
)

// Between layers, images are divided into phases; this file handles images in the usual form,
// float32 [images, h, w, c], as inputs and where a caller needs them.

// phases returns into how many phases per axis maps of the given sides are cut.
func phases(h, w int) int {
	p := 1
	for p < maxPhases && h%(2*p) == 0 && w%(2*p) == 0 && min(h, w)/(2*p) >= minSide {
		p *= 2
	}
	return p
}

// phased returns maps without phases yet, in as many of them as the sides allow.
func (f *flat) phased(c, h, w int) *maps {
	return &maps{c: c, h: h, w: w, p: phases(h, w), at: make([][]*Node, len(f.shards))}
}

// toPhases cuts the images of a shard into the phases of m.
func (f *flat) toPhases(shard int, m *maps, images *Node) []*Node {
	p, h, w := m.p, m.h/m.p, m.w/m.p
	// [images*h, p, w, p*c] to [p, images*h*w, p*c]; each row of phases is transposed by itself:
	// strides that are powers of two are slow.
	n := f.images(shard) * h * w
	x := TransposeAllAxes(Reshape(images, f.images(shard)*h, p, w*p*m.c), 1, 0, 2)
	list := make([]*Node, 0, p*p)
	for a := range p {
		row := Reshape(transpose(gatherSlice(x, []int{a}, []int{1}), n), p, m.c, n)
		for b := range p {
			list = append(list, line(gatherSlice(row, []int{b}, []int{1})))
		}
	}
	return list
}

// toImages is the inverse of toPhases.
func (f *flat) toImages(shard int, m *maps, phases []*Node) *Node {
	b, p, h, w := f.images(shard), m.p, m.h/m.p, m.w/m.p
	rows := make([]*Node, len(phases))
	for q, node := range phases {
		rows[q] = Reshape(node, 1, m.c*b*h*w)
	}
	x := Reshape(Concatenate(rows, 0), p, p, m.c, b, h, w)
	return Reshape(TransposeAllAxes(x, 3, 4, 0, 5, 1, 2), b, m.h, m.w, m.c)
}

// adjoints returns what has arrived at the phases of a shard of m.
func (f *flat) adjoints(shard int, m *maps) []*Node {
	d := make([]*Node, len(m.at[shard]))
	for q, node := range m.at[shard] {
		d[q] = f.adjointOf(node)
	}
	return d
}

// addAdjoints adds to the adjoints of the phases of a shard of m.
func (f *flat) addAdjoints(shard int, m *maps, phases []*Node) {
	for q, d := range phases {
		f.addAdjoint(m.at[shard][q], d)
	}
}

// imageGrads returns the gradients with respect to the images of the passes with ImageGrad.
func (f *flat) imageGrads(input *maps) []*Node {
	list := make([]*Node, len(f.passes))
	if input.leaf {
		return list
	}
	f.eachGrad(func(i int) {
		all := f.toImages(i, input, f.adjoints(i, input))
		row := 0
		for _, j := range f.shards[i].passes {
			n := f.passes[j].Images.Shape().Dimensions[0]
			if f.passes[j].ImageGrad {
				list[j] = SliceAxis(all, 0, AxisRange(row, row+n))
			}
			row += n
		}
	})
	return list
}

func (f *flat) Apply(in nets.Maps, channels, h, w int, do func(*Node) *Node) nets.Maps {
	x := settled(in)
	y := f.phased(channels, h, w)
	y.leaf = x.leaf
	from, to := make([]*Node, len(x.at)), make([]*Node, len(x.at))
	for i := range x.at {
		from[i] = Identity(StopGradient(f.toImages(i, x, x.at[i])))
		to[i] = do(from[i])
		to[i].AssertDims(f.images(i), h, w, channels)
		y.at[i] = f.toPhases(i, y, to[i])
	}
	if !x.leaf {
		f.backward(func(i int) {
			d := f.toImages(i, y, f.adjoints(i, y))
			inner := ReduceAllSum(Mul(to[i], StopGradient(d)))
			f.addAdjoints(i, x, f.toPhases(i, x, Gradient(inner, from[i])[0]))
		})
	}
	return y
}
