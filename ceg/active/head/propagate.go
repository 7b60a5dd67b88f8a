package head

import (
	"fmt"
	"math"
	"slices"

	"github.com/ledg-go/ledg/ceg/internal/dot"
)

// PropagateOptions are the settings of [Propagate]. The zero value means the settings of Iscen et
// al.
type PropagateOptions struct {
	// Neighbours is the number of nearest neighbours of each row in the graph; 0 means 50.
	Neighbours int
	// Power is the exponent of the cosines in the graph's weights; 0 means 3.
	Power float64
	// Alpha is the share of a row's label that comes from its neighbours, in (0, 1); 0 means
	// 0.99.
	Alpha float64
}

// Propagate spreads the labels of some rows of features [rows, D] over a graph of nearest
// neighbours, and returns a class distribution for every row, [rows, n] row-major. It is label
// spreading (Zhou et al., Learning with Local and Global Consistency, NIPS 2003) with the graph
// of Iscen et al., Label Propagation for Deep Semi-supervised Learning, CVPR 2019:
//
//	A_ij = max(0, cos(x_i, x_j))^Power   if j is one of the Neighbours nearest to i
//	W = A + A',  S = D^-1/2 W D^-1/2,  (I - Alpha S) Z = Y
//
// where Y holds one-hot labels. Rows of Z are normalised to sum 1. A row that no label reaches
// gets the uniform distribution. labelled lists the rows with labels, classes their classes in
// [0, n).
func Propagate(features Matrix, labelled, classes []int, n int, o PropagateOptions) ([]float64, error) {
	k, power, alpha := o.Neighbours, o.Power, o.Alpha
	if k == 0 {
		k = 50
	}
	if power == 0 {
		power = 3
	}
	if alpha == 0 {
		alpha = 0.99
	}
	switch {
	case n < 1:
		return nil, fmt.Errorf("head: %d classes, want at least 1", n)
	case len(labelled) == 0 || len(labelled) != len(classes):
		return nil, fmt.Errorf("head: %d labelled rows and %d classes, want as many, at least 1", len(labelled), len(classes))
	case k < 1 || !(power > 0) || !(alpha > 0 && alpha < 1):
		return nil, fmt.Errorf("head: %d neighbours, power %v and alpha %v, want at least 1, above 0 and in (0, 1)", k, power, alpha)
	case features.Stride != features.Cols || len(features.Data) != features.Rows*features.Cols:
		return nil, fmt.Errorf("head: features of %d rows of %d have %d values", features.Rows, features.Cols, len(features.Data))
	}
	for i, r := range labelled {
		if r < 0 || r >= features.Rows || classes[i] < 0 || classes[i] >= n {
			return nil, fmt.Errorf("head: labelled row %d of class %d, want rows of %d and classes of %d", r, classes[i], features.Rows, n)
		}
	}
	for i, v := range features.Data {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("head: row %d of the features has %v", i/features.Cols, v)
		}
	}
	g := newGraph(features, min(k, features.Rows-1), power)
	out := make([]float64, features.Rows*n)
	y := make([]float64, features.Rows)
	for c := range n {
		clear(y)
		for i, r := range labelled {
			if classes[i] == c {
				y[r] = 1
			}
		}
		for i, z := range g.solve(y, alpha) {
			out[i*n+c] = max(0, z)
		}
	}
	for i := range features.Rows {
		row := out[i*n : (i+1)*n]
		sum := 0.0
		for _, z := range row {
			sum += z
		}
		for c := range row {
			if sum > 0 {
				row[c] /= sum
			} else {
				row[c] = 1 / float64(n)
			}
		}
	}
	return out, nil
}

// edge is an edge to a row.
type edge struct {
	to     int
	weight float64
}

// graph is S of [Propagate], row by row.
type graph [][]edge

// newGraph joins every row with its k nearest by cosine. Of equally near ones the first.
func newGraph(m Matrix, k int, power float64) graph {
	if k == 0 { // a single row
		return make(graph, m.Rows)
	}
	unit := make([]float64, len(m.Data))
	for i := range m.Rows {
		row, square := m.Data[i*m.Cols:(i+1)*m.Cols], 0.0
		for _, v := range row {
			square += float64(v) * float64(v)
		}
		if square == 0 {
			continue
		}
		scale := 1 / math.Sqrt(square)
		for j, v := range row {
			unit[i*m.Cols+j] = float64(v) * scale
		}
	}
	weights := make([]map[int]float64, m.Rows)
	for i := range weights {
		weights[i] = map[int]float64{}
	}
	row := func(i int) []float64 { return unit[i*m.Cols : (i+1)*m.Cols] }
	// Estimates tell which rows may be among the nearest, and products which of them are.
	const block = 128
	size, stride := dot.EstimateSize(block, m.Rows)
	all, estimates := dot.NewPanels(unit, m.Cols), make([]float32, size)
	slack := float32(2*dot.EstimateError(m.Cols) + 1e-9) // float32 underflow is within 1e-9
	var strips dot.Strips
	var near []int
	var cosines, sorted []float64
	var top []float32
	for first := 0; first < m.Rows; first += block {
		last := min(first+block, m.Rows)
		dot.SetStrips(&strips, unit[first*m.Cols:last*m.Cols], m.Cols)
		dot.Estimate(estimates, &strips, all)
		for i := first; i < last; i++ {
			of := estimates[(i-first)*stride:][:m.Rows]
			of[i] = float32(math.Inf(-1)) // no row is its own neighbour
			top = keepLargest(top, of, k)
			v := dot.NewVector(row(i))
			near, cosines = near[:0], cosines[:0]
			for j, e := range of {
				if j != i && e >= top[0]-slack {
					near, cosines = append(near, j), append(cosines, dot.Product(row(j), v))
				}
			}
			sorted = slices.Grow(sorted[:0], len(near))[:len(near)]
			for _, at := range nearest(cosines, k, sorted) {
				j := near[at]
				if a := math.Pow(max(0, cosines[at]), power); a > 0 {
					weights[i][j] += a
					weights[j][i] += a
				}
			}
		}
	}
	g, degree := make(graph, m.Rows), make([]float64, m.Rows)
	for i, list := range weights {
		for j, w := range list {
			g[i] = append(g[i], edge{j, w})
		}
		slices.SortFunc(g[i], func(a, b edge) int { return a.to - b.to })
		for _, e := range g[i] {
			degree[i] += e.weight
		}
	}
	for i, list := range g {
		for e := range list {
			list[e].weight /= math.Sqrt(degree[i] * degree[list[e].to])
		}
	}
	return g
}

// keepLargest returns the k largest of at least k values, ascending, in the memory of top.
func keepLargest(top, values []float32, k int) []float32 {
	top = append(top[:0], values[:k]...)
	slices.Sort(top)
	for _, v := range values[k:] {
		if v > top[0] {
			at, _ := slices.BinarySearch(top, v)
			copy(top, top[1:at])
			top[at-1] = v
		}
	}
	return top
}

// nearest returns the places of the k largest values, of equal ones the first. sorted is
// memory for as many values.
func nearest(values []float64, k int, sorted []float64) []int {
	copy(sorted, values)
	slices.Sort(sorted)
	least := sorted[len(sorted)-k]
	equal := k
	for _, v := range values {
		if v > least {
			equal--
		}
	}
	var at []int
	for i, v := range values {
		if v > least {
			at = append(at, i)
		} else if v == least && equal > 0 {
			at, equal = append(at, i), equal-1
		}
	}
	return at
}

// solve solves (I - alpha S) z = y.
func (g graph) solve(y []float64, alpha float64) []float64 {
	return conjugateGradients(y, func(dst, v []float64) {
		for i, list := range g {
			dst[i] = v[i]
			for _, e := range list {
				dst[i] -= alpha * e.weight * v[e.to]
			}
		}
	}, func(dst, v []float64) { copy(dst, v) }, 1e-16, 0, 1000)
}

// conjugateGradients solves A z = y, A positive definite, until the residual's square in the
// preconditioner's norm is at most least, or a share of its first, or for most products with A.
func conjugateGradients(y []float64, multiply, precondition func(dst, v []float64), share, least float64, most int) []float64 {
	z, r, near, q := make([]float64, len(y)), slices.Clone(y), make([]float64, len(y)), make([]float64, len(y))
	precondition(near, r)
	p, rr := slices.Clone(near), product(r, near)
	for end, n := max(share*rr, least), 0; n < most && (n == 0 || rr > end); n++ {
		multiply(q, p)
		bend := product(p, q)
		if !(bend > 0) { // y is 0, or rounding
			break
		}
		step := rr / bend
		for i := range z {
			z[i] += step * p[i]
			r[i] -= step * q[i]
		}
		before := rr
		precondition(near, r)
		rr = product(r, near)
		for i := range p {
			p[i] = near[i] + rr/before*p[i]
		}
	}
	return z
}

func product(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// Certainty is 1 minus the normalised entropy of a distribution, in [0, 1]: the weight of a
// pseudo-label in Iscen et al. With one class it is 1.
func Certainty(p []float64) float64 {
	if len(p) < 2 {
		return 1
	}
	entropy := 0.0
	for _, v := range p {
		if v > 0 {
			entropy -= v * math.Log(v)
		}
	}
	return max(0, 1-entropy/math.Log(float64(len(p))))
}
