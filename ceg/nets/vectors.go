package nets

import (
	"fmt"

	"github.com/ledg-go/ledg/ceg/config"
)

// Identity is the identity network on feature vectors, for a linear classifier: the class head.
func Identity(features int) (Backbone, error) {
	if features < 1 {
		return Backbone{}, fmt.Errorf("linear on %d features, want at least 1", features)
	}
	return Backbone{
		Name: fmt.Sprintf("linear-d%d", features), Pooling: config.MeanPool, Vector: features,
		Layers: func(_ Ops, x Maps) Maps { return x },
	}, nil
}

// MLP is one hidden layer of the given width with ReLU, on feature vectors.
func MLP(features, width int) (Backbone, error) {
	if features < 1 || width < 1 {
		return Backbone{}, fmt.Errorf("mlp of width %d on %d features, want at least 1", width, features)
	}
	return Backbone{
		Name: fmt.Sprintf("mlp-w%d-d%d", width, features), Pooling: config.MeanPool, Vector: features,
		Layers: func(o Ops, x Maps) Maps { return o.ReLU(o.Conv(x, "hidden", width, 1, 1, 0, true)) },
	}, nil
}

func init() {
	families["linear"] = func(_ config.NetworkInfo, _ config.Network, vector int) (Backbone, error) { return Identity(vector) }
	families["mlp"] = func(_ config.NetworkInfo, n config.Network, vector int) (Backbone, error) {
		return MLP(vector, n.Width)
	}
}
