package nets

import (
	"fmt"
	"slices"

	"github.com/gomlx/gomlx/core/graph"

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
		return p, fmt.Errorf("network %s is from a file, and cannot be divided: freeze %s", b.Name, config.FreezeBackbone)
	}
	t := &tape{learns: map[string]bool{}}
	for _, p := range params {
		t.learns[p.Name] = p.Trained()
	}
	last := b.Layers(t, t.add(dims{b.In(), size, size}, nil, nil)).(taped)
	at := t.cut()
	if at == 0 {
		return p, fmt.Errorf("the first layer of network %s learns, so there is nothing to compute once: freeze its first stages", b.Name)
	}
	d := t.steps[at].dims
	p = Parted{Front: b, Back: b, Maps: [3]int{d.h, d.w, d.c}}
	p.Front.Pooling, p.Front.Layers = NoPool, func(o Ops, x Maps) Maps { return t.play(o, x, 0, at) }
	p.Back.Channels, p.Back.Layers = d.c, func(o Ops, x Maps) Maps { return t.play(o, x, at, last.at) }
	return p, nil
}

// tape implements Ops by writing layers down, to be played on others.
type tape struct {
	learns map[string]bool // by the names of parameters
	steps  []tapeStep      // the first has the images
}

// tapeStep is a layer: its maps, the steps that it reads, how it is made of these, and whether it
// learns.
type tapeStep struct {
	dims
	from   []int
	layer  func(o Ops, x []Maps) Maps
	learns bool
}

// taped are the maps of a step.
type taped struct {
	dims
	at int
}

func (t *tape) add(d dims, from []Maps, layer func(o Ops, x []Maps) Maps, params ...string) Maps {
	s := tapeStep{dims: d, layer: layer, learns: slices.ContainsFunc(params, func(name string) bool { return t.learns[name] })}
	for _, x := range from {
		s.from = append(s.from, x.(taped).at)
	}
	t.steps = append(t.steps, s)
	return taped{d, len(t.steps) - 1}
}

// cut returns the last step that no step behind looks past, and before which none learns.
func (t *tape) cut() int {
	for at := len(t.steps) - 1; at > 0; at-- {
		past := slices.ContainsFunc(t.steps[at+1:], func(s tapeStep) bool {
			return slices.ContainsFunc(s.from, func(i int) bool { return i < at })
		})
		if !past && !slices.ContainsFunc(t.steps[:at+1], func(s tapeStep) bool { return s.learns }) {
			return at
		}
	}
	return 0
}

// play computes the maps of step to from the maps of step from.
func (t *tape) play(o Ops, x Maps, from, to int) Maps {
	maps := map[int]Maps{from: x}
	for at := from + 1; at <= to; at++ {
		var read []Maps
		for _, i := range t.steps[at].from {
			read = append(read, maps[i])
		}
		maps[at] = t.steps[at].layer(o, read)
	}
	return maps[to]
}

// sides returns how large the maps are that a kernel makes of others.
func sides(x Maps, channels, kernel, stride, padding int) dims {
	_, h, w := x.Dims()
	return dims{channels, OutSize(h, kernel, stride, padding), OutSize(w, kernel, stride, padding)}
}

func (t *tape) Conv(x Maps, name string, out, kernel, stride, padding int, bias bool) Maps {
	return t.add(sides(x, out, kernel, stride, padding), []Maps{x}, func(o Ops, x []Maps) Maps {
		return o.Conv(x[0], name, out, kernel, stride, padding, bias)
	}, name+".weight", name+".bias")
}

func (t *tape) Depthwise(x Maps, name string, kernel, stride, padding int) Maps {
	return t.add(sides(x, x.(taped).c, kernel, stride, padding), []Maps{x}, func(o Ops, x []Maps) Maps {
		return o.Depthwise(x[0], name, kernel, stride, padding)
	}, name+".weight")
}

func (t *tape) BatchNorm(x Maps, name string) Maps {
	return t.add(x.(taped).dims, []Maps{x}, func(o Ops, x []Maps) Maps { return o.BatchNorm(x[0], name) }, name+".weight", name+".bias")
}

func (t *tape) ReLU(x Maps) Maps {
	return t.add(x.(taped).dims, []Maps{x}, func(o Ops, x []Maps) Maps { return o.ReLU(x[0]) })
}

func (t *tape) ReLU6(x Maps) Maps {
	return t.add(x.(taped).dims, []Maps{x}, func(o Ops, x []Maps) Maps { return o.ReLU6(x[0]) })
}

func (t *tape) MaxPool(x Maps, kernel, stride, padding int) Maps {
	return t.add(sides(x, x.(taped).c, kernel, stride, padding), []Maps{x}, func(o Ops, x []Maps) Maps {
		return o.MaxPool(x[0], kernel, stride, padding)
	})
}

func (t *tape) Add(x, y Maps) Maps {
	return t.add(x.(taped).dims, []Maps{x, y}, func(o Ops, x []Maps) Maps { return o.Add(x[0], x[1]) })
}

func (t *tape) Apply(x Maps, channels, h, w int, f func(*graph.Node) *graph.Node) Maps {
	return t.add(dims{channels, h, w}, []Maps{x}, func(o Ops, x []Maps) Maps { return o.Apply(x[0], channels, h, w, f) })
}
