package weights

import (
	"errors"
	"fmt"
	"math"

	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
)

const maxRank = 64

// storage is the flat array behind one or several tensors, or a slice of one.
// Its bytes are read when the first tensor on it is.
type storage struct {
	key    string
	dtype  safetensors.DType
	offset int // elements into the array that key names; 0 unless a view
	len    int // elements
}

// view is a tensor as the pickle describes it. It is checked when it is made.
type view struct {
	on             storage
	offset         int
	shape, strides []int
}

var errNoStorage = errors.New("a persistent ID that is no storage")

// parseStorageID reads the first five fields of torch's persistent IDs:
// "storage", class, key, device, number of elements.
func parseStorageID(id tuple) (storage, error) {
	if len(id) < 5 || id[0] != any("storage") {
		return storage{}, errNoStorage
	}
	class, _ := id[1].(global)
	dtype := storageTypes[class]
	key, ok := id[2].(string)
	if !ok || dtype == "" {
		return storage{}, errors.New("a storage without a storage class, or whose key is no string")
	}
	n, ok := id[4].(int)
	if !ok || n < 0 || n > MaxFile/dtype.Size() {
		return storage{}, fmt.Errorf("storage %q: bad number of elements", key)
	}
	return storage{key: key, dtype: dtype, len: n}, nil
}

// newDict stands for collections.OrderedDict.
func newDict(args tuple) (any, error) {
	if len(args) > 0 {
		return nil, errors.New("an OrderedDict with arguments")
	}
	return &dict{}, nil
}

// rebuildTensor stands for torch._utils._rebuild_tensor and its second version:
// storage, offset, shape and strides, then whether it has a gradient and hooks,
// which do not matter here.
func rebuildTensor(args tuple) (any, error) {
	if len(args) < 4 {
		return nil, fmt.Errorf("a tensor from %d arguments, want at least 4", len(args))
	}
	on, ok := args[0].(storage)
	if !ok {
		return nil, errors.New("a tensor without a storage")
	}
	offset, ok := args[1].(int)
	shape, okShape := ints(args[2])
	strides, okStrides := ints(args[3])
	if !ok || !okShape || !okStrides {
		return nil, fmt.Errorf("a tensor on storage %q: offset, shape or strides are no integers", on.key)
	}
	v := &view{on: on, offset: offset, shape: shape, strides: strides}
	return v, v.check()
}

// rebuildParameter stands for torch.nn.Parameter and _rebuild_parameter: the
// tensor, then whether it has a gradient and hooks.
func rebuildParameter(args tuple) (any, error) {
	if len(args) > 0 {
		if v, ok := args[0].(*view); ok {
			return v, nil
		}
	}
	return nil, errors.New("a parameter that is no tensor")
}

// newSize stands for torch.Size, a tuple of integers.
func newSize(args tuple) (any, error) {
	if len(args) == 1 {
		if _, ok := ints(args[0]); ok {
			return args[0], nil
		}
	}
	return nil, errors.New("a torch.Size that is no tuple of integers")
}

func ints(v any) ([]int, bool) {
	t, ok := v.(tuple)
	if !ok {
		return nil, false
	}
	out := make([]int, len(t))
	for i, x := range t {
		if out[i], ok = x.(int); !ok {
			return nil, false
		}
	}
	return out, true
}

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
