package ort

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"unsafe"
)

// apiVersion is the requested version of the C API: the version of ONNX Runtime 1.20, the oldest
// that accepts external weights of a network in memory.
const apiVersion = 20

// Oldest is the oldest version of ONNX Runtime that [Load] accepts.
const Oldest = "1.20"

// Functions by their place in OrtApi.
const (
	getErrorMessage                = 2
	createEnv                      = 3
	disableTelemetryEvents         = 6
	createSessionFromArray         = 8
	run                            = 9
	createSessionOptions           = 10
	setSessionGraphOptimization    = 23
	setIntraOpNumThreads           = 24
	setInterOpNumThreads           = 25
	createTensorWithDataAsOrtValue = 49
	isTensor                       = 50
	getTensorMutableData           = 51
	getTensorElementType           = 60
	getDimensionsCount             = 61
	getDimensions                  = 62
	getTensorTypeAndShape          = 65
	createCPUMemoryInfo            = 69
	releaseStatus                  = 93
	releaseMemoryInfo              = 94
	releaseSession                 = 95
	releaseValue                   = 96
	releaseTensorTypeAndShapeInfo  = 99
	releaseSessionOptions          = 100
	addSessionConfigEntry          = 130

	functions = 131 // the table has more entries
)

// silent is the level of ORT_LOGGING_LEVEL_FATAL: what goes wrong is returned, not printed.
const silent = 4

// Library is a loaded ONNX Runtime. It stays loaded until the program ends.
type Library struct {
	// Version is the library's version, such as "1.32.0".
	Version string

	api         *[functions]uintptr
	environment uintptr
	memory      uintptr // OrtMemoryInfo of the main memory
}

var loaded struct {
	sync.Mutex
	libraries map[string]*Library
}

// Load loads the library at path, once.
func Load(path string) (*Library, error) {
	loaded.Lock()
	defer loaded.Unlock()
	if l := loaded.libraries[path]; l != nil {
		return l, nil
	}
	base, err := getAPIBase(path)
	if err != nil {
		return nil, err
	}
	l, err := start(base)
	if err != nil {
		return nil, err
	}
	if loaded.libraries == nil {
		loaded.libraries = map[string]*Library{}
	}
	loaded.libraries[path] = l
	return l, nil
}

// start asks what OrtGetApiBase is for the API, and makes an environment.
func start(getBase uintptr) (*Library, error) {
	base := (*[2]uintptr)(pointer(call(getBase)))
	if base == nil {
		return nil, errors.New("OrtGetApiBase returned nothing")
	}
	l := &Library{Version: text(call(base[1]))}
	if l.api = (*[functions]uintptr)(pointer(call(base[0], apiVersion))); l.api == nil {
		return nil, fmt.Errorf("it is ONNX Runtime %s: want %s or newer", l.Version, Oldest)
	}
	name := append([]byte("ledg"), 0)
	if err := l.do(createEnv, silent, uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&l.environment))); err != nil {
		return nil, err
	}
	if err := l.do(disableTelemetryEvents, l.environment); err != nil { // of Windows
		return nil, err
	}
	const arena, usual = 1, 0 // OrtArenaAllocator, OrtMemTypeDefault
	if err := l.do(createCPUMemoryInfo, arena, usual, uintptr(unsafe.Pointer(&l.memory))); err != nil {
		return nil, err
	}
	return l, nil
}

// do calls a function that returns a status, and makes an error of that.
//
//go:uintptrescapes
func (l *Library) do(function int, args ...uintptr) error {
	status := call(l.api[function], args...)
	if status == 0 {
		return nil
	}
	defer l.release(releaseStatus, status)
	return errors.New(strings.Join(strings.Fields(text(call(l.api[getErrorMessage], status))), " "))
}

func (l *Library) release(function int, object uintptr) {
	if object != 0 {
		call(l.api[function], object)
	}
}

// pointer is an address that C has returned.
func pointer(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }

// text copies a string of C.
func text(address uintptr) string {
	if address == 0 {
		return ""
	}
	p := (*byte)(pointer(address))
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return strings.Clone(unsafe.String(p, n))
}

// File returns the library's file name on this system.
func File() string {
	switch runtime.GOOS {
	case "windows":
		return "onnxruntime.dll"
	case "darwin":
		return "libonnxruntime.dylib"
	}
	return "libonnxruntime.so"
}
