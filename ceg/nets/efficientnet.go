package nets

import (
	"fmt"
	"math"

	"github.com/ledg-go/ledg/ceg/config"
)

// liteStage is one stage of EfficientNet-Lite0: repeats blocks with a kernel size that widen their
// input by expand and end in out channels. The first block has the stride.
type liteStage struct{ repeats, kernel, stride, expand, out int }

var liteStages = []liteStage{
	{1, 3, 1, 1, 16},
	{2, 3, 2, 6, 24},
	{2, 5, 2, 6, 40},
	{3, 3, 2, 6, 80},
	{3, 5, 1, 6, 112},
	{4, 5, 2, 6, 192},
	{1, 3, 1, 6, 320},
}

// LiteWidth is the number of channels after the first convolution of the published
// EfficientNet-Lite networks.
const LiteWidth = 32

// liteScales are the width and depth coefficients of EfficientNet-Lite0 to 4.
var liteScales = [][2]float64{{1, 1}, {1, 1.1}, {1.1, 1.2}, {1.2, 1.4}, {1.4, 1.8}}

// EfficientNetLite returns EfficientNet-Lite0 to Lite4 without the class head: the network of
// Tan and Le ("EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks", ICML
// 2019) with ReLU6 in place of swish and without squeeze-and-excitation, as in tensorflow/tpu's
// efficientnet/lite (efficientnet_lite_builder.py). width is the number of channels after the
// first convolution, [LiteWidth] in the published networks. Features are the spatial means of
// the last maps, 1280 at [LiteWidth].
//
// Channels and depths follow the published rules. Channels are scaled and rounded to a multiple
// of 8, never down by more than a tenth; repeats are rounded up. The first and last convolution,
// and the repeats of the first and last stage, are not scaled. Padding is TensorFlow's SAME,
// BatchNorm has epsilon 1e-3 and momentum 0.01, and images are (RGB-127)/128. There is no
// drop-connect. Parameters have timm's names (tf_efficientnet_lite0).
//
// It returns an error for an unknown version or a width below 1.
func EfficientNetLite(version, width int) (Backbone, error) {
	if version < 0 || version >= len(liteScales) {
		return Backbone{}, fmt.Errorf("efficientnet-lite%d, want lite0 to lite%d", version, len(liteScales)-1)
	}
	if width < 1 {
		return Backbone{}, fmt.Errorf("efficientnet-lite%d of width %d, want at least 1", version, width)
	}
	narrow := float64(width) / LiteWidth
	wide, deep := liteScales[version][0]*narrow, liteScales[version][1]
	return Backbone{
		Name:    fmt.Sprintf("efficientnet-lite%d-w%d", version, width),
		Pooling: config.MeanPool,
		Norm:    Norm{Eps: 1e-3, Momentum: 0.01},
		Pixels:  Pixels{Mean: [3]float64{127. / 255, 127. / 255, 127. / 255}, Std: [3]float64{128. / 255, 128. / 255, 128. / 255}},
		Layers: func(o Ops, x Maps) Maps {
			x = o.ReLU6(o.BatchNorm(o.Conv(x, "conv_stem", width, 3, 2, Same, false), "bn1"))
			for s, stage := range liteStages {
				repeats := stage.repeats
				if s > 0 && s < len(liteStages)-1 {
					repeats = int(math.Ceil(float64(repeats) * deep))
				}
				for i := range repeats {
					stride := 1
					if i == 0 {
						stride = stage.stride
					}
					x = inverted(o, x, fmt.Sprintf("blocks.%d.%d", s, i), stage.kernel, stride, stage.expand, roundChannels(stage.out, wide))
				}
			}
			return o.ReLU6(o.BatchNorm(o.Conv(x, "conv_head", max(1, int(1280*narrow)), 1, 1, 0, false), "bn2"))
		},
	}, nil
}

// inverted is a depthwise convolution between two 1x1 convolutions, with a shortcut where the
// dimensions allow it. The first 1x1 convolution widens the maps.
func inverted(o Ops, x Maps, name string, kernel, stride, expand, out int) Maps {
	in, _, _ := x.Dims()
	y, last, norm := x, ".conv_pw", 1
	bn := func() string { norm++; return fmt.Sprintf("%s.bn%d", name, norm-1) }
	if expand > 1 {
		y = o.ReLU6(o.BatchNorm(o.Conv(x, name+".conv_pw", in*expand, 1, 1, 0, false), bn()))
		last = ".conv_pwl"
	}
	y = o.ReLU6(o.BatchNorm(o.Depthwise(y, name+".conv_dw", kernel, stride, Same), bn()))
	y = o.BatchNorm(o.Conv(y, name+last, out, 1, 1, 0, false), bn())
	if stride == 1 && in == out {
		y = o.Add(y, x)
	}
	return y
}

// roundChannels scales a number of channels as EfficientNet's round_filters does.
func roundChannels(channels int, scale float64) int {
	const divisor = 8
	if scale == 1 {
		return channels
	}
	v := float64(channels) * scale
	n := max(divisor, int(v+divisor/2)/divisor*divisor)
	if float64(n) < 0.9*v {
		n += divisor
	}
	return n
}

func init() {
	families["efficientnet-lite"] = func(known config.NetworkInfo, n config.Network, _ int) (Backbone, error) {
		return EfficientNetLite(known.Variant, n.Width)
	}
}
