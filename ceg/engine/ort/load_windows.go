package ort

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/windows"
)

// Unbuilt is the reason why this binary cannot load libraries; nil if it can.
var Unbuilt error

// getAPIBase loads a library for good and returns its function OrtGetApiBase.
func getAPIBase(path string) (uintptr, error) {
	handle, err := windows.LoadLibraryEx(path, 0, windows.LOAD_WITH_ALTERED_SEARCH_PATH)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	f, err := windows.GetProcAddress(handle, "OrtGetApiBase")
	if err != nil {
		return 0, fmt.Errorf("%s is no ONNX Runtime: it has no OrtGetApiBase", path)
	}
	return f, nil
}

// call calls a C function of integers and pointers.
//
//go:uintptrescapes
func call(function uintptr, args ...uintptr) uintptr {
	result, _, _ := syscall.SyscallN(function, args...)
	return result
}
