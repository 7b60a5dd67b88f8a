package objective

import (
	"fmt"
	"math/rand/v2"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/objective/augment"
)

// DAEL trains one expert E_k for each source domain k. The mean of the other experts on strong
// views is trained to match E_k on weak views (Zhou et al., "Domain Adaptive Ensemble Learning",
// IEEE TIP 2021; the domain generalization form of Dassl's engine/dg/daeldg.py). Domains pass
// separately, in random order. p_k is the softmax of E_k, and sums over K domains are divided by
// K:
//
//	L_x     = sum over k of the mean over images of k of -ln(p_k(x_weak)[y] + 1e-5)
//	L_cr    = sum over k of the mean over images of k of the sum over classes of
//	          (mean over j != k of p_j(x_strong) - p_k(x_weak))^2, p_k constant
//	L_total = L_x + L_cr
//	test    : mean over k of p_k
//
// It needs at least two source domains.
func DAEL() Objective {
	prob := func(h Heads, k int, features *Node) *Node { return Softmax(h.Head(expert(k), features), -1) }
	return Objective{
		Name: "dael",
		Inputs: []Input{Images("x_weak", Labelled, augment.WeakView), Images("x_strong", Labelled, augment.WideStrongView),
			Labels("y", Labelled)},
		Draws: []Draw{Ints("domain_order", func(d Dims) []int { return []int{d.Domains} }, func(r *rand.Rand, _ Dims, v []int32) {
			for i, k := range r.Perm(len(v)) {
				v[i] = int32(k)
			}
		})},
		Nets: func(d Dims) (list []Net) {
			for k := range d.Domains {
				list = append(list, Linear(expert(k), d.Features, d.Classes))
			}
			return list
		},
		Step: func(s Step) {
			n := s.Dims().Domains
			if n < 2 {
				panic(fmt.Sprintf("dael: %d source domain, want two or more", n))
			}
			order := s.In("domain_order")
			place := ArgMax(OneHot(order, n, dtypes.Float32), 0, dtypes.Int32) // of each domain in the order
			f := s.Forward(Backbone, View{Images: byDomain(s.In("x_weak"), order), Parts: n},
				View{Images: byDomain(s.In("x_strong"), order), Parts: n})
			weak, strong := byDomain(f[0], place), byDomain(f[1], place)
			s.Note("features weak", weak)
			s.Note("features strong", strong)

			var lx, lcr *Node
			moved := []string{Backbone}
			for k := range n {
				own := prob(s, k, OfDomain(s, weak, k))
				var others *Node
				for j := range n {
					if j != k {
						others = plus(others, prob(s, j, OfDomain(s, strong, k)))
					}
				}
				others = DivScalar(others, float64(n-1))
				s.Note(fmt.Sprint("prob.expert_", k), own)
				s.Note(fmt.Sprint("prob.others_", k), others)

				hot := OneHot(OfDomain(s, s.In("y"), k), s.Dims().Classes, own.DType())
				x := Neg(ReduceAllMean(Log(AddScalar(ReduceSum(Mul(hot, own), -1), 1e-5))))
				cr := ReduceAllMean(ReduceSum(Square(Sub(others, StopGradient(own))), -1))
				s.Term(fmt.Sprint("x_", k), x)
				s.Term(fmt.Sprint("cr_", k), cr)
				lx, lcr = plus(lx, x), plus(lcr, cr)
				moved = append(moved, expert(k))
			}
			lx, lcr = DivScalar(lx, float64(n)), DivScalar(lcr, float64(n))
			s.Term("x", lx)
			s.Term("cr", lcr)
			s.Minimise("total", Add(lx, lcr), moved...)
		},
		Test: Experts(func(d Dims) (heads []string) {
			for k := range d.Domains {
				heads = append(heads, expert(k))
			}
			return heads
		}),
	}
}

// expert is the name of a domain's head.
func expert(k int) string { return fmt.Sprint("E.", k) }

// byDomain arranges the domains of a batch: order[i] is the one at place i.
func byDomain(batch, order *Node) *Node {
	dims := batch.Shape().Dimensions
	n := order.Shape().Dimensions[0]
	parts := Reshape(batch, append([]int{n, dims[0] / n}, dims[1:]...)...)
	return Reshape(Gather(parts, InsertAxes(order, 1)), dims...)
}

// plus is a + b; a may be nil for nothing.
func plus(a, b *Node) *Node {
	if a == nil {
		return b
	}
	return Add(a, b)
}
