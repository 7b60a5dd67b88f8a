//go:build goexperiment.simd && amd64

package direct

// Distances are in bytes, and taps in pairs: of the value and of the weight.
//
//go:noescape
func weigh32AVX512(dst *float32, step, row int, src *float32, move, fall int, taps *int, n int, weights *float32, rows, cols int)

//go:noescape
func weigh16AVX512(dst *float32, step, row int, src *float32, move, fall int, taps *int, n int, weights *float32, rows, cols int)

// These set five sums, of taps at the given byte offsets after the first value.
//
//go:noescape
func unweigh32AVX512(sums *[together5 * slice]float32, dy *float32, width int, src *float32, move, fall int, at *[together5]int, rows, cols int)

//go:noescape
func unweigh16AVX512(sums *[together5 * slice]float32, dy *float32, width int, src *float32, move, fall int, at *[together5]int, rows, cols int)

// together5 is the number of weights whose gradients are computed together.
const together5 = 5

func (s *sweep) weigh(dst view, src, weights []float32, channels int) {
	if !hasAVX512 || channels != slice && channels != slice/2 || len(s.taps) == 0 {
		s.weighGeneric(dst, src, weights, channels)
		return
	}
	_ = dst.v[(s.to+(s.rows-1)*s.row+(s.cols-1)*s.step)*dst.stride+channels-1]
	_ = src[s.reach()+channels-1]
	_ = weights[s.lastWeight*s.channels+channels-1]
	to, from, apart := &dst.v[s.to*dst.stride], &src[s.from*slice], 4*dst.stride
	if channels == slice {
		weigh32AVX512(to, apart*s.step, apart*s.row, from, 4*slice*s.move, 4*slice*s.fall, &s.bytes[0], len(s.taps), &weights[0], s.rows, s.cols)
	} else {
		weigh16AVX512(to, apart*s.step, apart*s.row, from, 4*slice*s.move, 4*slice*s.fall, &s.bytes[0], len(s.taps), &weights[0], s.rows, s.cols)
	}
}

// reach is the last pixel that is read.
func (s *sweep) reach() int {
	return (s.from + (s.rows-1)*s.fall + (s.cols-1)*s.move + s.farthest) * slice
}

func (s *sweep) unweigh(dy []float32, width int, src, weights []float32, channels int) {
	if !hasAVX512 || channels != slice && channels != slice/2 {
		s.unweighGeneric(dy, width, src, weights, channels)
		return
	}
	_ = dy[((s.rows-1)*width+s.cols-1)*slice+channels-1]
	_ = src[s.reach()+channels-1]
	from := &src[s.from*slice]
	for i := 0; i < len(s.taps); i += together5 {
		some := s.taps[i:min(i+together5, len(s.taps))]
		var at [together5]int
		for j := range at {
			at[j] = 4 * slice * some[min(j, len(some)-1)].at
		}
		var sums [together5 * slice]float32
		if channels == slice {
			unweigh32AVX512(&sums, &dy[0], 4*slice*width, from, 4*slice*s.move, 4*slice*s.fall, &at, s.rows, s.cols)
		} else {
			unweigh16AVX512(&sums, &dy[0], 4*slice*width, from, 4*slice*s.move, 4*slice*s.fall, &at, s.rows, s.cols)
		}
		for j, t := range some {
			add(weights[t.weight*s.channels:], 1, sums[j*slice:][:channels])
		}
	}
}
