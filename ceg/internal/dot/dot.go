// Package dot computes inner products of many vectors, fast and with the same result on every
// machine.
//
// [Products] compares a block of rows with a set of vectors, both packed by [Pack]; [Against]
// compares every row of a float32 matrix with one vector. [Each] distributes rows over the
// processors. [Estimate] computes products in float32 with an error bound, to find the few
// products that matter, which [Product] then computes.
//
// Every inner product except an estimate is summed in float64 in one fixed order, independent of
// row position, number of processors and instruction set. Element j is added to partial sum j
// mod 8 with a fused multiply-add, and the eight sums are added as ((0+4)+(2+6)) +
// ((1+5)+(3+7)). So equal rows have equal products and exact ties, and ranks are the same with
// AVX-512, AVX2, NEON or none.
package dot

import "fmt"

const (
	lanes = 8            // partial sums of an inner product
	tile  = 4            // vectors whose elements are interleaved in a Packed
	step  = tile * lanes // elements of a tile that a kernel takes at a time

	cached = 1 << 15 // elements that stay in a processor's cache, 256 KiB
)

// Number is an element type of a matrix.
type Number interface{ float32 | float64 }

// Packed holds vectors in the kernels' layout: float64, four vectors interleaved in groups of
// eight elements, zero-padded to full tiles.
type Packed struct {
	rows, cols int
	tileLen    int // elements of a tile: cols rounded up to lanes, times tile
	data       []float64
}

// Pack returns the vectors of a row-major matrix, len(rows)/cols of them.
// It panics if cols is not positive or does not divide len(rows).
func Pack[T Number](rows []T, cols int) *Packed {
	p := new(Packed)
	PackInto(p, rows, cols)
	return p
}

// PackInto is [Pack] into p, reusing its memory.
func PackInto[T Number](p *Packed, rows []T, cols int) {
	if cols <= 0 || len(rows)%cols != 0 {
		panic(fmt.Sprintf("dot: %d elements are not rows of %d", len(rows), cols))
	}
	p.rows, p.cols = len(rows)/cols, cols
	p.tileLen = (cols + lanes - 1) / lanes * step
	need := (p.rows + tile - 1) / tile * p.tileLen
	if cap(p.data) < need {
		p.data = make([]float64, need)
	}
	p.data = p.data[:need]
	for i := range (p.rows + tile - 1) / tile * tile {
		dst := p.data[i/tile*p.tileLen+i%tile*lanes:]
		var row []T
		if i < p.rows {
			row = rows[i*cols : (i+1)*cols]
		}
		for k := 0; k < p.tileLen; k += step {
			eight := dst[k : k+lanes]
			n := min(lanes, len(row))
			for l, v := range row[:n] {
				eight[l] = float64(v)
			}
			clear(eight[n:])
			row = row[n:]
		}
	}
}

// Len returns the number of vectors.
func (p *Packed) Len() int { return p.rows }

// tileAt returns the tile that starts with vector i, a multiple of four.
func (p *Packed) tileAt(i int) []float64 { return p.data[i/tile*p.tileLen:][:p.tileLen] }

// Squares sets dst[i] to the squared length of vector i of p.
func Squares(dst []float64, p *Packed) {
	var sums [tile * tile]float64
	for i := 0; i < p.rows; i += tile {
		products(&sums, p.tileAt(i), p.tileAt(i))
		for y := range min(tile, p.rows-i) {
			dst[i+y] = sums[y*tile+y]
		}
	}
}

// Products sets dst[i*b.Len()+j] to the inner product of vector i of a and
// vector j of b. It panics if their lengths differ.
func Products(dst []float64, a, b *Packed) {
	if a.cols != b.cols {
		panic(fmt.Sprintf("dot: vectors of %d and of %d elements", a.cols, b.cols))
	}
	var sums [tile * tile]float64
	some := max(cached/b.tileLen, 1) * tile // of b, which stay in the cache
	for first := 0; first < b.rows; first += some {
		last := min(first+some, b.rows)
		for i := 0; i < a.rows; i += tile {
			for j := first; j < last; j += tile {
				products(&sums, a.tileAt(i), b.tileAt(j))
				for y := range min(tile, a.rows-i) {
					copy(dst[(i+y)*b.rows+j:(i+y)*b.rows+min(j+tile, b.rows)], sums[y*tile:(y+1)*tile])
				}
			}
		}
	}
}

// Vector is one vector, padded for the kernels.
type Vector struct {
	cols int
	data []float64 // padded with zeros to a multiple of lanes
}

// NewVector returns a padded copy of v.
func NewVector[T Number](v []T) Vector {
	w := Vector{len(v), make([]float64, (len(v)+lanes-1)/lanes*lanes)}
	for i, x := range v {
		w.data[i] = float64(x)
	}
	return w
}

// Product returns the inner product of a row and v, of equal length.
func Product[T Number](row []T, v Vector) float64 {
	switch r := any(row).(type) {
	case []float32:
		return one(r, v.data)
	case []float64:
		return float64s(r, v.data)
	}
	return product(row, v.data)
}

// Square returns the squared length of a row.
func Square[T Number](row []T) float64 {
	if r, ok := any(row).([]float64); ok {
		return float64s(r, r)
	}
	return Product(row, NewVector(row))
}

// Against sets dst[i] to the inner product of v and row i of a row-major float32 matrix with
// len(rows)/len(v) rows.
func Against(dst []float64, rows []float32, v Vector) {
	n := len(rows) / v.cols
	var sums [tile]float64
	i := 0
	for ; i+tile <= n; i += tile {
		against(&sums, rows[i*v.cols:(i+tile)*v.cols], v)
		copy(dst[i:], sums[:])
	}
	for ; i < n; i++ {
		dst[i] = product(rows[i*v.cols:(i+1)*v.cols], v.data)
	}
}
