package ceg

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/datasets"
)

// Backbone returns the network that the settings describe, on images.
func Backbone(n config.Network) (nets.Backbone, error) { return backbone(n, 0) }

// backbone returns the network that the settings describe, on feature vectors of a
// length or, if that is 0, on images.
func backbone(n config.Network, vector int) (nets.Backbone, error) {
	if vector > 0 {
		switch n.Name {
		case "linear":
			return nets.Identity(vector)
		case "mlp":
			return nets.MLP(vector, n.Width)
		}
		return nets.Backbone{}, fmt.Errorf("config: network %q takes images, and the examples are feature vectors: want one of %s", n.Name, strings.Join(config.NetworkNames(true), ", "))
	}
	if slices.Contains(config.NetworkNames(true), n.Name) {
		return nets.Backbone{}, fmt.Errorf("config: network %q takes feature vectors, and the examples are images: want one of %s", n.Name, strings.Join(config.NetworkNames(false), ", "))
	}
	if n.Width < 1 {
		return nets.Backbone{}, fmt.Errorf("config: network width %d, want at least 1", n.Width)
	}
	switch n.Name {
	case "smallcnn":
		if n.Pooling != config.MeanPool && n.Pooling != config.FlattenPool {
			return nets.Backbone{}, fmt.Errorf("config: pooling %q, want %q or %q", n.Pooling, config.MeanPool, config.FlattenPool)
		}
		return nets.SmallCNN(n.Width, n.Pooling), nil
	}
	if version, ok := map[string]int{"efficientnet-lite0": 0, "efficientnet-lite1": 1, "efficientnet-lite2": 2}[n.Name]; ok {
		return nets.EfficientNetLite(version, n.Width)
	}
	if depth, ok := map[string]int{"resnet18": 18, "resnet34": 34, "resnet50": 50}[n.Name]; ok {
		return nets.ResNet(depth, n.Width)
	}
	return nets.Backbone{}, fmt.Errorf("config: network %q, want one of %s", n.Name, strings.Join(config.NetworkNames(false), ", "))
}

// Work is what training the network on images of that many pixels a side is to an engine:
// heavy for a ResNet, and for smallcnn on more than 64 pixels.
func Work(n config.Network, size int) engine.Work {
	return engine.Work{Heavy: strings.HasPrefix(n.Name, "resnet") || n.Name == "smallcnn" && size > 64}
}

// vectorOf returns the length of a data set's feature vectors, 0 for images.
func vectorOf(d *datasets.Dataset) int {
	if f, ok := d.Features(); ok {
		return f.Dim
	}
	return 0
}
