// Package onnx writes networks as ONNX files, for ONNX Runtime and whatever else
// reads the format.
//
// A network is any [nets.Backbone] with a linear class head: the package
// implements nets.Ops by writing a node for every layer, so that a new backbone
// exports by itself. [nets.Ops.Apply], a graph function of GoMLX, is the one layer
// that has no ONNX form; a backbone with one is an error. A [nets.Graph] from an ONNX file
// brings the file's own nodes, which heads are put behind.
//
// The file has one input, "image", with a free first axis, and three outputs:
// "probs" and "logits" [batch, classes] and "features" [batch, dim]. Pixels are
// normalised inside. It is of opset 17 (that of the file that a graph comes from) and IR version 8, which runtimes read since
// 2022, and uses Conv, BatchNormalization, Relu, MaxPool, Add, Mul,
// GlobalAveragePool, Flatten, Gemm, Softmax, Cast and Transpose.
//
// Glossary. A node applies an operator to named values. An initializer is a value
// that is part of the file: a weight. The numbers of the fields are those of
// onnx.proto, version 1.12 (github.com/onnx/onnx, onnx/onnx.proto).
package onnx
