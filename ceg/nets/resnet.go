package nets

import (
	"fmt"

	"github.com/ledg-go/ledg/ceg/config"
)

// ResNet returns torchvision's residual network of depth 18, 34 or 50 (He et al., "Deep Residual
// Learning for Image Recognition", CVPR 2016) without the class head. width is the number of
// channels of the first stage (64 in torchvision); each later stage doubles it. Features are the
// spatial means of the last maps: 8*width, or 32*width for depth 50. Parameters have
// torchvision's names, and in depth 50 the 3x3 convolution of a bottleneck has the stride, as
// there.
//
// It returns an error for another depth or a width below 1. Images can have any side from 32;
// smaller ones work if the maps do not vanish.
func ResNet(depth, width int) (Backbone, error) {
	blocks := map[int][4]int{18: {2, 2, 2, 2}, 34: {3, 4, 6, 3}, 50: {3, 4, 6, 3}}
	counts, ok := blocks[depth]
	if !ok {
		return Backbone{}, fmt.Errorf("resnet of depth %d, want 18, 34 or 50", depth)
	}
	if width < 1 {
		return Backbone{}, fmt.Errorf("resnet%d of width %d, want at least 1", depth, width)
	}
	block, expansion := basicBlock, 1
	if depth == 50 {
		block, expansion = bottleneck, 4
	}
	return Backbone{
		Name:    fmt.Sprintf("resnet%d-w%d", depth, width),
		Pooling: config.MeanPool,
		Layers: func(o Ops, x Maps) Maps {
			x = o.ReLU(o.BatchNorm(o.Conv(x, "conv1", width, 7, 2, 3, false), "bn1"))
			x = o.MaxPool(x, 3, 2, 1)
			for stage, n := range counts {
				mid := width << stage
				for i := range n {
					stride := 1
					if i == 0 && stage > 0 {
						stride = 2
					}
					x = block(o, x, fmt.Sprintf("layer%d.%d", stage+1, i), mid, mid*expansion, stride)
				}
			}
			return x
		},
	}, nil
}

// basicBlock is two 3x3 convolutions beside a shortcut.
func basicBlock(o Ops, x Maps, name string, mid, out, stride int) Maps {
	y := o.ReLU(o.BatchNorm(o.Conv(x, name+".conv1", mid, 3, stride, 1, false), name+".bn1"))
	y = o.BatchNorm(o.Conv(y, name+".conv2", out, 3, 1, 1, false), name+".bn2")
	return o.ReLU(o.Add(y, shortcut(o, x, name, out, stride)))
}

// bottleneck is a 3x3 convolution between two 1x1 ones, beside a shortcut.
func bottleneck(o Ops, x Maps, name string, mid, out, stride int) Maps {
	y := o.ReLU(o.BatchNorm(o.Conv(x, name+".conv1", mid, 1, 1, 0, false), name+".bn1"))
	y = o.ReLU(o.BatchNorm(o.Conv(y, name+".conv2", mid, 3, stride, 1, false), name+".bn2"))
	y = o.BatchNorm(o.Conv(y, name+".conv3", out, 1, 1, 0, false), name+".bn3")
	return o.ReLU(o.Add(y, shortcut(o, x, name, out, stride)))
}

// shortcut is the identity where the dimensions allow it, and else a 1x1
// convolution.
func shortcut(o Ops, x Maps, name string, out, stride int) Maps {
	if c, _, _ := x.Dims(); c == out && stride == 1 {
		return x
	}
	return o.BatchNorm(o.Conv(x, name+".downsample.0", out, 1, stride, 0, false), name+".downsample.1")
}

func init() {
	families["resnet"] = func(known config.NetworkInfo, n config.Network, _ int) (Backbone, error) {
		return ResNet(known.Variant, n.Width)
	}
}
