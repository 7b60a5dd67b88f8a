package model

import (
	"context"
	"fmt"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/nets/weights/pretrained"
)

// WeightArgs are the command-line specifications of the weights: arguments of pretrained.Open and
// OpenStyle. Empty means not specified.
type WeightArgs struct{ Weights, Style string }

// OpenWeights opens the weights that a config names, of the backbone and of AdaIN, and records
// their source and digest in the config; those that are not needed are nil. Weights must match a
// digest that the config already has. resumed means that a resumed run has them in its checkpoint,
// so they need not be opened. Weights without a use are an error, and so are missing ones.
func OpenWeights(ctx context.Context, c *config.Config, w WeightArgs, resumed bool, say func(string)) (backbone, style *pretrained.Source, err error) {
	if have := &c.Network.Weights; w.Weights != "" && w.Weights != pretrained.None || *have != nil && !resumed {
		word := w.Weights
		if word == "" {
			return nil, nil, needed("network.weights", *have)
		}
		if c.Network.Name == config.Imported {
			if backbone, err = openNetwork(ctx, *c, word, say); err != nil {
				return nil, nil, &config.Error{Path: "network.name", Err: err}
			}
		} else if backbone, err = pretrained.Open(ctx, word, c.Network.Name, pretrained.Options{Say: say}); err != nil {
			return nil, nil, &config.Error{Path: "network.weights", Err: err}
		}
		if err := same("network.weights", have, backbone); err != nil {
			return nil, nil, err
		}
	}
	if have := &c.Generalization.StyleWeights; w.Style != "" || *have != nil && !resumed {
		if w.Style == "" {
			return nil, nil, needed("generalization.style_weights", *have)
		}
		if style, err = OpenStyle(w.Style); err != nil {
			return nil, nil, &config.Error{Path: "generalization.style_weights", Err: err}
		}
		if err := same("generalization.style_weights", have, style); err != nil {
			return nil, nil, err
		}
	}
	return backbone, style, nil
}

func needed(path string, want *config.Weights) error {
	return config.Errorf(path, "the run began with %s: give them", want)
}

// same compares weights with those that a config names, and writes down what they are.
func same(path string, have **config.Weights, now *pretrained.Source) error {
	if *have == nil || (*have).Digest != "" && (*have).Digest != now.Digest {
		return config.Errorf(path, "the run began with %s, these are %s", *have, now)
	}
	*have = &now.Weights
	return nil
}

// CheckOpened returns an error if the config names weights that were not opened.
func CheckOpened(c config.Config, backbone, style *pretrained.Source) error {
	for _, w := range []struct {
		want *config.Weights
		have *pretrained.Source
	}{{c.Network.Weights, backbone}, {c.Generalization.StyleWeights, style}} {
		if w.want != nil && (w.have == nil || w.have.File == nil || w.have.Digest != w.want.Digest) {
			return fmt.Errorf("the weights %s are not opened: see model.OpenWeights", w.want)
		}
	}
	return nil
}
