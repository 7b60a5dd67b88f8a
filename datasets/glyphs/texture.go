package glyphs

import "math"

// lattice is smooth noise: random values on a grid, with smooth interpolation
// between them. Values are in [-256, 256].
type lattice struct {
	w, h int
	v    []int
}

// lattice returns noise of w by h cells.
func (p *painter) lattice(w, h int) *lattice {
	n := &lattice{w: w, h: h, v: make([]int, (w+1)*(h+1))}
	for i := range n.v {
		n.v[i] = p.between(-one, one)
	}
	return n
}

// at returns the noise at a position in 1/256 cells; outside the grid it is the border's.
func (n *lattice) at(u, v int) int {
	u, v = clamp(u, 0, n.w*one-1), clamp(v, 0, n.h*one-1)
	i := v/one*(n.w+1) + u/one
	fu, fv := ease(u%one), ease(v%one)
	top := n.v[i]*(one-fu) + n.v[i+1]*fu
	bottom := n.v[i+n.w+1]*(one-fu) + n.v[i+n.w+2]*fu
	return (top*(one-fv) + bottom*fv) / (one * one)
}

// ease is smoothstep, 3t²-2t³, on 1/256.
func ease(t int) int { return t * t * (3*one - 2*t) / (one * one) }

// texture returns noise for every pixel in about [-256, 256]: an octave of w by
// h cells and two finer ones of half and a quarter of its strength.
func (p *painter) texture(w, h int) []int {
	sum := make([]int, len(p.canvas))
	for octave := range 3 {
		n := p.lattice(w<<octave, h<<octave)
		p.each(func(i int, at point) {
			sum[i] += n.at(at.x*n.w*one/side, at.y*n.h*one/side) * 5 / (8 << octave)
		})
	}
	return sum
}

// slope returns a linear ramp over the image, from about -256 to 256, rising
// towards an angle in degrees.
func (p *painter) slope(degrees int) func(at point) int {
	sin, cos := sine(degrees), sine(degrees+90)
	return func(at point) int {
		return ((at.x-side/2)*cos + (at.y-side/2)*sin) / sineOne * 2 * one / side
	}
}

// root returns the length of (x, y), rounded down. The square root of IEEE 754
// is exact to the last bit everywhere.
func root(x, y int) int { return int(math.Sqrt(float64(int64(x)*int64(x) + int64(y)*int64(y)))) }
