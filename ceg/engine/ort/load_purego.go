//go:build (linux && (amd64 || arm64) && (cgo || onnxruntime)) || darwin

package ort

import (
	"fmt"
	"runtime"

	"github.com/ebitengine/purego"
)

// Unbuilt is the reason why this binary cannot load libraries; nil if it can.
var Unbuilt error

// getAPIBase loads a library for good and returns its function OrtGetApiBase.
func getAPIBase(path string) (uintptr, error) {
	runtime.LockOSThread() // dlerror speaks of its own thread
	defer runtime.UnlockOSThread()
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return 0, err
	}
	f, err := purego.Dlsym(handle, "OrtGetApiBase")
	if err != nil {
		return 0, fmt.Errorf("%s is no ONNX Runtime: it has no OrtGetApiBase", path)
	}
	return f, nil
}

// call calls a C function of integers and pointers.
//
//go:uintptrescapes
func call(function uintptr, args ...uintptr) uintptr {
	result, _, _ := purego.SyscallN(function, args...)
	return result
}
