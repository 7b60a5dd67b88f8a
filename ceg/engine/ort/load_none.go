//go:build !(linux && (amd64 || arm64) && (cgo || onnxruntime)) && !darwin && !windows

package ort

import "errors"

// Unbuilt is the reason why this binary cannot load libraries; nil if it can.
var Unbuilt = errors.New("this binary cannot load ONNX Runtime: on Linux that needs x86-64 or arm64, and cgo (CGO_ENABLED=1 and a C compiler) or -tags onnxruntime")

func getAPIBase(string) (uintptr, error) { return 0, Unbuilt }

func call(uintptr, ...uintptr) uintptr { return 0 }
