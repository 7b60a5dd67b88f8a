package dot

// Strided sets the tile dst[i*sd+j], i below TileRows and j below cols (16 or 32), to the
// product of two strided float32 matrices, or adds it: the sum over l below k (at least 1) of
// a[i*si+l*sk] * b[l*sb+j]. With si or sk of 1, a row or a column of a is contiguous, so a
// matrix and its transpose are read without a copy. Summation is in the order of l, in registers
// that are added to dst at the end. It panics if a slice is too short.
func Strided(dst []float32, sd int, a []float32, si, sk int, b []float32, sb, cols, k int, add bool) {
	strided(dst[:(TileRows-1)*sd+cols], sd, a[:(TileRows-1)*si+(k-1)*sk+1], si, sk, b[:(k-1)*sb+cols], sb, cols, k, add)
}

func stridedGeneric(dst []float32, sd int, a []float32, si, sk int, b []float32, sb, cols, k int, add bool) {
	for i := range TileRows {
		var sums [TileCols]float32
		for l := range k {
			x := a[i*si+l*sk]
			for j, y := range b[l*sb : l*sb+cols] {
				sums[j] += x * y
			}
		}
		row := dst[i*sd : i*sd+cols]
		for j := range row {
			if add {
				row[j] += sums[j]
			} else {
				row[j] = sums[j]
			}
		}
	}
}
