//go:build goexperiment.simd && amd64

package tsne

import "simd/archsimd"

var hasPanels = archsimd.X86.AVX2()

// panelForces is rowForces of the eight rows of a panel, from row i on, at once: each lane adds the same numbers in the same
// order.
func panelForces(p, y0, y1 []float32, i int, out []forces) {
	c0, c1 := archsimd.LoadFloat32x8(y0[i:i+panel]), archsimd.LoadFloat32x8(y1[i:i+panel])
	one := archsimd.BroadcastFloat32x8(1)
	var sums [5][panel]float32
	for len(y0) > 0 {
		m := min(stretch, len(y0))
		var z, a0, a1, r0, r1 archsimd.Float32x8
		x0, x1, q := y0[:m], y1[:m], p[:panel*m]
		for j, v := range x0 {
			d0, d1 := c0.Sub(archsimd.BroadcastFloat32x8(v)), c1.Sub(archsimd.BroadcastFloat32x8(x1[j]))
			w := one.Div(one.Add(d0.Mul(d0)).Add(d1.Mul(d1)))
			z = z.Add(w)
			pw := archsimd.LoadFloat32x8(q[panel*j : panel*j+panel]).Mul(w)
			a0, a1 = a0.Add(pw.Mul(d0)), a1.Add(pw.Mul(d1))
			w = w.Mul(w)
			r0, r1 = r0.Add(w.Mul(d0)), r1.Add(w.Mul(d1))
		}
		for k, s := range []archsimd.Float32x8{z, a0, a1, r0, r1} {
			s.StoreArray(&sums[k])
		}
		archsimd.ClearAVXUpperBits()
		for r := range out {
			f := &out[r]
			f.weight += float64(sums[0][r])
			f.attract[0] += float64(sums[1][r])
			f.attract[1] += float64(sums[2][r])
			f.repel[0] += float64(sums[3][r])
			f.repel[1] += float64(sums[4][r])
		}
		p, y0, y1 = p[panel*m:], y0[m:], y1[m:]
	}
}
