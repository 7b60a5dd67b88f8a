package direct_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/direct"
	"github.com/ledg-go/ledg/datasets/seed"
)

// planes are the maps [c][h*w] of one image in float64, computed by the book.
type planes struct {
	c, h, w int
	v       []float64
}

func (p planes) Dims() (c, h, w int) { return p.c, p.h, p.w }

func (p planes) each(f func(c int, v float64) float64) planes {
	p.v = slices.Clone(p.v)
	for i, v := range p.v {
		p.v[i] = f(i/(p.h*p.w), v)
	}
	return p
}

func (p planes) conv(weight, bias []float32, out, kernel, stride, padding, groups int) planes {
	before, _ := nets.Padding(p.h, kernel, stride, padding)
	side, in := nets.OutSize(p.h, kernel, stride, padding), p.c/groups
	q := planes{out, side, side, make([]float64, out*side*side)}
	for o := range out {
		for y := range side {
			for x := range side {
				sum := float64(bias[o])
				for i := range in {
					for ky := range kernel {
						for kx := range kernel {
							r, c := y*stride+ky-before, x*stride+kx-before
							if r >= 0 && r < p.h && c >= 0 && c < p.w {
								sum += p.v[((o/(out/groups)*in+i)*p.h+r)*p.w+c] * float64(weight[((o*in+i)*kernel+ky)*kernel+kx])
							}
						}
					}
				}
				q.v[(o*side+y)*side+x] = sum
			}
		}
	}
	return q
}

func (p planes) mean() planes {
	q := planes{p.c, 1, 1, make([]float64, p.c)}
	for i, v := range p.v {
		q.v[i/(p.h*p.w)] += v / float64(p.h*p.w)
	}
	return q
}

func (p planes) responses(eps float64) planes {
	q, mean := planes{p.c, 1, 1, make([]float64, p.c)}, 0.
	for i, v := range p.v {
		q.v[i/(p.h*p.w)] += v * v
	}
	for c, v := range q.v {
		q.v[c] = math.Sqrt(v)
		mean += q.v[c] / float64(p.c)
	}
	return q.each(func(_ int, v float64) float64 { return v / (mean + eps) })
}

func (p planes) layerNorm(weight, bias []float32, eps float64) planes {
	q, places := p.each(func(_ int, v float64) float64 { return v }), p.h*p.w
	for i := range places {
		mean, variance := 0., 0.
		for c := range p.c {
			mean += p.v[c*places+i] / float64(p.c)
		}
		for c := range p.c {
			variance += (p.v[c*places+i] - mean) * (p.v[c*places+i] - mean) / float64(p.c)
		}
		for c := range p.c {
			q.v[c*places+i] = (p.v[c*places+i]-mean)/math.Sqrt(variance+eps)*float64(weight[c]) + float64(bias[c])
		}
	}
	return q
}

// with combines maps with others of as many places, or of one.
func (p planes) with(o planes, f func(x, y float64) float64) planes {
	i := -1
	return p.each(func(c int, v float64) float64 {
		if i++; len(o.v) == p.c {
			return f(v, o.v[c])
		}
		return f(v, o.v[i])
	})
}

// attention by heads whose channels of queries, keys and values begin where from says.
func (p planes) attention(keys planes, heads, dim int, from, apart [3]int, scale float64, bias []float32) planes {
	n := p.h
	q := planes{heads * dim, n, 1, make([]float64, heads*dim*n)}
	for g := range heads {
		for i := range n {
			weights, sum := make([]float64, n), 0.
			for k := range n {
				s := 0.
				for c := range dim {
					s += p.v[(from[0]+g*apart[0]+c)*n+i] * keys.v[(from[1]+g*apart[1]+c)*n+k]
				}
				if s *= scale; bias != nil {
					s += float64(bias[(g*n+i)*n+k])
				}
				weights[k] = math.Exp(s)
				sum += weights[k]
			}
			for c := range dim {
				for k, w := range weights {
					q.v[(g*dim+c)*n+i] += w / sum * p.v[(from[2]+g*apart[2]+c)*n+k]
				}
			}
		}
	}
	return q
}

// What layers that only a Builder has compute is what the formulas give, with and without others
// that they are computed with.
func TestBuilder(t *testing.T) {
	const size, images = 19, 6
	r := seed.New(1, "builder")
	normal := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(r.NormFloat64() / math.Sqrt(10))
		}
		return v
	}
	gelu := direct.Activation{F: direct.Erf, Inner: math.Sqrt2 / 2, Scale: 0.5, Shift: 0.5, Times: true}
	sigmoid := direct.Activation{F: direct.Sigmoid, Inner: 1, Scale: 1}
	w1, b1, w2, b2, w3, b3, w4, b4 := normal(18*3*9), normal(18), normal(20*9*9), normal(20), normal(20*5*9), normal(20), normal(20*9), normal(20)
	s1, z1, s2, z2, wg, bg := normal(20), normal(20), normal(20), normal(20), normal(20*20), normal(20)

	token, positions := normal(2*60), normal(27*60)

	b := direct.NewBuilder(size)
	x := b.Clip(b.Conv(b.Images(), w1, b1, 18, 3, 1, 1, 1), 0, 1)
	y := b.Activate(b.Conv(x, w2, b2, 20, 3, 2, 1, 2), gelu)
	y = b.Activate(b.Add(b.Conv(y, w3, b3, 20, 3, 1, 1, 4), y), sigmoid)
	n := b.Clip(b.Affine(b.LayerNorm(y, s1, z1, 1e-3), s2, z2), -1, 2)
	n = b.Mul(n, b.Activate(b.Responses(n, 0.25), sigmoid))
	gate := b.Activate(b.Conv(b.Mean(n), wg, bg, 20, 1, 1, 0, 1), sigmoid)
	y = b.Activate(b.Mul(gate, n), gelu)
	y = b.Mul(b.Activate(b.Conv(y, w4, b4, 20, 3, 2, 1, 20), gelu), b.Activate(b.Affine(b.MaxPool(y, 1, 2, 0), s2, z2), sigmoid))
	y = b.Activate(b.Concat(y, b.Conv(y, w4, b4, 20, 3, 1, 1, 20), y), sigmoid)
	y = b.AddConstant(b.Prepend(y, token), positions)
	// of the 27 places, and then of three windows of them in another order
	whole := direct.Heads{Count: 2, Dim: 20, Scale: 1, Bias: normal(2 * 27 * 27)}
	whole.Queries.Apart, whole.Keys.Apart, whole.Values.Apart = 20, 20, 20
	windowed := direct.Heads{Count: 4, Dim: 10, Scale: 3, Windows: 3, Bias: normal(3 * 4 * 9 * 9)}
	windowed.Queries.Apart, windowed.Keys.Apart, windowed.Values.Apart = 10, 10, 10
	order := r.Perm(27)
	turned, turns := [2][]int{r.Perm(40), r.Perm(40)}, [2][]float32{normal(27 * 40), normal(27 * 40)}
	heads := direct.Heads{Count: 4, Dim: 10, Scale: 2}
	heads.Queries.Apart, heads.Keys.Apart, heads.Values.Apart, heads.Keys.From, heads.Values.From = 12, 10, 11, 20, 5
	y = b.Attention(y, b.Clip(y, 0, 9), y, heads)
	y = b.Attention(y, y, y, whole)
	y = b.Rotate(y, turned, turns)
	y = b.Reorder(y, order)
	y = b.Attention(y, y, y, windowed)
	y = b.Add(y, b.Mul(y, b.Activate(b.MeanOf(y, 3, 7), sigmoid)))
	net := b.Network(y, config.FlattenPool, nets.Pixels{Std: [3]float64{1, 1, 1}})

	pixels := make([]byte, images*size*size*3)
	for i := range pixels {
		pixels[i] = byte(r.IntN(256))
	}
	got := make([]float32, images*net.Features())
	net.Worker().Features(got, pixels)

	bend := func(c direct.Activation) func(int, float64) float64 {
		return func(_ int, v float64) float64 {
			switch u := float64(c.Inner) * v; c.F {
			case direct.Sigmoid:
				return 1 / (1 + math.Exp(-u))
			default:
				return v * (0.5*math.Erf(u) + 0.5)
			}
		}
	}
	limit := func(lo, hi float64) func(int, float64) float64 {
		return func(_ int, v float64) float64 { return min(max(v, lo), hi) }
	}
	affine := func(c int, v float64) float64 { return v*float64(s2[c]) + float64(z2[c]) }
	sum, times := func(x, y float64) float64 { return x + y }, func(x, y float64) float64 { return x * y }
	for i := range images {
		x := planes{3, size, size, make([]float64, 3*size*size)}
		for p, v := range pixels[i*size*size*3 : (i+1)*size*size*3] {
			x.v[p%3*size*size+p/3] = float64(v) / 255
		}
		x = x.conv(w1, b1, 18, 3, 1, 1, 1).each(limit(0, 1))
		y := x.conv(w2, b2, 20, 3, 2, 1, 2).each(bend(gelu))
		y = y.conv(w3, b3, 20, 3, 1, 1, 4).with(y, sum).each(bend(sigmoid))
		n := y.layerNorm(s1, z1, 1e-3).each(affine).each(limit(-1, 2))
		n = n.with(n.responses(0.25).each(bend(sigmoid)), times)
		y = n.with(n.mean().conv(wg, bg, 20, 1, 1, 0, 1).each(bend(sigmoid)), times).each(bend(gelu))
		half := planes{20, 5, 5, nil} // every other place
		for j, v := range y.v {
			if row, col := j/10%10, j%10; row%2 == 0 && col%2 == 0 {
				half.v = append(half.v, v)
			}
		}
		half = half.each(affine).each(bend(sigmoid))
		y = y.conv(w4, b4, 20, 3, 2, 1, 20).each(bend(gelu)).with(half, times)
		second := y.conv(w4, b4, 20, 3, 1, 1, 20)
		before := planes{60, 5, 5, slices.Concat(y.v, second.v, y.v)}.each(bend(sigmoid))
		y = planes{60, 27, 1, nil}
		for c := range 60 {
			front := []float64{float64(token[c]), float64(token[60+c])}
			for p, v := range append(front, before.v[c*25:(c+1)*25]...) {
				y.v = append(y.v, v+float64(positions[p*60+c]))
			}
		}
		y = y.attention(y.each(limit(0, 9)), 4, 10, [3]int{0, 20, 5}, [3]int{12, 10, 11}, 2, nil)
		y = y.attention(y, 2, 20, [3]int{}, [3]int{20, 20, 20}, 1, whole.Bias)
		rotated := planes{40, 27, 1, make([]float64, 40*27)}
		for j := range rotated.v {
			for k, f := range turns {
				rotated.v[j] += float64(f[j%27*40+j/27]) * y.v[turned[k][j/27]*27+j%27]
			}
		}
		y = rotated
		joined := planes{40, 27, 1, make([]float64, 40*27)}
		for g := range 3 {
			window := planes{40, 9, 1, nil}
			for c := range 40 {
				for _, p := range order[g*9 : (g+1)*9] {
					window.v = append(window.v, y.v[c*27+p])
				}
			}
			window = window.attention(window, 4, 10, [3]int{}, [3]int{10, 10, 10}, 3, windowed.Bias[g*4*81:])
			for j, v := range window.v {
				joined.v[j/9*27+g*9+j%9] = v
			}
		}
		y = joined
		some := planes{40, 1, 1, make([]float64, 40)}
		for j, v := range y.v {
			if p := j % 27; p >= 3 && p < 10 {
				some.v[j/27] += v / 7
			}
		}
		y = y.with(y.with(some.each(bend(sigmoid)), times), sum)
		for j, want := range y.v {
			if g := float64(got[i*len(y.v)+j]); !(math.Abs(g-want) <= 2e-6*max(1, math.Abs(want))) {
				t.Fatalf("image %d, value %d: %g, want %g", i, j, g, want)
			}
		}
	}
	if net.Memory() < 20*10*10*4 {
		t.Errorf("a worker is said to keep %d values", net.Memory())
	}
}

// Shapes that do not fit are said.
func TestBuilderPanics(t *testing.T) {
	for want, do := range map[string]func(b *direct.Builder, x nets.Maps){
		"2 groups of 3 channels to 4":                  func(b *direct.Builder, x nets.Maps) { b.Conv(x, nil, nil, 4, 1, 1, 0, 2) },
		"weights of a convolution: 5 numbers, want 6":  func(b *direct.Builder, x nets.Maps) { b.Conv(x, make([]float32, 5), nil, 2, 1, 1, 0, 1) },
		"bias of a convolution: 1 numbers, want 2":     func(b *direct.Builder, x nets.Maps) { b.Conv(x, make([]float32, 6), make([]float32, 1), 2, 1, 1, 0, 1) },
		"scales: 2 numbers, want 3":                    func(b *direct.Builder, x nets.Maps) { b.Affine(x, make([]float32, 2), make([]float32, 3)) },
		"biases of LayerNorm: 0 numbers, want 3":       func(b *direct.Builder, x nets.Maps) { b.LayerNorm(x, make([]float32, 3), nil, 0) },
		"cannot multiply maps [3, 8, 8] and [3, 4, 4]": func(b *direct.Builder, x nets.Maps) { b.Mul(x, b.MaxPool(x, 2, 2, 0)) },
		"cannot add maps [3, 8, 8] and [3, 1, 1]":      func(b *direct.Builder, x nets.Maps) { b.Add(x, b.Mean(x)) },
		"cannot join maps [3, 8, 8] and [3, 1, 1]":     func(b *direct.Builder, x nets.Maps) { b.Concat(x, b.Mean(x)) },
		"5 numbers of places of 3 channels":            func(b *direct.Builder, x nets.Maps) { b.Prepend(x, make([]float32, 5)) },
		"numbers of places: 3 numbers, want 192":       func(b *direct.Builder, x nets.Maps) { b.AddConstant(x, make([]float32, 3)) },
		"channels out of [0, 3)":                       func(b *direct.Builder, x nets.Maps) { b.Rotate(x, [2][]int{{3}, {0}}, [2][]float32{}) },
		"factors of channels: 5 numbers, want 128": func(b *direct.Builder, x nets.Maps) {
			b.Rotate(x, [2][]int{{2, 1}, {0, 0}}, [2][]float32{make([]float32, 5)})
		},
		"places out of [0, 64)": func(b *direct.Builder, x nets.Maps) { b.Reorder(x, []int{3, 64}) },
		"3 windows of 64 queries and 64 keys": func(b *direct.Builder, x nets.Maps) {
			b.Attention(x, x, x, direct.Heads{Count: 1, Dim: 3, Windows: 3})
		},
		"a bias of 5 numbers, want 16 or 256": func(b *direct.Builder, x nets.Maps) {
			b.Attention(x, x, x, direct.Heads{Count: 1, Dim: 3, Windows: 16, Bias: make([]float32, 5)})
		},
		"60 places from place 5 on, of 64": func(b *direct.Builder, x nets.Maps) { b.MeanOf(x, 5, 60) },
		"2 heads of 2 channels, 0 apart from channel 0 on, of 1": func(b *direct.Builder, x nets.Maps) {
			y := b.Conv(x, make([]float32, 3), nil, 1, 1, 1, 0, 1)
			b.Attention(y, y, y, direct.Heads{Count: 2, Dim: 2})
		},
		"a map of side 8 is too small for kernel 9 with padding": func(b *direct.Builder, x nets.Maps) { b.MaxPool(x, 9, 1, 0) },
	} {
		func() {
			defer func() {
				r := recover()
				got, _ := r.(string)
				if err, ok := r.(error); ok {
					got = err.Error()
				}
				if !strings.HasPrefix(got, want) {
					t.Errorf("got %v, want %s", r, want)
				}
			}()
			b := direct.NewBuilder(8)
			do(b, b.Images())
		}()
	}
}
