package direct

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/ledg-go/ledg/ceg/internal/dot"
)

// lanes is what numbers of channels are filled up to a multiple of.
const lanes = 16

func padded(c int) int { return (c + lanes - 1) / lanes * lanes }

// slice is the number of channels that loops over maps take at a time.
const slice = dot.TileCols

// panels lays out a matrix [k, columns] for product: slices of its columns one after the other,
// each row by row. Column j of row i is m[i*si+j*sj]; what fills up columns is zero.
func panels(m []float32, si, sj, k, columns int) []float32 {
	all := padded(columns)
	out := make([]float32, k*all)
	for from := 0; from < columns; from += slice {
		w := min(slice, all-from)
		panel := out[from*k:]
		for i := range k {
			row := panel[i*w : (i+1)*w]
			for j := range min(w, columns-from) {
				row[j] = m[i*si+(from+j)*sj]
			}
		}
	}
	return out
}

// product multiplies a [rows, k] by a matrix in the layout of panels, and stores the result in the
// rows of dst, or adds it.
func (s *scratch) product(dst, a view, rows, k int, panels []float32, columns int, add bool) {
	whole := rows / dot.TileRows * dot.TileRows
	for j := 0; j < columns; j += slice {
		w := min(slice, columns-j)
		p := panels[j*k : (j+w)*k]
		for r := 0; r < whole; r += dot.TileRows {
			dot.Strided(dst.v[r*dst.stride+j:], dst.stride, a.v[r*a.stride:], a.stride, 1, p, w, w, k, add)
		}
		if whole == rows {
			continue
		}
		last := grow(&s.last, dot.TileRows*(k+slice))
		in, out := last[:dot.TileRows*k], last[dot.TileRows*k:]
		for r := range rows - whole {
			copy(in[r*k:(r+1)*k], a.v[(whole+r)*a.stride:])
		}
		dot.Strided(out, slice, in, k, 1, p, w, w, k, false)
		for r := range rows - whole {
			row := dst.v[(whole+r)*dst.stride+j:][:w]
			if !add {
				clear(row)
			}
			for i, v := range out[r*slice : r*slice+w] {
				row[i] += v
			}
		}
	}
}

// outer adds to dst [m, n] the product of the transpose of a [rows, m] and b [rows, n].
func outer(dst, a view, m int, b view, n, rows int) {
	for i := 0; i < m; i += dot.TileRows {
		for j := 0; j < n; j += slice {
			dot.Strided(dst.v[i*dst.stride+j:], dst.stride, a.v[i:], 1, a.stride, b.v[j:], b.stride, min(slice, n-j), rows, true)
		}
	}
}

// scratch are the buffers of one goroutine.
type scratch struct {
	last, a, b, c, d, row []float32
	sums                  [2][]float32
}

// parallel calls do for 0 to n-1 on as many goroutines as there are processors.
func (t *Trainer) parallel(n int, do func(s *scratch, i int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	for len(t.scratch) < workers {
		t.scratch = append(t.scratch, new(scratch))
	}
	var next atomic.Int64
	work := func(s *scratch) {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			do(s, i)
		}
	}
	var wg sync.WaitGroup
	for w := 1; w < workers; w++ {
		wg.Go(func() { work(t.scratch[w]) })
	}
	if workers > 0 {
		work(t.scratch[0])
	}
	wg.Wait()
}

// pool keeps buffers for others that are no larger, and at least half as large.
type pool struct {
	mu   sync.Mutex
	free map[int][][]float32
}

// get returns a buffer of n values, which may be anything.
func (p *pool) get(n int) []float32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	best := 2*n + 1
	for size, l := range p.free {
		if len(l) > 0 && size >= n {
			best = min(best, size)
		}
	}
	if best > 2*n {
		return make([]float32, n)
	}
	l := p.free[best]
	p.free[best] = l[:len(l)-1]
	return l[len(l)-1][:n]
}

// zeros returns a buffer of n zeros.
func (p *pool) zeros(n int) []float32 {
	v := p.get(n)
	clear(v)
	return v
}

// put takes buffers back.
func (p *pool) put(list ...[]float32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, v := range list {
		if v != nil {
			p.free[cap(v)] = append(p.free[cap(v)], v)
		}
	}
}
