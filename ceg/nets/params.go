package nets

import (
	"fmt"
	"math"
	"slices"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/datasets/seed"
)

// Kind is the kind of a parameter, which determines its initialisation.
type Kind uint8

const (
	// ConvWeight is a kernel [out, in, ky, kx] of a convolution without bias, as
	// before BatchNorm.
	ConvWeight Kind = iota
	// BiasedConvWeight is a kernel [out, in, ky, kx] of a convolution with bias.
	BiasedConvWeight
	// LinearWeight is a linear layer's matrix [out, in].
	LinearWeight
	// LinearBias is a linear layer's bias [out].
	LinearBias
	// ConvBias is a convolution's bias [out].
	ConvBias
	// Scale is BatchNorm's weight [channels].
	Scale
	// Shift is BatchNorm's bias [channels].
	Shift
	// RunningMean is a BatchNorm statistic [channels], not trained.
	RunningMean
	// RunningVar is a BatchNorm statistic [channels], not trained.
	RunningVar
	// Normal is any parameter initialised from N(0, Param.SD^2).
	Normal
)

// Trained reports whether parameters of this kind are trained.
func (k Kind) Trained() bool { return k != RunningMean && k != RunningVar }

// Param describes one parameter of a network.
type Param struct {
	// Name is the state-dict name, such as "layer1.0.conv1.weight".
	Name  string
	Shape []int
	Kind  Kind
	// FanIn is the number of inputs that each output sums over, and FanOut, for kernels, the
	// number of outputs that each input contributes to; zero for parameters outside sums.
	FanIn, FanOut int
	// SD is the initial standard deviation of a Normal parameter.
	SD float64
	// Fixed freezes the parameter, whatever its kind.
	Fixed bool
	// Added marks a parameter that was added to the network and is not in its pretrained
	// weights.
	Added bool
}

// Trained reports whether the parameter is trained.
func (p Param) Trained() bool { return !p.Fixed && p.Kind.Trained() }

// Size returns the number of values.
func (p Param) Size() int {
	n := 1
	for _, d := range p.Shape {
		n *= d
	}
	return n
}

// Init returns initial values, from a random stream named after the parameter. Linear layers and
// convolutions with bias have PyTorch's default, U(+-1/sqrt(fan-in)) for weights and bias.
// Convolutions before BatchNorm have torchvision's, normal with standard deviation
// sqrt(2/fan-out) (He et al. 2015). BatchNorm's scale and running variance are 1, its other
// values 0.
//
// (Kaiming-normal kernels, as in the Digits-DG benchmark, double the power of activations at
// every max-pooling. With them, four convolutions do not train at the learning rates that suit
// PyTorch's default.)
func (p Param) Init(s uint64) []float32 {
	v := make([]float32, p.Size())
	r := seed.New(s, "init "+p.Name)
	switch p.Kind {
	case ConvWeight:
		sd := math.Sqrt(2 / float64(p.FanOut))
		for i := range v {
			v[i] = float32(sd * r.NormFloat64())
		}
	case Normal:
		for i := range v {
			v[i] = float32(p.SD * r.NormFloat64())
		}
	case BiasedConvWeight, ConvBias, LinearWeight, LinearBias:
		bound := 1 / math.Sqrt(float64(p.FanIn))
		for i := range v {
			v[i] = float32(bound * (2*r.Float64() - 1))
		}
	case Scale, RunningVar:
		for i := range v {
			v[i] = 1
		}
	}
	return v
}

// Params lists the parameters of a backbone for square images of the given size (irrelevant for
// vectors), in forward order, and the length of its feature vector. Images too small for the
// network are an error.
func Params(b Backbone, size int) (params []Param, features int, err error) {
	if b.Fixed != nil {
		defer func() {
			params = slices.Clone(params) // a graph's are its own
			for i := range params {
				params[i].Fixed = params[i].Fixed || b.Fixed[params[i].Name]
			}
		}()
	}
	if b.Graph != nil {
		return b.Graph.Params(size)
	}
	defer func() {
		if r := recover(); r != nil {
			params, features, err = nil, 0, fmt.Errorf("network %s on %dx%d images: %v", b.Name, size, size, r)
		}
	}()
	rec, last := record(b, size)
	features = last.c // channels, with NoPool
	if b.Pooling == config.FlattenPool {
		features *= last.h * last.w
	}
	return rec.params, features, nil
}

// MapSizes are total sizes of feature maps, in numbers per image.
type MapSizes struct {
	// Inputs is the total size of the inputs of all convolutions, which the backward pass needs.
	Inputs int
	// Largest is the size of the largest map.
	Largest int
}

// MapSizesOf returns the map sizes of a backbone for square images of a size that [Params]
// accepts.
func MapSizesOf(b Backbone, size int) MapSizes {
	if b.Graph != nil {
		return b.Graph.MapSizes()
	}
	rec, _ := record(b, size)
	return rec.sizes
}

// Same is TensorFlow's padding: an output of side ceil(side/stride), with an odd row or column
// of zeros at the end. With stride 2 and an even side it pads one row or column less at the
// start than PyTorch's usual (kernel-1)/2.
const Same = -1

// Padding returns the numbers of zeros before and after an axis: padding twice, unless it is
// [Same].
func Padding(side, kernel, stride, padding int) (before, after int) {
	if padding != Same {
		return padding, padding
	}
	total := max((OutSize(side, kernel, stride, Same)-1)*stride+kernel-side, 0)
	return total / 2, total - total/2
}

// OutSize returns the output side of a convolution or pooling, as in PyTorch: floor((in +
// 2*padding - kernel) / stride) + 1, or with [Same] padding ceil(in / stride). It panics if the
// kernel exceeds the padded input.
func OutSize(in, kernel, stride, padding int) int {
	if padding == Same {
		return (in + stride - 1) / stride
	}
	if in+2*padding < kernel {
		panic(fmt.Sprintf("a map of side %d is too small for kernel %d with padding %d", in, kernel, padding))
	}
	return (in+2*padding-kernel)/stride + 1
}
