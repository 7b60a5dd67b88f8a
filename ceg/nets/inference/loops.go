package inference

import "github.com/ledg-go/ledg/ceg/internal/dot"

// correlateGeneric sets dst[i] to bias plus the sum over taps of src[i+offsets[t]]*w[t],
// limited to [lo, hi]. The length of dst is a multiple of 16.
func correlateGeneric(dst, src []float32, offsets []int, w []float32, bias, lo, hi float32) {
	for i := range dst {
		dst[i] = bias
	}
	for t, o := range offsets {
		v := w[t]
		for i, x := range src[o : o+len(dst)] {
			dst[i] += v * x
		}
	}
	for i, x := range dst {
		dst[i] = min(max(x, lo), hi)
	}
}

// finishGeneric adds a bias to every row of a tile and limits it to [lo, hi].
func finishGeneric(tile, bias []float32, lo, hi float32) {
	for r, b := range bias {
		row := tile[r*dot.TileCols : (r+1)*dot.TileCols]
		for i, x := range row {
			row[i] = min(max(x+b, lo), hi)
		}
	}
}

// finishPlusGeneric is finishGeneric after adding another tile.
func finishPlusGeneric(tile, plus, bias []float32, lo, hi float32) {
	for i, x := range plus[:len(tile)] {
		tile[i] += x
	}
	finishGeneric(tile, bias, lo, hi)
}
