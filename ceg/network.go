package ceg

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/datasets"
)

// Backbone returns the network that the settings describe.
func (n Network) Backbone() (nets.Backbone, error) { return n.backbone(0) }

// backbone returns the network that the settings describe, on feature vectors of a
// length or, if that is 0, on images.
func (n Network) backbone(vector int) (nets.Backbone, error) {
	if vector > 0 {
		switch n.Name {
		case "linear":
			return nets.Identity(vector)
		case "mlp":
			return nets.MLP(vector, n.Width)
		}
		return nets.Backbone{}, fmt.Errorf("config: network %q takes images, and the examples are feature vectors: want one of %s", n.Name, strings.Join(VectorNetworks(), ", "))
	}
	if slices.Contains(VectorNetworks(), n.Name) {
		return nets.Backbone{}, fmt.Errorf("config: network %q takes feature vectors, and the examples are images: want one of %s", n.Name, strings.Join(Networks(), ", "))
	}
	if n.Width < 1 {
		return nets.Backbone{}, fmt.Errorf("config: network width %d, want at least 1", n.Width)
	}
	switch n.Name {
	case "smallcnn":
		if n.Pooling != nets.MeanPool && n.Pooling != nets.FlattenPool {
			return nets.Backbone{}, fmt.Errorf("config: pooling %q, want %q or %q", n.Pooling, nets.MeanPool, nets.FlattenPool)
		}
		return nets.SmallCNN(n.Width, n.Pooling), nil
	}
	if version, ok := map[string]int{"efficientnet-lite0": 0, "efficientnet-lite1": 1, "efficientnet-lite2": 2}[n.Name]; ok {
		return nets.EfficientNetLite(version, n.Width)
	}
	if depth, ok := map[string]int{"resnet18": 18, "resnet34": 34, "resnet50": 50}[n.Name]; ok {
		return nets.ResNet(depth, n.Width)
	}
	return nets.Backbone{}, fmt.Errorf("config: network %q, want one of %s", n.Name, strings.Join(Networks(), ", "))
}

// Work is what training the network on images of that many pixels a side is to an engine:
// heavy for a ResNet, and for smallcnn on more than 64 pixels.
func (n Network) Work(size int) engine.Work {
	return engine.Work{Heavy: strings.HasPrefix(n.Name, "resnet") || n.Name == "smallcnn" && size > 64}
}

// VectorNetworks lists the backbones of feature vectors: a linear classifier, and one
// hidden layer of Network.Width.
func VectorNetworks() []string { return []string{"linear", "mlp"} }

// vectorOf returns the length of a data set's feature vectors, 0 for images.
func vectorOf(d *datasets.Dataset) int {
	if f, ok := d.Features(); ok {
		return f.Dim
	}
	return 0
}

// vectors reports whether the data set is one of feature vectors.
func (d Data) vectors() bool {
	info, _ := datasets.Lookup(d.Dataset)
	return info.Vectors
}

// Networks lists the backbones of images.
func Networks() []string {
	return []string{"smallcnn", "resnet18", "resnet34", "resnet50", "efficientnet-lite0", "efficientnet-lite1", "efficientnet-lite2"}
}
