package ort

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"github.com/ledg-go/ledg/datasets/arrays/half"
)

// Element types (ONNXTensorElementDataType), as in onnx.proto.
const (
	Float32  = 1
	Float16  = 10
	BFloat16 = 16
)

// Options are the settings of [Library.Open].
type Options struct {
	// Threads is the number of threads of one Run, including the caller's; 0 means 1.
	Threads int
	// Folder holds the network's external weight files.
	Folder string
}

// Tensor is an array of numbers, row-major, in the machine's byte order.
type Tensor struct {
	Kind int // an element type
	Dims []int64
	Data []byte
}

// Floats returns the numbers of an output.
func (t Tensor) Floats() []float32 {
	v := make([]float32, 0, len(t.Data)/2)
	for b := t.Data; len(b) > 0; {
		switch t.Kind {
		case Float32:
			v, b = append(v, math.Float32frombits(binary.NativeEndian.Uint32(b))), b[4:]
		case BFloat16:
			v, b = append(v, math.Float32frombits(uint32(binary.NativeEndian.Uint16(b))<<16)), b[2:]
		default:
			v, b = append(v, half.Float32(binary.NativeEndian.Uint16(b))), b[2:]
		}
	}
	return v
}

// Session is a network ready to run. Run is safe for concurrent use.
type Session struct {
	lib    *Library
	handle uintptr
}

// Open creates a session for a network, the bytes of an ONNX file, which are not retained.
func (l *Library) Open(network []byte, o Options) (*Session, error) {
	if len(network) == 0 {
		return nil, errors.New("a network of no bytes")
	}
	var options uintptr
	if err := l.do(createSessionOptions, uintptr(unsafe.Pointer(&options))); err != nil {
		return nil, err
	}
	defer func() { l.release(releaseSessionOptions, options) }()
	const all = 99 // ORT_ENABLE_ALL
	for _, set := range [][2]uintptr{{setSessionGraphOptimization, all}, {setIntraOpNumThreads, uintptr(max(o.Threads, 1))}, {setInterOpNumThreads, 1}} {
		if err := l.do(int(set[0]), options, set[1]); err != nil {
			return nil, err
		}
	}
	if o.Folder != "" {
		key, value := append([]byte("session.model_external_initializers_file_folder_path"), 0), append([]byte(o.Folder), 0)
		if err := l.do(addSessionConfigEntry, options, uintptr(unsafe.Pointer(&key[0])), uintptr(unsafe.Pointer(&value[0]))); err != nil {
			return nil, err
		}
	}
	s := &Session{lib: l}
	if err := l.do(createSessionFromArray, l.environment, uintptr(unsafe.Pointer(&network[0])), uintptr(len(network)), options, uintptr(unsafe.Pointer(&s.handle))); err != nil {
		return nil, err
	}
	return s, nil
}

// Close frees the network, which must not be running.
func (s *Session) Close() {
	s.lib.release(releaseSession, s.handle)
	s.handle = 0
}

// Run computes one output of the network for one input, both by name.
func (s *Session) Run(input, output string, x Tensor) (Tensor, error) {
	if len(x.Data) == 0 {
		return Tensor{}, errors.New("an input of no numbers")
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&x.Data[0]) // the value refers to it
	var in, out uintptr
	defer func() {
		s.lib.release(releaseValue, in)
		s.lib.release(releaseValue, out)
	}()
	var dims *int64
	if len(x.Dims) > 0 {
		dims = &x.Dims[0]
	}
	if err := s.lib.do(createTensorWithDataAsOrtValue, s.lib.memory, uintptr(unsafe.Pointer(&x.Data[0])), uintptr(len(x.Data)),
		uintptr(unsafe.Pointer(dims)), uintptr(len(x.Dims)), uintptr(x.Kind), uintptr(unsafe.Pointer(&in))); err != nil {
		return Tensor{}, err
	}
	first, second := append([]byte(input), 0), append([]byte(output), 0)
	names := [2]*byte{&first[0], &second[0]}
	pin.Pin(names[0])
	pin.Pin(names[1])
	if err := s.lib.do(run, s.handle, 0, uintptr(unsafe.Pointer(&names[0])), uintptr(unsafe.Pointer(&in)), 1,
		uintptr(unsafe.Pointer(&names[1])), 1, uintptr(unsafe.Pointer(&out))); err != nil {
		return Tensor{}, err
	}
	return s.read(out)
}

// read copies the data of a value.
func (s *Session) read(value uintptr) (t Tensor, err error) {
	var is, kind int32
	if err := s.lib.do(isTensor, value, uintptr(unsafe.Pointer(&is))); err != nil {
		return t, err
	}
	if is == 0 {
		return t, errors.New("the output is no tensor")
	}
	var info, rank, data uintptr
	if err := s.lib.do(getTensorTypeAndShape, value, uintptr(unsafe.Pointer(&info))); err != nil {
		return t, err
	}
	defer s.lib.release(releaseTensorTypeAndShapeInfo, info)
	if err := s.lib.do(getTensorElementType, info, uintptr(unsafe.Pointer(&kind))); err != nil {
		return t, err
	}
	if err := s.lib.do(getDimensionsCount, info, uintptr(unsafe.Pointer(&rank))); err != nil {
		return t, err
	}
	t.Kind, t.Dims = int(kind), make([]int64, rank)
	n := map[int]int{Float32: 4, Float16: 2, BFloat16: 2}[t.Kind]
	if n == 0 {
		return t, fmt.Errorf("the output's elements are of type %d: want floats", kind)
	}
	if rank > 0 {
		if err := s.lib.do(getDimensions, info, uintptr(unsafe.Pointer(&t.Dims[0])), rank); err != nil {
			return t, err
		}
	}
	for _, d := range t.Dims {
		n *= int(d)
	}
	if n == 0 {
		return t, nil
	}
	if err := s.lib.do(getTensorMutableData, value, uintptr(unsafe.Pointer(&data))); err != nil {
		return t, err
	}
	t.Data = append(t.Data, unsafe.Slice((*byte)(pointer(data)), n)...)
	return t, nil
}
