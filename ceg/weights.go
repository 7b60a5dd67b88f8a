package ceg

import (
	"context"
	"fmt"

	"github.com/ledg-go/ledg/ceg/checkpoint"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/weights/pretrained"
)

// Words say where the weights are that a config names: what pretrained.Open and OpenStyle
// take. Empty ones say nothing.
type Words struct{ Weights, Style string }

// OpenWeights opens the weights that a config names, for Options, and writes down in the
// config what they are. Weights that a config knows by digest already have to be the
// same; of a run that goes on they are in its checkpoint and need not be opened. It is an
// error to give weights that the config has no use for, or none where it has.
func OpenWeights(ctx context.Context, c *Config, w Words, o *Options, say func(string)) (err error) {
	there := o.Resume && checkpoint.Exists(o.Dir)
	if have := &c.Network.Weights; w.Weights != "" && w.Weights != pretrained.None || *have != nil && !there {
		word := w.Weights
		if word == "" {
			return needed("network.weights", *have)
		}
		if o.Weights, err = pretrained.Open(ctx, word, c.Network.Name, pretrained.Options{Say: say}); err != nil {
			return &config.Error{Path: "network.weights", Err: err}
		}
		if err := same("network.weights", have, o.Weights); err != nil {
			return err
		}
	}
	if have := &c.Generalization.StyleWeights; w.Style != "" || *have != nil && !there {
		if w.Style == "" {
			return needed("generalization.style_weights", *have)
		}
		if o.Style, err = OpenStyle(w.Style); err != nil {
			return &config.Error{Path: "generalization.style_weights", Err: err}
		}
		return same("generalization.style_weights", have, o.Style)
	}
	return nil
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

// loaded reports weights that a config names and nobody has opened.
func loaded(c Config, o Options) error {
	for _, w := range []struct {
		want *config.Weights
		have *pretrained.Source
	}{{c.Network.Weights, o.Weights}, {c.Generalization.StyleWeights, o.Style}} {
		if w.want != nil && (w.have == nil || w.have.File == nil || w.have.Digest != w.want.Digest) {
			return fmt.Errorf("the weights %s are not opened: see ceg.OpenWeights", w.want)
		}
	}
	return nil
}
