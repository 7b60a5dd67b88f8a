// Package matmul makes the matrix products of GoMLX's pure-Go backend vector products where
// that has none: on arm64 with GOEXPERIMENT=simd. [Install] does so; elsewhere it does nothing.
package matmul

import (
	"sync"

	"github.com/ledg-go/ledg/ceg/internal/dot"
)

const (
	// depth is the number of products that are summed at a time: a strip and a panel of
	// that many, 8 and 32 KiB, stay in the smallest caches.
	depth = 256
	// alone is the number of multiply-adds below which goroutines do not pay.
	alone = 1 << 18

	rows, cols = dot.TileRows, dot.TileCols
)

var buffers = sync.Pool{New: func() any { return new([]float32) }}

// buffer returns n numbers, which may be anything, and what gives them back.
func buffer(n int) ([]float32, func()) {
	p := buffers.Get().(*[]float32)
	if cap(*p) < n {
		*p = make([]float32, n)
	}
	return (*p)[:n], func() { buffers.Put(p) }
}

// Multiply sets dst [batch, m, n] to the products of the matrices a [batch, m, k] and
// b [batch, k, n] or, transposed, [batch, n, k]. The order of summation depends on k alone:
// not on the number of processors. It panics if a slice is too short.
func Multiply(dst, a, b []float32, batch, m, n, k int, transposed bool) {
	dst = dst[:batch*m*n]
	if len(dst) == 0 || k == 0 {
		clear(dst)
		return
	}
	strips, panels := (m+rows-1)/rows, (n+cols-1)/cols
	each := func(n int, f func(i int)) {
		chunk := 1
		if batch*m*n*k < alone {
			chunk = n // all of them on one goroutine
		}
		dot.Each(n, chunk, func(first, last int) error {
			for i := first; i < last; i++ {
				f(i)
			}
			return nil
		})
	}
	packed, free := buffer(batch * strips * k * rows)
	defer free()
	each(batch*strips, func(i int) {
		in, first := a[i/strips*m*k:][:m*k], i%strips*rows
		pack(packed[i*k*rows:(i+1)*k*rows], rows, in[first*k:], min(m-first, rows), k, k)
	})
	// A few panels would leave processors idle, so that each is packed for some strips only.
	groups := min(max(1, 16/(batch*panels)), strips)
	each(batch*panels*groups, func(i int) {
		matrix, panel, group := i/(panels*groups), i/groups%panels, i%groups
		product{
			dst: dst[matrix*m*n:][:m*n], a: packed[matrix*strips*k*rows:], b: b[matrix*k*n:][:k*n],
			m: m, n: n, k: k, transposed: transposed,
		}.panel(panel*cols, group*strips/groups, (group+1)*strips/groups)
	})
}

// pack sets dst [k, width] to the transpose of count rows of k numbers, stride apart, and zeros.
func pack(dst []float32, width int, src []float32, count, stride, k int) {
	if count < width {
		clear(dst)
	}
	for r := range count {
		for i, v := range src[r*stride:][:k] {
			dst[i*width+r] = v
		}
	}
}

// product is one of a batch; a has its strips packed.
type product struct {
	dst, a, b  []float32
	m, n, k    int
	transposed bool
}

// panel computes the columns from col on of the rows of some strips.
func (p product) panel(col, first, last int) {
	width := min(p.n-col, cols)
	space, free := buffer(depth*cols + rows*cols)
	defer free()
	tile, space := space[:rows*cols], space[rows*cols:]
	for from := 0; from < p.k; from += depth {
		k := min(p.k-from, depth)
		b := space[:k*cols]
		if p.transposed {
			pack(b, cols, p.b[col*p.k+from:], width, p.k, k)
		} else {
			for i := range k {
				row := b[i*cols : (i+1)*cols]
				clear(row[copy(row, p.b[(from+i)*p.n+col:][:width]):])
			}
		}
		for s := first; s < last; s++ {
			dot.Tile(tile, cols, p.a[(s*p.k+from)*rows:], b, k)
			for r := range min(p.m-s*rows, rows) {
				to, sums := p.dst[(s*rows+r)*p.n+col:][:width], tile[r*cols:]
				if from == 0 {
					copy(to, sums)
					continue
				}
				for i, v := range sums[:len(to)] {
					to[i] += v
				}
			}
		}
	}
}
