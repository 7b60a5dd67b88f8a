package flat

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
)

// BatchNorm implements nets.Ops.
func (f *flat) BatchNorm(in nets.Maps, name string) nets.Maps {
	const eps = 1e-5
	x := in.(*maps)
	y := x.like(x.c, x.h, x.w, x.p)
	column := func(s string) *Node { return Reshape(f.param(name+s, x.c), x.c, 1) }
	gamma, beta := column(".weight"), column(".bias")
	mean, variance := column(".running_mean"), column(".running_var")

	if !f.train {
		inv := Inverse(Sqrt(AddScalar(variance, eps)))
		scale := Mul(gamma, inv)
		shift := Sub(beta, Mul(mean, scale))
		for i := range x.at {
			for q, node := range x.at[i] {
				n := node.Shape().Dimensions[1]
				y.at[i][q] = Add(Mul(node, f.spread(scale, n)), f.spread(shift, n))
			}
		}
		f.back = append(f.back, func() {
			for i, pass := range f.passes {
				if pass.NoGrad {
					continue
				}
				for q, node := range y.at[i] {
					d, n := f.adjointOf(node), node.Shape().Dimensions[1]
					f.addAdjoint(x.at[i][q], Mul(d, f.spread(scale, n)))
					sum, sumX := f.rowSums(d), f.rowSums(Mul(d, x.at[i][q]))
					f.addGrad(name+".weight", Reshape(Mul(Sub(sumX, Mul(mean, sum)), inv), x.c))
					f.addGrad(name+".bias", Reshape(sum, x.c))
				}
			}
		})
		return y
	}

	for _, group := range nets.Groups(f.passes) {
		// Two passes over the maps, for accuracy: the mean, then the variance of
		// the centred maps.
		var total, squares *Node
		n := 0.0
		for _, i := range group {
			for _, node := range x.at[i] {
				total = plus(total, f.rowSums(node))
				n += float64(node.Shape().Dimensions[1])
			}
		}
		mu := DivScalar(total, n)
		centred := map[*Node]*Node{}
		for _, i := range group {
			for _, node := range x.at[i] {
				c := Sub(node, f.spread(mu, node.Shape().Dimensions[1]))
				centred[node] = c
				squares = plus(squares, f.rowSums(Square(c)))
			}
		}
		v := DivScalar(squares, n)
		inv := Inverse(Sqrt(AddScalar(v, eps)))
		scale := Mul(gamma, inv)
		for _, i := range group {
			for q, node := range x.at[i] {
				m := node.Shape().Dimensions[1]
				y.at[i][q] = Add(Mul(centred[node], f.spread(scale, m)), f.spread(beta, m))
			}
		}
		if f.passes[group[0]].UpdateStats {
			mean = Add(MulScalar(mean, 0.9), MulScalar(mu, 0.1))
			variance = Add(MulScalar(variance, 0.9), MulScalar(v, 0.1*n/math.Max(n-1, 1)))
		}
		if f.passes[group[0]].NoGrad {
			continue
		}
		f.back = append(f.back, func() {
			var sum, product *Node
			for _, i := range group {
				for q, node := range y.at[i] {
					d := f.adjointOf(node)
					sum = plus(sum, f.rowSums(d))
					product = plus(product, f.rowSums(Mul(d, centred[x.at[i][q]])))
				}
			}
			dGamma := Mul(product, inv)
			f.addGrad(name+".weight", Reshape(dGamma, x.c))
			f.addGrad(name+".bias", Reshape(sum, x.c))
			// dx = scale*(dy - sum/n - xhat*dGamma/n)
			slope := Neg(DivScalar(Mul(Mul(scale, inv), dGamma), n))
			offset := Neg(DivScalar(Mul(scale, sum), n))
			for _, i := range group {
				for q, node := range y.at[i] {
					m := node.Shape().Dimensions[1]
					d := Mul(f.adjointOf(node), f.spread(scale, m))
					d = Add(d, Mul(centred[x.at[i][q]], f.spread(slope, m)))
					f.addAdjoint(x.at[i][q], Add(d, f.spread(offset, m)))
				}
			}
		})
	}
	f.running[name+".running_mean"] = Reshape(mean, x.c)
	f.running[name+".running_var"] = Reshape(variance, x.c)
	return y
}
