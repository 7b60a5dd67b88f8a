package nets

import (
	"github.com/gomlx/gomlx/core/graph"
)

// Layers of networks that generate images. They are not methods of Ops; an implementation with a
// faster form than Apply has a method of the same name.

// ConvMirrored is a 3x3 convolution with stride 1 and reflection padding (PyTorch's padding_mode
// "reflect"). Parameters are name+".weight" and, with bias, name+".bias".
func ConvMirrored(o Ops, x Maps, name string, out int, bias bool) Maps {
	type fast interface {
		ConvMirrored(x Maps, name string, out int, bias bool) Maps
	}
	if f, ok := o.(fast); ok {
		return f.ConvMirrored(x, name, out, bias)
	}
	c, h, w := x.Dims()
	wider := o.Apply(x, c, h+2, w+2, func(x *graph.Node) *graph.Node { return mirrorEdge(mirrorEdge(x, 1), 2) })
	return o.Conv(wider, name, out, 3, 1, 0, bias)
}

// mirrorEdge pads an axis by one on each side with the value next to the edge.
func mirrorEdge(x *graph.Node, axis int) *graph.Node {
	n := x.Shape().Dimensions[axis]
	return graph.Concatenate([]*graph.Node{graph.SliceAxis(x, axis, graph.AxisElem(1)), x, graph.SliceAxis(x, axis, graph.AxisElem(n-2))}, axis)
}

// instanceEps is what PyTorch's InstanceNorm2d adds to the variance.
const instanceEps = 1e-5

// InstanceNorm normalises every channel of every image by its spatial mean and standard
// deviation, without parameters.
func InstanceNorm(o Ops, x Maps) Maps {
	type fast interface {
		InstanceNorm(x Maps, eps float64) Maps
	}
	if f, ok := o.(fast); ok {
		return f.InstanceNorm(x, instanceEps)
	}
	c, h, w := x.Dims()
	return o.Apply(x, c, h, w, func(x *graph.Node) *graph.Node {
		x = graph.Sub(x, graph.ReduceAndKeep(x, graph.ReduceMean, 1, 2))
		return graph.Div(x, graph.Sqrt(graph.AddScalar(graph.ReduceAndKeep(graph.Square(x), graph.ReduceMean, 1, 2), instanceEps)))
	})
}

// WithMeans appends the spatial mean of each channel as constant maps, doubling the channels.
func WithMeans(o Ops, x Maps) Maps {
	type fast interface{ WithMeans(x Maps) Maps }
	if f, ok := o.(fast); ok {
		return f.WithMeans(x)
	}
	c, h, w := x.Dims()
	return o.Apply(x, 2*c, h, w, func(x *graph.Node) *graph.Node {
		mean := graph.BroadcastToDims(graph.ReduceAndKeep(x, graph.ReduceMean, 1, 2), x.Shape().Dimensions...)
		return graph.Concatenate([]*graph.Node{x, mean}, -1)
	})
}
