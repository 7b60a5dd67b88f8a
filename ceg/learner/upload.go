package learner

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/gomlx/compute"
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
	free map[string][]upload
}

// upload is an array of a batch on the device.
type upload struct {
	tensor *tensors.Tensor
	// memory is its reusable memory, and key the key in the cache.
	memory any
	key    string
}

// upload copies a flat slice of the shape's type and length to a device.
func (f *bufferCache) upload(b engine.Backend, flat any, s shapes.Shape, device int) (upload, error) {
	if b.Kind != engine.Go {
		// Straight to the device: a tensor of its own would be one more copy.
		buffer, err := b.Compute.BufferFromFlatData(compute.DeviceNum(device), flat, s)
		if err != nil {
			return upload{}, err
		}
		t, err := tensors.FromBuffer(buffer)
		return upload{tensor: t}, err
	}
	u := upload{key: s.String()}
	f.mu.Lock()
	if list := f.free[u.key]; len(list) > 0 {
		u, f.free[u.key] = list[len(list)-1], list[:len(list)-1]
	}
	f.mu.Unlock()
	if u.tensor == nil {
		buffer, memory, err := b.Compute.NewSharedBuffer(0, s)
		if err != nil {
			return upload{}, err
		}
		if u.tensor, err = tensors.FromBuffer(buffer); err != nil {
			return upload{}, err
		}
		u.memory = memory
	}
	reflect.Copy(reflect.ValueOf(u.memory), reflect.ValueOf(flat))
	return u, nil
}

// release takes an array back when nothing reads it any more.
func (f *bufferCache) release(u upload) {
	if u.memory == nil {
		u.tensor.MustFinalizeAll()
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.free == nil {
		f.free = map[string][]upload{}
	}
	f.free[u.key] = append(f.free[u.key], u)
}

// close frees the cached buffers.
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

// upload copies what a device gets of a flat slice to it, after checking the slice's type
// and length.
func (l *Learner) upload(f field, flat any, device int) (upload, error) {
	if flat == nil {
		return upload{}, fmt.Errorf("the batch has no %s", f.name)
	}
	v := reflect.ValueOf(flat)
	if t := dtypes.FromGoType(v.Type().Elem()); t != f.dtype {
		return upload{}, fmt.Errorf("%s are of type %s, want %s", f.name, t, f.dtype)
	}
	if s := shapes.Make(f.dtype, f.shape...); v.Len() != s.Size() {
		return upload{}, fmt.Errorf("%s have %d values, want %v", f.name, v.Len(), f.shape)
	}
	f, flat = l.devices.partOf(f, flat, device)
	u, err := l.buffers.upload(l.backend, flat, shapes.Make(f.dtype, f.shape...), device)
	if err != nil {
		return upload{}, fmt.Errorf("%s to the device: %w", f.name, err)
	}
	return u, nil
}
