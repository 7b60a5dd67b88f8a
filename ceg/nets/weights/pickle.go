package weights

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/nlpodyssey/gopickle/pickle"
	"github.com/nlpodyssey/gopickle/types"

	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
)

// allowed maps every global that a checkpoint may mention to the value that
// stands for it. OrderedDict is the interpreter's own. The others rebuild tensors:
// _rebuild_tensor and the class Parameter are what torch before 0.4 wrote.
var allowed = map[global]any{
	{"collections", "OrderedDict"}:         nil,
	{"torch._utils", "_rebuild_tensor_v2"}: rebuildTensor{},
	{"torch._utils", "_rebuild_tensor"}:    rebuildTensor{},
	{"torch._utils", "_rebuild_parameter"}: rebuildParameter{},
	{"torch.nn.parameter", "Parameter"}:    rebuildParameter{},
	{"torch", "Size"}:                      torchSize{},
	{"torch", "DoubleStorage"}:             storageClass{safetensors.Float64},
	{"torch", "FloatStorage"}:              storageClass{safetensors.Float32},
	{"torch", "HalfStorage"}:               storageClass{safetensors.Float16},
	{"torch", "BFloat16Storage"}:           storageClass{safetensors.BFloat16},
	{"torch", "LongStorage"}:               storageClass{safetensors.Int64},
	{"torch", "IntStorage"}:                storageClass{safetensors.Int32},
	{"torch", "ShortStorage"}:              storageClass{safetensors.Int16},
	{"torch", "CharStorage"}:               storageClass{safetensors.Int8},
	{"torch", "ByteStorage"}:               storageClass{safetensors.Uint8},
	{"torch", "BoolStorage"}:               storageClass{safetensors.Bool},
}

// storageClass stands for one of torch's typed storage classes.
type storageClass struct{ dtype safetensors.DType }

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

// unpickle interprets the pickle at the start of b, after [scanPickle] has found
// nothing to refuse, and returns the value and the pickle's length. load is
// called for every persistent ID, which is how torch refers to storages.
func unpickle(b []byte, load func(id []any) (any, error)) (value any, length int, err error) {
	length, err = scanPickle(b)
	if err != nil {
		return nil, 0, err
	}
	defer func() {
		if p := recover(); p != nil { // the interpreter trusts its input here and there
			value, length, err = nil, 0, fmt.Errorf("damaged pickle: %.200s", fmt.Sprint(p))
		}
	}()
	u := pickle.NewUnpickler(bytes.NewReader(b[:length]))
	u.FindClass = func(module, name string) (any, error) {
		if v := allowed[global{module, name}]; v != nil {
			return v, nil
		}
		return nil, &RefusedGlobalError{Module: module, Name: name}
	}
	u.PersistentLoad = func(id any) (any, error) {
		t, ok := id.(*types.Tuple)
		if !ok || load == nil {
			return nil, errors.New("a persistent ID that is no storage")
		}
		return load(*t)
	}
	value, err = u.Load()
	if err != nil {
		var refused *RefusedGlobalError
		if errors.As(err, &refused) {
			return nil, 0, err
		}
		return nil, 0, fmt.Errorf("damaged pickle: %.200s", err.Error())
	}
	return value, length, nil
}

// parseStorageID reads the first five fields of torch's persistent IDs:
// "storage", class, key, device, number of elements.
func parseStorageID(id []any) (storage, error) {
	var s storage
	if len(id) < 5 || id[0] != any("storage") {
		return s, errors.New("a persistent ID that is no storage")
	}
	class, ok := id[1].(storageClass)
	if !ok {
		return s, errors.New("a storage without a storage class")
	}
	key, ok := id[2].(string)
	if !ok {
		return s, errors.New("a storage whose key is no string")
	}
	n, ok := id[4].(int)
	if !ok || n < 0 || n > MaxFile/class.dtype.Size() {
		return s, fmt.Errorf("storage %q: bad number of elements", key)
	}
	return storage{key: key, dtype: class.dtype, len: n}, nil
}

// rebuildTensor stands for torch._utils._rebuild_tensor and its second version:
// storage, offset, shape and strides, then whether it has a gradient and hooks,
// which do not matter here.
type rebuildTensor struct{}

// Call returns the view that the arguments describe.
func (rebuildTensor) Call(args ...any) (any, error) {
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
	if err := v.check(); err != nil {
		return nil, err
	}
	return v, nil
}

// rebuildParameter stands for torch.nn.Parameter and _rebuild_parameter: the
// tensor, then whether it has a gradient and hooks.
type rebuildParameter struct{}

// Call returns the tensor itself.
func (rebuildParameter) Call(args ...any) (any, error) {
	if len(args) < 1 {
		return nil, errors.New("a parameter without a tensor")
	}
	v, ok := args[0].(*view)
	if !ok {
		return nil, errors.New("a parameter that is no tensor")
	}
	return v, nil
}

// PyNew is Call: torch before 0.4 made Parameters through their class.
func (p rebuildParameter) PyNew(args ...any) (any, error) { return p.Call(args...) }

// PySetState accepts the state that torch before 0.4 gave to a Parameter (whether
// it has a gradient, hooks) and keeps none of it.
func (*view) PySetState(any) error { return nil }

// torchSize stands for torch.Size, a tuple of integers.
type torchSize struct{}

// Call returns the tuple itself.
func (torchSize) Call(args ...any) (any, error) {
	if len(args) == 1 {
		if _, ok := ints(args[0]); ok {
			return args[0], nil
		}
	}
	return nil, errors.New("a torch.Size that is no tuple of integers")
}

func ints(v any) ([]int, bool) {
	t, ok := v.(*types.Tuple)
	if !ok {
		return nil, false
	}
	out := make([]int, len(*t))
	for i, x := range *t {
		if out[i], ok = x.(int); !ok {
			return nil, false
		}
	}
	return out, true
}
