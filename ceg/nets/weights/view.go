package weights

import (
	"fmt"
	"math"
)

const maxRank = 64

// numel returns the number of elements, or an error if there are more than any
// file could hold.
func (v *view) numel() (int, error) {
	n := 1
	for _, d := range v.shape {
		if d == 0 {
			return 0, nil
		}
	}
	for _, d := range v.shape {
		if n > math.MaxInt64/16/d { // 16: room for bytes per element
			return 0, fmt.Errorf("shape %v is too large", v.shape)
		}
		n *= d
	}
	return n, nil
}

// check reports a view that does not lie within its storage.
func (v *view) check() error {
	fail := func(why string) error {
		return fmt.Errorf("a tensor of shape %v, strides %v, offset %d on storage %q of %d elements: %s",
			v.shape, v.strides, v.offset, v.on.key, v.on.len, why)
	}
	if len(v.shape) > maxRank {
		return fmt.Errorf("a tensor of %d axes, at most %d are allowed", len(v.shape), maxRank)
	}
	if len(v.shape) != len(v.strides) {
		return fail("shape and strides differ in length")
	}
	for i := range v.shape {
		if v.shape[i] < 0 || v.strides[i] < 0 {
			return fail("negative shape or stride")
		}
	}
	n, err := v.numel()
	if err != nil {
		return fail("too large")
	}
	if v.offset < 0 || v.offset > v.on.len {
		return fail("the offset is out of range")
	}
	if n == 0 {
		return nil
	}
	last := v.offset
	for i, d := range v.shape {
		if d == 1 {
			continue
		}
		if v.strides[i] > (math.MaxInt64-last)/(d-1) {
			return fail("it reaches beyond the storage")
		}
		last += (d - 1) * v.strides[i]
	}
	if last >= v.on.len {
		return fail("it reaches beyond the storage")
	}
	return nil
}

// gather copies the view's elements, of size bytes each, out of the bytes of its
// storage (from the storage's own offset on) into C order.
func (v *view) gather(data []byte, n, size int) []byte {
	out := make([]byte, n*size)
	if n == 0 {
		return out
	}
	if v.contiguous() {
		copy(out, data[v.offset*size:])
		return out
	}
	index := make([]int, len(v.shape))
	at := v.offset
	for o := 0; o < len(out); o += size {
		copy(out[o:o+size], data[at*size:])
		for axis := len(index) - 1; axis >= 0; axis-- { // an odometer
			index[axis]++
			at += v.strides[axis]
			if index[axis] < v.shape[axis] {
				break
			}
			at -= index[axis] * v.strides[axis]
			index[axis] = 0
		}
	}
	return out
}

func (v *view) contiguous() bool {
	want := 1
	for axis := len(v.shape) - 1; axis >= 0; axis-- {
		if v.shape[axis] != 1 && v.strides[axis] != want {
			return false
		}
		want *= v.shape[axis]
	}
	return true
}
