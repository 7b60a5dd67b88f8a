//go:build cgo && (linux || darwin)

package ort

/*
#cgo linux LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdint.h>

// call gives a function as many arguments as the longest call has; a function that takes fewer
// does not look at the others.
static uintptr_t call(uintptr_t f, const uintptr_t *a) {
	return ((uintptr_t(*)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t))f)(
		a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
}
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"
)

// Unbuilt is the reason why this binary cannot load libraries; nil if it can.
var Unbuilt error

// getAPIBase loads a library for good and returns its function OrtGetApiBase.
func getAPIBase(path string) (uintptr, error) {
	runtime.LockOSThread() // dlerror speaks of its own thread
	defer runtime.UnlockOSThread()
	name := append([]byte(path), 0)
	handle := C.dlopen((*C.char)(unsafe.Pointer(&name[0])), C.RTLD_NOW|C.RTLD_LOCAL)
	if handle == nil {
		return 0, errors.New(C.GoString(C.dlerror()))
	}
	name = []byte("OrtGetApiBase\x00")
	f := C.dlsym(handle, (*C.char)(unsafe.Pointer(&name[0])))
	if f == nil {
		return 0, fmt.Errorf("%s is no ONNX Runtime: it has no OrtGetApiBase", path)
	}
	return uintptr(f), nil
}

// call calls a C function of at most eight integers and pointers.
//
//go:uintptrescapes
func call(function uintptr, args ...uintptr) uintptr {
	var all [8]C.uintptr_t
	for i, a := range args {
		all[i] = C.uintptr_t(a)
	}
	return uintptr(C.call(C.uintptr_t(function), &all[0]))
}
