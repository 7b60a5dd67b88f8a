package predict

import (
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// views scales images.
func (p *Predictor) views(images []*rgb.Image) []uint8 {
	n := 3 * p.fit.Size * p.fit.Size
	views := make([]uint8, len(images)*n)
	for i, m := range images {
		p.fit.Into(&rgb.Image{Width: p.fit.Size, Height: p.fit.Size, Pix: views[i*n : (i+1)*n : (i+1)*n]}, m)
	}
	return views
}

// forward runs the network over images, bytes [n, size, size, 3], up to a batch.
func (p *Predictor) forward(views []uint8) (features, logits []float32, err error) {
	one := 3 * p.fit.Size * p.fit.Size
	if p.Model.Backbone.Vector > 0 {
		x, err := p.embed(views)
		if err != nil {
			return nil, nil, err
		}
		return p.vectors(x)
	}
	full := make([]uint8, p.batch*one) // every number of them would be compiled
	copy(full, views)
	return outputs(p.net.Run(full))
}

// embed runs the network in front over images, bytes [n, size, size, 3], up to a batch.
func (p *Predictor) embed(views []uint8) (x []float32, err error) {
	if err := p.look(); err != nil {
		return nil, err
	}
	one, dim := 3*p.fit.Size*p.fit.Size, p.Model.Backbone.Vector
	n := len(views) / one
	x = make([]float32, n*dim)
	var g errgroup.Group
	for w, run := range p.front {
		from, to := w*n/len(p.front), (w+1)*n/len(p.front)
		g.Go(func() error { return run(x[from*dim:to*dim], views[from*one:to*one]) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if model.NotFinite(x, dim) >= 0 {
		return nil, fmt.Errorf("predict: %s makes features of an image that are no finite numbers", p.Model.Scaler.Origin.Network)
	}
	return x, nil
}

// forwardBatch is forward on files, up to a batch, whose known features are not computed.
func (p *Predictor) forwardBatch(b *filled) (features, logits []float32, err error) {
	if p.reusable == nil || p.reusable.Len() == 0 {
		return p.forward(b.views)
	}
	one := 3 * p.fit.Size * p.fit.Size
	var views []uint8
	for i, x := range b.features {
		if x == nil {
			views = append(views, b.views[i*one:(i+1)*one]...)
		}
	}
	computed, err := p.embed(views)
	if err != nil {
		return nil, nil, err
	}
	var all []float32
	for _, x := range b.features {
		if x == nil {
			x, computed = computed[:p.Model.Backbone.Vector], computed[p.Model.Backbone.Vector:]
		}
		all = append(all, x...)
	}
	return p.vectors(all)
}

// vectors runs the network over feature vectors [n, D] as they are in files, which it
// standardises in their place, up to a batch.
func (p *Predictor) vectors(x []float32) (features, logits []float32, err error) {
	if p.names != nil {
		return p.namesLogits(x)
	}
	dim := p.Model.Backbone.Vector
	for i := range len(x) / dim {
		p.Model.Scaler.Apply(row(x, i, dim))
	}
	full := make([]float32, p.batch*dim)
	copy(full, x)
	return outputs(p.net.RunVectors(full))
}

func outputs(out [][]float32, err error) (features, logits []float32, _ error) {
	if err != nil {
		return nil, nil, fmt.Errorf("predict: %w", err)
	}
	return out[0], out[1], nil
}
