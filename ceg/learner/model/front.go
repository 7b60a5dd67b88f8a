package model

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/onnx/imported"
	"github.com/ledg-go/ledg/ceg/nets/preprocess"
	"github.com/ledg-go/ledg/ceg/nets/weights"
	"github.com/ledg-go/ledg/ceg/nets/weights/pretrained"
	"github.com/ledg-go/ledg/datasets"
)

// Front is a frozen feature network with its weights.
type Front struct {
	// Origin names the network and its weights, and for features also the location of the
	// images.
	Origin   datasets.Origin
	Backbone nets.Backbone
	// Params describes the parameters; Values holds their values, row-major.
	Params []nets.Param
	Values map[string][]float32
	// Features is the length of a feature vector.
	Features int
	// Loaded reports how the weights were matched; see [weights.Report].
	Loaded weights.Report
	// Imported is set if the network is an ONNX file; Params, Values and Features are then
	// empty.
	Imported *imported.Network
}

// OpenFront opens the network that an origin names with its weights, and records their names,
// digest and licence. If the origin already has a digest, the weights must match it.
func OpenFront(ctx context.Context, o datasets.Origin, opts pretrained.Options) (*Front, error) {
	if o.ONNX != nil {
		return importFront(o)
	}
	b, err := nets.New(config.Network{Name: o.Network, Width: o.Width, Pooling: config.Pooling(o.Pooling)}, 0)
	if err != nil {
		return nil, err
	}
	o.Pooling = string(b.Pooling)
	w, err := pretrained.Open(ctx, o.Weights, o.Network, opts)
	if err != nil {
		return nil, fmt.Errorf("weights: %w", err)
	}
	if o.WeightsDigest != "" && o.WeightsDigest != w.Digest {
		return nil, fmt.Errorf("the features were made with %s (sha256 %.12s), and %q is now %s: give the same weights", o.WeightsName, o.WeightsDigest, o.Weights, w)
	}
	if o.Weights != pretrained.None && o.Weights != pretrained.ImageNet {
		if o.Weights, err = filepath.Abs(o.Weights); err != nil {
			return nil, err
		}
	}
	o.WeightsName, o.WeightsDigest, o.Trained, o.Licence = w.Name, w.Digest, w.Data, w.Licence
	f := &Front{Origin: o, Backbone: b}
	var sd weights.StateDict
	if w.File != nil {
		sd = w.File.Tensors
	}
	if f.Params, f.Values, f.Features, f.Loaded, err = assign(b, o.Size, sd, o.Seed); err != nil {
		return nil, fmt.Errorf("network %s with weights %s: %w", o.Network, w, err)
	}
	if w.File != nil {
		f.Loaded.Notes = slices.Concat(w.File.Notes, f.Loaded.Notes)
	}
	return f, nil
}

// importFront opens the network from an ONNX file that an origin names.
func importFront(o datasets.Origin) (*Front, error) {
	n, err := imported.Open(o.Weights, o.ONNX.Output, o.WeightsDigest)
	if err != nil {
		return nil, err
	}
	if o.Size, err = n.Side(o.Size); err != nil {
		return nil, err
	}
	if err := o.ONNX.Check(o.Size); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Weights, err)
	}
	if o.Weights, err = filepath.Abs(o.Weights); err != nil {
		return nil, err
	}
	r := *o.ONNX
	if r.Output = n.Output; n.Bytes() { // only sizes and filter are preprocessed outside
		raw, _ := preprocess.Of(preprocess.Raw)
		r.Mean, r.Std = raw.Mean, raw.Std
	}
	o.Network, o.Width, o.Pooling, o.ONNX = datasets.ImportedNetwork, 0, "", &r
	o.WeightsName, o.WeightsDigest, o.Trained = cmp.Or(o.WeightsName, filepath.Base(o.Weights)), n.Digest, "unknown data"
	return &Front{Origin: o, Imported: n}, nil
}

// Extractor opens the backend that spec names and returns the network's extractor there. The
// caller closes it. A network from an ONNX file runs in a child process, until the context ends.
func (f *Front) Extractor(ctx context.Context, spec string) (*Extractor, error) {
	if f.Imported != nil {
		return newImportedExtractor(ctx, spec, f.Imported, f.Origin)
	}
	return newExtractor(spec, f.Backbone, f.Origin.Size, f.Params, f.Values, f.Features)
}
