package imported

import (
	"math"
	"slices"

	"github.com/ledg-go/ledg/ceg/nets"
)

// pad is a Pad by nothing, or with zeros that the convolution after it sees.
func (l *layered) pad(x *term, n *node) *term {
	pads := l.constants[n.in[1]]
	fits(pads.whole != nil)
	if !slices.ContainsFunc(pads.whole, func(v int64) bool { return v != 0 }) {
		return x
	}
	mode := n.get("mode")
	fits(len(n.in) <= 3 && (mode == nil || mode.s == "constant") && l.number(n, 2, 0) == 0)
	y := imageOf(l.square(x))
	p := pads.whole
	fits(len(p) == 8 && p[0] == 0 && p[1] == 0 && p[4] == 0 && p[5] == 0)
	y.padded = []int64{p[2], p[3], p[6], p[7]}
	return y
}

// conv is a convolution of maps and zeros around them.
func (l *layered) conv(x nets.Maps, n *node, zeros []int64) nets.Maps {
	fits(len(n.in) == 2 || len(n.in) == 3)
	c, _, _ := x.Dims()
	weight, groups := l.constants[n.in[1]], int(n.int("group", 1))
	d := weight.dims
	fits(len(d) == 4 && d[2] == d[3] && groups > 0 && c%groups == 0 && d[0]%groups == 0 && d[1] == c/groups && len(weight.v) == d[0]*d[1]*d[2]*d[3])
	stride, padding := n.steps(x, d[2], zeros)
	var bias []float32
	if len(n.in) == 3 {
		bias = l.vector(n.in[2], d[0])
	}
	return l.to.Conv(x, weight.v, bias, d[0], d[2], stride, padding, groups)
}

// linear is a linear layer of the channels of every place.
func (l *layered) linear(x *term, n *node) *term {
	x = l.deep(x)
	last := len(x.axes) - 1
	fits(len(n.in) >= 2 && n.int("transA", 0) == 0 && n.float("alpha", 1) == 1 && n.float("beta", 1) == 1 && (n.op == "MatMul" || last == 1))
	fits(last >= 0 && x.whole(x.axes[last]))
	w := l.constants[n.in[1]]
	turned := n.int("transB", 0) != 0
	fits(len(w.dims) == 2 && w.v != nil)
	in, out := w.dims[0], w.dims[1]
	if turned {
		in, out = out, in
	}
	fits(in == x.axes[last].size() && len(w.v) == in*out && out > 0)
	weight := w.v
	if !turned {
		weight = make([]float32, in*out)
		for i := range in {
			for o := range out {
				weight[o*in+i] = w.v[i*out+o]
			}
		}
	}
	var bias []float32
	if len(n.in) == 3 {
		bias = l.vector(n.in[2], out)
	}
	y := x.with(l.to.Conv(l.maps(x), weight, bias, out, 1, 1, 0, 1))
	y.axes = slices.Clone(x.axes)
	y.axes[last] = channels(out)
	return y
}

// pool is a pooling by windows; a mean is a convolution with equal weights.
func (l *layered) pool(x nets.Maps, n *node) nets.Maps {
	a := n.get("kernel_shape")
	fits(a != nil && len(a.ints) == 2 && a.ints[0] == a.ints[1] && a.ints[0] > 0 && a.ints[0] < math.MaxInt16)
	kernel := int(a.ints[0])
	stride, padding := n.steps(x, kernel, nil)
	c, h, w := x.Dims()
	fits(n.int("ceil_mode", 0) == 0 || padding >= 0 && (h+2*padding-kernel)%stride == 0 && (w+2*padding-kernel)%stride == 0)
	if n.op == "MaxPool" {
		fits(padding >= 0)
		return l.to.MaxPool(x, kernel, stride, padding)
	}
	fits(c > 1 && padding == 0) // a Pad comes before those that count it
	return l.to.Conv(x, slices.Repeat([]float32{1 / float32(kernel*kernel)}, c*kernel*kernel), nil, c, kernel, stride, padding, c)
}

// steps are the stride and the padding of windows over maps, and zeros around them, as [nets.Padding] has it.
func (n *node) steps(x nets.Maps, kernel int, zeros []int64) (stride, padding int) {
	all := func(name string, or int64) []int64 {
		v := []int64{or, or}
		if a := n.get(name); a != nil {
			v = a.ints
		}
		fits(len(v) == 2 && v[0] == v[1] && v[0] > 0 && v[0] < math.MaxInt16)
		return v
	}
	stride = int(all("strides", 1)[0])
	fits(all("dilations", 1)[0] == 1 && kernel > 0)
	pads := []int64{0, 0, 0, 0}
	if a := n.get("pads"); a != nil {
		pads = a.ints
	}
	fits(len(pads) == 4 && (zeros == nil || slices.Min(zeros) >= 0 && slices.Max(zeros) < math.MaxInt16))
	pads = slices.Clone(pads)
	for i, p := range zeros {
		pads[i] += p
	}
	fits(slices.Min(pads) >= 0 && slices.Max(pads) < int64(kernel))
	_, h, w := x.Dims()
	if p := pads[0]; slices.Equal(pads, []int64{p, p, p, p}) {
		fits(min(h, w)+2*int(p) >= kernel)
		return stride, int(p)
	}
	top, bottom := nets.Padding(h, kernel, stride, nets.Same)
	left, right := nets.Padding(w, kernel, stride, nets.Same)
	fits(slices.Equal(pads, []int64{int64(top), int64(left), int64(bottom), int64(right)}))
	return stride, nets.Same
}
