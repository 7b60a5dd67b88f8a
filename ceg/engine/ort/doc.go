// Package ort computes networks with ONNX Runtime. It loads the shared library at run time and
// calls its C API, by purego:
//
//	lib, err := ort.Load("/path/to/libonnxruntime.so")
//	s, err := lib.Open(network, ort.Options{Threads: 1})
//	y, err := s.Run("pixels", "features", ort.Tensor{Kind: ort.Float32, Dims: []int64{1, 3, 224, 224}, Data: bytes})
//
// A Linux binary built without cgo is static and cannot load a library; -tags onnxruntime builds
// one that can, and needs glibc.
//
// The C API is a table of functions to which new versions only append (OrtApi in
// onnxruntime_c_api.h).
package ort
