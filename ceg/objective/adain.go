package objective

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
)

// Names of AdaIN's networks: an encoder and a decoder.
const (
	StyleEncoder = "vgg"
	StyleDecoder = "decoder"
)

// VGG19 holds the channels of the four VGG-19 stages that AdaIN uses.
var VGG19 = [4]int{64, 128, 256, 512}

// AdaIN is half-way style transfer by adaptive instance normalization (Huang and Belongie,
// "Arbitrary Style Transfer in Real-Time with Adaptive Instance Normalization", ICCV 2017;
// naoto0804/pytorch-AdaIN's net.py and function.py, with alpha 0.5):
//
//	f = encoder(x/255)                                       at relu4_1
//	t = (f - mean f)/sd f * sd f_style + mean f_style        an image and channel
//	x' = 255 * decoder((t + f)/2)
//
// sd is sqrt(variance + 1e-5), the variance with divisor n-1. x' is not clipped; it is cropped to
// the size of x, which it exceeds if the side is not a multiple of 8. channels are the numbers of
// channels of the networks' stages, [VGG19] in the paper.
func AdaIN(channels [4]int) Style {
	return Style{
		Nets: func(Dims) []Net {
			return []Net{{Name: StyleEncoder, Backbone: styleEncoder(channels), Fixed: true, FromFile: true},
				{Name: StyleDecoder, Backbone: styleDecoder(channels), Fixed: true, FromFile: true}}
		},
		Move: func(s Step, images, partner *Node) *Node {
			f := s.Forward(StyleEncoder, View{Images: DivScalar(images, 255), NoGrad: true, Maps: true})[0]
			moved := s.Forward(StyleDecoder, View{Images: towardsStyle(f, partner, 0.5), NoGrad: true})[0]
			d := images.Shape().Dimensions
			return MulScalar(Slice(moved, AxisRange(), AxisRange(0, d[1]), AxisRange(0, d[2]), AxisRange()), 255)
		},
	}
}

// towardsStyle moves the mean and the standard deviation of every channel of maps [n, h, w, c] by
// a share toward its partner's, int32 [n].
func towardsStyle(maps, partner *Node, share float64) *Node {
	d := maps.Shape().Dimensions
	mean := ReduceAndKeep(maps, ReduceMean, 1, 2)
	away := Sub(maps, mean)
	variance := DivScalar(ReduceAndKeep(Square(away), ReduceSum, 1, 2), float64(max(d[1]*d[2]-1, 1)))
	sd := Sqrt(AddScalar(variance, 1e-5))
	of := func(v *Node) *Node { return Gather(v, InsertAxes(partner, 1)) }
	target := Add(Mul(Div(away, sd), of(sd)), of(mean))
	return Add(MulScalar(target, share), MulScalar(maps, 1-share))
}

// styleEncoder is VGG-19 to relu4_1 with a 1x1 convolution in front. Layers are named
// by their index in pytorch-AdaIN's nn.Sequential.
func styleEncoder(channels [4]int) nets.Backbone {
	a, b, c, d := channels[0], channels[1], channels[2], channels[3]
	return nets.Backbone{
		Name: fmt.Sprintf("adain-encoder-w%d", a), Pooling: nets.NoPool,
		Layers: func(o nets.Ops, x nets.Maps) nets.Maps {
			conv := func(name string, out int) { x = o.ReLU(nets.ConvMirrored(o, x, name, out, true)) }
			pool := func() { x = o.MaxPool(evenSides(o, x), 2, 2, 0) }
			x = o.Conv(x, "0", 3, 1, 1, 0, true)
			conv("2", a)
			conv("5", a)
			pool()
			conv("9", b)
			conv("12", b)
			pool()
			for _, name := range []string{"16", "19", "22", "25"} {
				conv(name, c)
			}
			pool()
			conv("29", d)
			return x
		},
	}
}

// styleDecoder mirrors styleEncoder.
func styleDecoder(channels [4]int) nets.Backbone {
	a, b, c, d := channels[0], channels[1], channels[2], channels[3]
	return nets.Backbone{
		Name: fmt.Sprintf("adain-decoder-w%d", a), Channels: d, Pooling: nets.NoPool,
		Layers: func(o nets.Ops, x nets.Maps) nets.Maps {
			conv := func(name string, out int) { x = o.ReLU(nets.ConvMirrored(o, x, name, out, true)) }
			up := func() { x = doubled(o, x) }
			conv("1", c)
			up()
			conv("5", c)
			conv("8", c)
			conv("11", c)
			conv("14", b)
			up()
			conv("18", b)
			conv("21", a)
			up()
			conv("25", a)
			return nets.ConvMirrored(o, x, "28", 3, true)
		},
	}
}

// evenSides repeats the last row and column of odd maps, so that 2x2 windows at the
// edge take what there is.
func evenSides(o nets.Ops, x nets.Maps) nets.Maps {
	c, h, w := x.Dims()
	if h%2 == 0 && w%2 == 0 {
		return x
	}
	return o.Apply(x, c, h+h%2, w+w%2, func(x *Node) *Node {
		for _, axis := range []int{1, 2} {
			if n := x.Shape().Dimensions[axis]; n%2 != 0 {
				x = Concatenate([]*Node{x, SliceAxis(x, axis, AxisElem(n-1))}, axis)
			}
		}
		return x
	})
}

// doubled repeats every place 2x2.
func doubled(o nets.Ops, x nets.Maps) nets.Maps {
	c, h, w := x.Dims()
	return o.Apply(x, c, 2*h, 2*w, func(x *Node) *Node {
		n := x.Shape().Dimensions[0]
		x = BroadcastToDims(Reshape(x, n, h, 1, w, 1, c), n, h, 2, w, 2, c)
		return Reshape(x, n, 2*h, 2*w, c)
	})
}
