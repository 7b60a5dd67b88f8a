// Package ort computes networks by ONNX Runtime, a shared library that is loaded at run time
// through its C API, without a C compiler:
//
//	lib, err := ort.Load("/path/to/libonnxruntime.so")
//	s, err := lib.Open(network, ort.Options{Threads: 1})
//	y, err := s.Run("pixels", "features", ort.Tensor{Kind: ort.Float32, Dims: []int64{1, 3, 224, 224}, Data: bytes})
//
// A binary for Linux that is built without cgo is linked statically and can load no library;
// -tags onnxruntime builds one that does, and needs glibc.
//
// The C API is a table of functions to which versions only add (OrtApi in onnxruntime_c_api.h).
package ort
