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

	// apply writes y = x*scale + shift for a pass.
	apply := func(i int, scale, shift *Node) {
		for q, node := range x.at[i] {
			n := node.Shape().Dimensions[1]
			y.at[i][q] = Add(Mul(node, f.spread(scale, n)), f.spread(shift, n))
		}
	}
	if !f.train {
		inv := Inverse(Sqrt(AddScalar(variance, eps)))
		scale := Mul(gamma, inv)
		for i := range x.at {
			apply(i, scale, Sub(beta, Mul(mean, scale)))
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
		var total, squares *Node
		n := 0.0
		for _, i := range group {
			for _, node := range x.at[i] {
				total = plus(total, f.rowSums(node))
				squares = plus(squares, f.rowSums(Square(node)))
				n += float64(node.Shape().Dimensions[1])
			}
		}
		mu := DivScalar(total, n)
		v := MaxScalar(Sub(DivScalar(squares, n), Square(mu)), 0)
		inv := Inverse(Sqrt(AddScalar(v, eps)))
		scale := Mul(gamma, inv)
		for _, i := range group {
			apply(i, scale, Sub(beta, Mul(mu, scale)))
		}
		if f.passes[group[0]].UpdateStats {
			mean = Add(MulScalar(mean, 0.9), MulScalar(mu, 0.1))
			variance = Add(MulScalar(variance, 0.9), MulScalar(v, 0.1*n/math.Max(n-1, 1)))
		}
		if f.passes[group[0]].NoGrad {
			continue
		}
		f.back = append(f.back, func() {
			var sum, sumX *Node
			for _, i := range group {
				for q, node := range y.at[i] {
					d := f.adjointOf(node)
					sum = plus(sum, f.rowSums(d))
					sumX = plus(sumX, f.rowSums(Mul(d, x.at[i][q])))
				}
			}
			dGamma := Mul(Sub(sumX, Mul(mu, sum)), inv)
			f.addGrad(name+".weight", Reshape(dGamma, x.c))
			f.addGrad(name+".bias", Reshape(sum, x.c))
			// dx = scale*(dy - sum/n - xhat*dGamma/n), as a*dy + b*x + c.
			slope := Neg(DivScalar(Mul(Mul(scale, inv), dGamma), n))
			offset := Neg(Add(DivScalar(Mul(scale, sum), n), Mul(slope, mu)))
			for _, i := range group {
				for q, node := range y.at[i] {
					m := node.Shape().Dimensions[1]
					d := Mul(f.adjointOf(node), f.spread(scale, m))
					d = Add(d, Mul(x.at[i][q], f.spread(slope, m)))
					f.addAdjoint(x.at[i][q], Add(d, f.spread(offset, m)))
				}
			}
		})
	}
	f.running[name+".running_mean"] = Reshape(mean, x.c)
	f.running[name+".running_var"] = Reshape(variance, x.c)
	return y
}
