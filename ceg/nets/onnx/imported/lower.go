package imported

import (
	"math"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
)

// lowered is GoMLX's Go backend with convolutions and pooling expressed by operations that are
// fast there (see package flat): copies of the maps for every tap of a kernel, products, sums and
// maxima. The backend's own loops take 20 to 50 times as long; operations on other shapes than
// images still use them.
type lowered struct{ compute.Backend }

// Builder implements compute.Backend.
func (b *lowered) Builder(name string) compute.Builder { return builder{b.Backend.Builder(name)} }

type builder struct{ compute.Builder }

// Main implements compute.Builder.
func (b builder) Main() compute.Function { return function{b.Builder.Main()} }

type function struct{ compute.Function }

// steps adds operations to a function until one fails.
type steps struct {
	compute.Function
	err error
}

func (s *steps) do(v compute.Value, err error) compute.Value {
	if s.err == nil {
		s.err = err
	}
	return v
}

func (s *steps) reshape(x compute.Value, dims ...int) compute.Value {
	if s.err != nil {
		return nil
	}
	return s.do(s.Reshape(x, dims...))
}

// swap transposes [n, c, h, w] to [c, n, h, w], and back.
func (s *steps) swap(x compute.Value, d []int) compute.Value {
	switch {
	case s.err != nil:
		return nil
	case d[0] == 1 || d[1] == 1:
		return s.reshape(x, d[1], d[0], d[2], d[3])
	}
	return s.do(s.Transpose(x, 1, 0, 2, 3))
}

// window is the size, stride and padding of a window on maps.
type window struct {
	in, out, kernel, stride [2]int
	pads                    [2][2]int
}

// newWindow returns the window over two axes; strides and pads may be nil.
func newWindow(in, kernel, strides []int, pads [][2]int) (w window) {
	for i := range 2 {
		w.in[i], w.kernel[i], w.stride[i] = in[i], kernel[i], 1
		if strides != nil {
			w.stride[i] = strides[i]
		}
		if pads != nil {
			w.pads[i] = pads[i]
		}
		w.out[i] = (in[i]+w.pads[i][0]+w.pads[i][1]-kernel[i])/w.stride[i] + 1
	}
	return w
}

// taps pads maps [a, b, h, w] with a value and returns, for each position of the kernel, the
// pixels [a, b, out, out] that it sees.
func (s *steps) taps(x compute.Value, a, b int, w window, border float32) (list []compute.Value) {
	if w.pads != [2][2]int{} && s.err == nil {
		fill := s.do(s.Constant([]float32{border}))
		if s.err == nil {
			var axes [4]compute.PadAxis
			for i, p := range w.pads {
				axes[2+i] = compute.PadAxis{Start: p[0], End: p[1]}
			}
			x = s.do(s.Pad(x, fill, axes[:]...))
		}
	}
	for i := range w.kernel[0] {
		for j := range w.kernel[1] {
			if s.err != nil {
				return nil
			}
			if w.kernel == [2]int{1, 1} && w.stride == [2]int{1, 1} {
				return []compute.Value{x}
			}
			list = append(list, s.do(s.Slice(x, []int{0, 0, i, j},
				[]int{a, b, i + (w.out[0]-1)*w.stride[0] + 1, j + (w.out[1]-1)*w.stride[1] + 1}, []int{1, 1, w.stride[0], w.stride[1]})))
		}
	}
	return list
}

// depthwise computes a depthwise convolution of maps [c, n, h, w] by one matrix product per
// channel. The rows that a row of outputs sees are multiplied by a matrix with the kernel's rows
// at the position of every output. This takes more multiplications than needed, but a fraction of
// the time of one copy per tap.
func (s *steps) depthwise(x, kernel compute.Value, c, n int, w window) compute.Value {
	width, out := w.in[1], w.out[1]
	place := make([]float32, w.kernel[1]*width*out)
	for t := range w.kernel[1] {
		for o := range out {
			if j := o*w.stride[1] + t - w.pads[1][0]; j >= 0 && j < width {
				place[(t*width+j)*out+o] = 1
			}
		}
	}
	rows := w
	rows.kernel[1], rows.stride[1], rows.pads[1], rows.out[1] = 1, 1, [2]int{}, width
	list := s.taps(x, c, n, rows, 0)
	for i := range list {
		list[i] = s.reshape(list[i], c, n*w.out[0], width)
	}
	kernel = s.reshape(kernel, c*w.kernel[0], w.kernel[1])
	if s.err != nil {
		return nil
	}
	all, places := list[0], s.do(s.Constant(place, w.kernel[1], width*out))
	if len(list) > 1 {
		all = s.do(s.Concatenate(2, list...))
	}
	if s.err != nil {
		return nil
	}
	matrix := s.do(s.DotGeneral(kernel, []int{1}, nil, places, []int{0}, nil, compute.DotGeneralConfig{}))
	matrix = s.reshape(matrix, c, w.kernel[0]*width, out)
	if s.err != nil {
		return nil
	}
	return s.do(s.DotGeneral(all, []int{2}, []int{0}, matrix, []int{1}, []int{0}, compute.DotGeneralConfig{}))
}

// images reports whether the axes are in the order of ONNX's images.
func images(a compute.ConvolveAxesConfig) bool {
	return len(a.InputSpatial) == 2 && a.InputBatch == 0 && a.InputChannels == 1 && a.OutputBatch == 0 && a.OutputChannels == 1 && a.KernelOutputChannels == 0 &&
		a.KernelInputChannels == 1 && a.InputSpatial[0] == 2 && a.KernelSpatial[0] == 2 && a.OutputSpatial[0] == 2
}

func ones(list []int) bool {
	for _, v := range list {
		if v > 1 {
			return false
		}
	}
	return true
}

// ConvGeneral implements compute.Function.
func (f function) ConvGeneral(input, kernel compute.Value, axes compute.ConvolveAxesConfig, strides []int, paddings [][2]int,
	inputDilations, kernelDilations []int, groups, batchGroups int) (compute.Value, error) {
	x, err := f.Shape(input)
	if err != nil {
		return nil, err
	}
	k, err := f.Shape(kernel)
	if err != nil {
		return nil, err
	}
	groups = max(groups, 1)
	if !images(axes) || x.DType != dtypes.Float32 || !ones(inputDilations) || !ones(kernelDilations) || batchGroups > 1 || x.Dimensions[1] != k.Dimensions[1]*groups || k.Dimensions[0]%groups != 0 {
		return f.Function.ConvGeneral(input, kernel, axes, strides, paddings, inputDilations, kernelDilations, groups, batchGroups)
	}
	s := &steps{Function: f.Function}
	n, c, o := x.Dimensions[0], x.Dimensions[1], k.Dimensions[0]
	w := newWindow(x.Dimensions[2:], k.Dimensions[2:], strides, paddings)
	if w.out[0] < 1 || w.out[1] < 1 {
		return f.Function.ConvGeneral(input, kernel, axes, strides, paddings, inputDilations, kernelDilations, groups, batchGroups)
	}
	pixels, taps := n*w.out[0]*w.out[1], w.kernel[0]*w.kernel[1]
	maps := s.swap(input, x.Dimensions)
	var y compute.Value
	if groups == c && o == c {
		y = s.depthwise(maps, kernel, c, n, w)
	} else {
		list := s.taps(maps, c, n, w, 0)
		columns := list[:len(list):len(list)]
		for i := range columns {
			columns[i] = s.reshape(columns[i], c, 1, pixels)
		}
		var all compute.Value
		if len(columns) == 1 {
			all = columns[0]
		} else if s.err == nil {
			all = s.do(s.Concatenate(1, columns...))
		}
		if groups == 1 {
			all, kernel = s.reshape(all, c*taps, pixels), s.reshape(kernel, o, c*taps)
			if s.err == nil {
				y = s.do(s.DotGeneral(kernel, []int{1}, nil, all, []int{0}, nil, compute.DotGeneralConfig{}))
			}
		} else {
			all, kernel = s.reshape(all, groups, c/groups*taps, pixels), s.reshape(kernel, groups, o/groups, c/groups*taps)
			if s.err == nil {
				y = s.do(s.DotGeneral(kernel, []int{2}, []int{0}, all, []int{1}, []int{0}, compute.DotGeneralConfig{}))
			}
		}
	}
	d := []int{o, n, w.out[0], w.out[1]}
	y = s.swap(s.reshape(y, d...), d)
	return y, s.err
}

// mostTaps is the maximum size of a window that is split into taps at once. Larger windows are
// reduced along one axis after the other.
const mostTaps = 64

// ReduceWindow implements compute.Function.
func (f function) ReduceWindow(input compute.Value, kind compute.ReduceOpType, kernel, strides, inputDilations, windowDilations []int, paddings [][2]int) (compute.Value, error) {
	own := func() (compute.Value, error) {
		return f.Function.ReduceWindow(input, kind, kernel, strides, inputDilations, windowDilations, paddings)
	}
	x, err := f.Shape(input)
	if err != nil {
		return nil, err
	}
	if len(kernel) != 4 || len(strides) != 4 || x.DType != dtypes.Float32 || kind != compute.ReduceOpMax && kind != compute.ReduceOpSum || kernel[0]*kernel[1] != 1 || !ones(strides[:2]) ||
		!ones(inputDilations) || !ones(windowDilations) || len(paddings) == 4 && (paddings[0] != [2]int{} || paddings[1] != [2]int{}) || paddings != nil && len(paddings) != 4 {
		return own()
	}
	var pads [][2]int
	if paddings != nil {
		pads = paddings[2:]
	}
	w := newWindow(x.Dimensions[2:], kernel[2:], strides[2:], pads)
	if w.out[0] < 1 || w.out[1] < 1 {
		return own()
	}
	if kernel[2]*kernel[3] > mostTaps && kernel[2] > 1 && kernel[3] > 1 {
		for i := 2; i < 4 && err == nil; i++ {
			one, by, around := []int{1, 1, 1, 1}, []int{1, 1, 1, 1}, make([][2]int, 4)
			one[i], by[i], around[i] = kernel[i], strides[i], w.pads[i-2]
			input, err = f.ReduceWindow(input, kind, one, by, nil, nil, around)
		}
		return input, err
	}
	border, join := float32(0), f.Function.Add
	if kind == compute.ReduceOpMax {
		border, join = float32(math.Inf(-1)), f.Function.Max
	}
	s := &steps{Function: f.Function}
	list := s.taps(input, x.Dimensions[0], x.Dimensions[1], w, border)
	for s.err == nil && len(list) > 1 {
		list = append(list[2:], s.do(join(list[0], list[1])))
	}
	if s.err != nil {
		return nil, s.err
	}
	return list[0], nil
}
