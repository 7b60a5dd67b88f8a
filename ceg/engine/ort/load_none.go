//go:build !(linux && (cgo || ((amd64 || arm64) && onnxruntime))) && !darwin && !windows

package ort

import "errors"

// Unbuilt is the reason why this binary cannot load libraries; nil if it can.
var Unbuilt = errors.New("this binary cannot load ONNX Runtime: on Linux that needs cgo (CGO_ENABLED=1 and a C compiler), or -tags onnxruntime on x86-64 or arm64")

func getAPIBase(string) (uintptr, error) { return 0, Unbuilt }

func call(uintptr, ...uintptr) uintptr { return 0 }
