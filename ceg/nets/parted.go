package nets

import (
	"fmt"
	"slices"

	"github.com/ledg-go/ledg/ceg/config"
)

// Parted is a backbone with a frozen front part, whose outputs can be computed once before
// training.
type Parted struct {
	// Front computes maps of images. If nothing behind it is trained, it is the whole backbone
	// and computes features, as maps of size 1x1.
	Front Backbone
	// Back computes features from these maps; it is the identity on features.
	Back Backbone
	// Maps are height, width and channels of the maps.
	Maps [3]int
}

// Part splits a backbone for images of the given size at the last maps that only frozen layers
// precede (see [Freeze]) and that all later layers depend on. It is an error if no such maps
// exist, or if the network is a Graph and a part of it is trained.
func Part(b Backbone, size int) (p Parted, err error) {
	params, features, err := Params(b, size)
	if err != nil {
		return p, err
	}
	if !slices.ContainsFunc(params, Param.Trained) {
		back := Backbone{Name: b.Name, Pooling: config.MeanPool, Vector: features, Still: true, Layers: func(_ Ops, x Maps) Maps { return x }}
		return Parted{Front: b, Back: back, Maps: [3]int{1, 1, features}}, nil
	}
	if b.Graph != nil {
		return p, fmt.Errorf("network %s is one graph, and cannot be divided: freeze %s", b.Name, config.FreezeBackbone)
	}
	r, last := record(b, size)
	at := r.cut(params)
	if at == 0 {
		return p, fmt.Errorf("the first layer of network %s learns, so there is nothing to compute once: freeze its first stages", b.Name)
	}
	d := r.layers[at].dims
	p = Parted{Front: b, Back: b, Maps: [3]int{d.h, d.w, d.c}}
	p.Front.Pooling, p.Front.Layers = NoPool, func(o Ops, x Maps) Maps { return r.play(o, x, 0, at) }
	p.Back.Channels, p.Back.Layers = d.c, func(o Ops, x Maps) Maps { return r.play(o, x, at, last.at) }
	return p, nil
}

// cut returns the last layer that no layer behind looks past, and up to which none of params is
// trained.
func (r *recorder) cut(params []Param) int {
	for at := len(r.layers) - 1; at > 0; at-- {
		past := slices.ContainsFunc(r.layers[at+1:], func(l call) bool {
			return slices.ContainsFunc(l.from, func(i int) bool { return i < at })
		})
		if !past && !slices.ContainsFunc(params[:r.layers[at].params], Param.Trained) {
			return at
		}
	}
	return 0
}
