package learner

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/engine"
)

// bufferCache holds buffers of the Go backend that batches were copied to, by shape, for
// the next ones. The backend takes the buffer of an upload from those that steps share and drops it
// afterwards, so that every step would have to make new ones, and clear them. It may be
// used by several goroutines.
type bufferCache struct {
	mu   sync.Mutex
	free map[string][]deviceArray
}

// deviceArray is an array of a batch on the device.
type deviceArray struct {
	tensor *tensors.Tensor
	// memory is its reusable memory, and key the key in the cache.
	memory any
	key    string
}

// copyFrom copies a flat slice of the shape's type and length to the device.
func (f *bufferCache) copyFrom(flat any, b engine.Backend, s shapes.Shape) (deviceArray, error) {
	if b.Kind != engine.Go {
		// Straight to the device: a tensor of its own would be one more copy.
		buffer, err := b.Compute.BufferFromFlatData(0, flat, s)
		if err != nil {
			return deviceArray{}, err
		}
		t, err := tensors.FromBuffer(buffer)
		return deviceArray{tensor: t}, err
	}
	u := deviceArray{key: s.String()}
	f.mu.Lock()
	if list := f.free[u.key]; len(list) > 0 {
		u, f.free[u.key] = list[len(list)-1], list[:len(list)-1]
	}
	f.mu.Unlock()
	if u.tensor == nil {
		buffer, memory, err := b.Compute.NewSharedBuffer(0, s)
		if err != nil {
			return deviceArray{}, err
		}
		if u.tensor, err = tensors.FromBuffer(buffer); err != nil {
			return deviceArray{}, err
		}
		u.memory = memory
	}
	reflect.Copy(reflect.ValueOf(u.memory), reflect.ValueOf(flat))
	return u, nil
}

// release takes an array back when nothing reads it any more.
func (f *bufferCache) release(u deviceArray) {
	if u.memory == nil {
		u.tensor.MustFinalizeAll()
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.free == nil {
		f.free = map[string][]deviceArray{}
	}
	f.free[u.key] = append(f.free[u.key], u)
}

func (f *bufferCache) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, list := range f.free {
		for _, u := range list {
			u.tensor.MustFinalizeAll()
		}
	}
	f.free = nil
}

// stage copies a field's flat slice to the device, after checking its type and length.
func (l *Learner) stage(f field, flat any) (deviceArray, error) {
	if flat == nil {
		return deviceArray{}, fmt.Errorf("the batch has no %s", f.name)
	}
	v := reflect.ValueOf(flat)
	if t := dtypes.FromGoType(v.Type().Elem()); t != f.dtype {
		return deviceArray{}, fmt.Errorf("%s are of type %s, want %s", f.name, t, f.dtype)
	}
	s := shapes.Make(f.dtype, f.shape...)
	if v.Len() != s.Size() {
		return deviceArray{}, fmt.Errorf("%s have %d values, want %v", f.name, v.Len(), f.shape)
	}
	u, err := l.buffers.copyFrom(flat, l.backend, s)
	if err != nil {
		return deviceArray{}, fmt.Errorf("%s to the device: %w", f.name, err)
	}
	return u, nil
}
