package model

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/onnx/imported"
	"github.com/ledg-go/ledg/ceg/nets/weights"
	"github.com/ledg-go/ledg/ceg/nets/weights/pretrained"
	"github.com/ledg-go/ledg/datasets"
)

// Front is a network that is left as it is and makes features of images, with its values.
type Front struct {
	// Origin names the network and its weights; that of features says where the images are,
	// too.
	Origin   datasets.Origin
	Backbone nets.Backbone
	// Params describes the parameters, and Values has their values, row-major.
	Params []nets.Param
	Values map[string][]float32
	// Features is the length of a feature vector.
	Features int
	// Loaded says what became of the weights; see [weights.Report].
	Loaded weights.Report
	// Imported is the network if it is from an ONNX file; Params, Values and Features are not
	// known then.
	Imported *imported.Network
}

// OpenFront opens the network that an origin names and its weights, whose names, digest and
// licence it writes down. Weights that an origin knows by digest have to be the same.
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
	r.Output = n.Output
	o.Network, o.Width, o.Pooling, o.ONNX = datasets.ImportedNetwork, 0, "", &r
	o.WeightsName, o.WeightsDigest, o.Trained = cmp.Or(o.WeightsName, filepath.Base(o.Weights)), n.Digest, "unknown data"
	return &Front{Origin: o, Imported: n}, nil
}

// Extractor opens the backend that spec names and returns what computes the features there.
// It must be closed. A network from an ONNX file is computed in a copy of this program, until the
// context ends.
func (f *Front) Extractor(ctx context.Context, spec string) (*Extractor, error) {
	if f.Imported != nil {
		return newImportedExtractor(ctx, spec, f.Imported, f.Origin)
	}
	return newExtractor(spec, f.Backbone, f.Origin.Size, f.Params, f.Values, f.Features)
}
