package nets

import (
	"fmt"

	"github.com/ledg-go/ledg/ceg/config"
)

// SmallCNN is the network of the Digits-DG benchmark (Zhou et al., "Deep Domain-Adversarial
// Image Generation for Domain Generalisation", 2020; Dassl's cnn_digitsdg): four blocks of a 3x3
// convolution with bias to width channels, ReLU and 2x2 max-pooling. The benchmark has width 64
// and flattens the last maps, [64, 2, 2] for 32-pixel images, to 256 features. Here ReLU follows
// the pooling: the two commute, and the maps are smaller.
func SmallCNN(width int, pooling config.Pooling) Backbone {
	return Backbone{
		Name:    fmt.Sprintf("smallcnn-w%d-%s", width, pooling),
		Pooling: pooling,
		Layers: func(o Ops, x Maps) Maps {
			for i := range 4 {
				x = o.Conv(x, fmt.Sprintf("conv%d", i+1), width, 3, 1, 1, true)
				x = o.ReLU(o.MaxPool(x, 2, 2, 0))
			}
			return x
		},
	}
}

func init() {
	families["smallcnn"] = func(_ config.NetworkInfo, n config.Network, _ int) (Backbone, error) {
		if n.Pooling != config.MeanPool && n.Pooling != config.FlattenPool {
			return Backbone{}, fmt.Errorf("config: pooling %q, want %q or %q", n.Pooling, config.MeanPool, config.FlattenPool)
		}
		return SmallCNN(n.Width, n.Pooling), nil
	}
}
