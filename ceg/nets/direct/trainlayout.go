package direct

import (
	"errors"
	"fmt"
	"math"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/nets"
)

// ErrTraining is the error of a backbone that needs a graph for training.
var ErrTraining = errors.New("its layers are not those that can be trained without a graph")

// ErrVectors is the error of a processor or a build without the vector instructions that
// training needs.
var ErrVectors = errors.New("training without a graph needs AVX-512 and GOEXPERIMENT=simd")

// layout is a network that can be trained: a convolution, inverted blocks and a 1x1
// convolution, whose maps are averaged, each with BatchNorm; or the back of one (see
// [nets.Part]), which has maps where the others have images.
type layout struct {
	stem   *stem // nil for a back
	blocks []*block
	head   *head
	// stageOf tells the stage of a parameter: 0 for the stem, then the blocks, the head.
	stageOf map[string]int
}

func (l *layout) stages() int { return len(l.blocks) + 2 }

// op is a layer as a backbone states it.
type op struct {
	kind           kind // convolution, depthwise; pointwise for what follows
	name           string
	in, plus       *op
	c, h, w        int
	kernel, stride int
	top, left      int
	norm           bool
	hi             float64
	reads          int
	bias           bool
}

// Dims implements nets.Maps.
func (o *op) Dims() (c, h, w int) { return o.c, o.h, o.w }

// writer implements nets.Ops by writing layers down.
type writer struct{ ops []*op }

func (w *writer) add(o *op) *op {
	for _, x := range []*op{o.in, o.plus} {
		if x != nil {
			x.reads++
		}
	}
	w.ops = append(w.ops, o)
	return o
}

func (w *writer) window(k kind, in nets.Maps, name string, out, kernel, stride, padding int, bias bool) *op {
	x := in.(*op)
	top, _ := nets.Padding(x.h, kernel, stride, padding)
	left, _ := nets.Padding(x.w, kernel, stride, padding)
	return w.add(&op{kind: k, name: name, in: x, c: out, h: nets.OutSize(x.h, kernel, stride, padding), w: nets.OutSize(x.w, kernel, stride, padding),
		kernel: kernel, stride: stride, top: top, left: left, bias: bias})
}

// Conv implements nets.Ops.
func (w *writer) Conv(x nets.Maps, name string, out, kernel, stride, padding int, bias bool) nets.Maps {
	return w.window(convolution, x, name, out, kernel, stride, padding, bias)
}

// Depthwise implements nets.Ops.
func (w *writer) Depthwise(x nets.Maps, name string, kernel, stride, padding int) nets.Maps {
	return w.window(depthwise, x, name, x.(*op).c, kernel, stride, padding, false)
}

func (w *writer) after(in nets.Maps, o op) nets.Maps {
	x := in.(*op)
	o.kind, o.in, o.c, o.h, o.w = pointwise, x, x.c, x.h, x.w
	return w.add(&o)
}

// BatchNorm implements nets.Ops.
func (w *writer) BatchNorm(x nets.Maps, name string) nets.Maps {
	return w.after(x, op{name: name, norm: true})
}

// ReLU implements nets.Ops.
func (w *writer) ReLU(x nets.Maps) nets.Maps { return w.after(x, op{hi: math.Inf(1)}) }

// ReLU6 implements nets.Ops.
func (w *writer) ReLU6(x nets.Maps) nets.Maps { return w.after(x, op{hi: 6}) }

// Add implements nets.Ops.
func (w *writer) Add(x, y nets.Maps) nets.Maps { return w.after(x, op{plus: y.(*op)}) }

// MaxPool implements nets.Ops.
func (w *writer) MaxPool(nets.Maps, int, int, int) nets.Maps { panic(ErrTraining) }

// Apply implements nets.Ops.
func (w *writer) Apply(nets.Maps, int, int, int, func(*graph.Node) *graph.Node) nets.Maps {
	panic(ErrTraining)
}

// layoutOf finds the parts of a backbone. The error is ErrTraining if it is another kind.
func layoutOf(b nets.Backbone, size int) (l layout, err error) {
	if b.Graph != nil || b.Vector > 0 || b.Pooling != config.MeanPool {
		return layout{}, ErrTraining
	}
	defer func() {
		if r := recover(); r != nil {
			if r != any(ErrTraining) {
				panic(r)
			}
			err = fmt.Errorf("network %s: %w", b.Name, ErrTraining)
		}
	}()
	w := new(writer)
	first := &op{kind: input, c: b.In(), h: size, w: size}
	last := b.Layers(w, first).(*op)
	last.reads++
	p := &parser{ops: w.ops, at: first, names: map[string]int{}}
	l.stageOf = p.names
	if back := b.Channels > 0; !back {
		c, n := p.normed(convolution)
		l.stem = newStem(c, n)
	}
	for p.at != last {
		p.stage++
		x := p.at
		c, n := p.next(convolution), (*batchNorm)(nil)
		if c != nil {
			need(c.plain() && (len(l.blocks) > 0 || l.stem == nil))
			n = p.norm()
			if p.at == last {
				need(c.in.reads == 1)
				l.head = newHead(c, n)
				break
			}
		} else {
			need(len(l.blocks) == 0 && l.stem != nil)
		}
		d, dn := p.normed(depthwise)
		out, on := p.normed(convolution)
		need(out.plain() && math.IsInf(float64(on.hi), 1) && math.IsInf(float64(on.lo), -1))
		shortcut := p.shortcut(x)
		reads := 1
		if shortcut {
			reads = 2
		}
		need(x.reads == reads)
		bl := newBlock(c, n, d, dn, out, on, shortcut)
		if c == nil {
			bl.norm1 = l.stem.norm
		}
		l.blocks = append(l.blocks, bl)
	}
	need(l.head != nil)
	return l, nil
}

// need panics unless the network is of a kind that can be trained.
func need(ok bool) {
	if !ok {
		panic(ErrTraining)
	}
}

func (o *op) plain() bool { return o.kernel == 1 && o.stride == 1 && o.top == 0 && o.left == 0 }

// parser reads layers in the order in which they were written down.
type parser struct {
	ops   []*op
	at    *op
	stage int
	names map[string]int
}

// next takes the next layer if it is of a kind and reads the one before.
func (p *parser) next(k kind) *op {
	if len(p.ops) == 0 || p.ops[0].kind != k || p.ops[0].in != p.at || p.ops[0].bias {
		return nil
	}
	p.at, p.ops = p.ops[0], p.ops[1:]
	if p.at.name != "" {
		for _, part := range []string{".weight", ".bias"} {
			p.names[p.at.name+part] = p.stage
		}
	}
	return p.at
}

// norm takes BatchNorm and a limit, if one follows.
func (p *parser) norm() *batchNorm {
	need(p.at.reads == 1)
	o := p.next(pointwise)
	need(o != nil && o.norm)
	b := &batchNorm{name: o.name, c: o.c, lo: float32(math.Inf(-1)), hi: float32(math.Inf(1))}
	if o.reads == 1 && len(p.ops) > 0 && p.ops[0].in == o && p.ops[0].hi > 0 {
		b.lo, b.hi = 0, float32(p.next(pointwise).hi)
	}
	return b
}

// normed takes a layer of a kind, and what norm takes.
func (p *parser) normed(k kind) (*op, *batchNorm) {
	o := p.next(k)
	need(o != nil)
	return o, p.norm()
}

// shortcut takes a sum with x, if one follows.
func (p *parser) shortcut(x *op) bool {
	if len(p.ops) == 0 || p.ops[0].plus != x || p.ops[0].in != p.at || p.at.reads != 1 {
		return false
	}
	p.at, p.ops = p.ops[0], p.ops[1:]
	return true
}
