// Package onnx exports networks as ONNX files, for ONNX Runtime and other runtimes.
// [Network.Write] writes the file.
//
// A network is any [nets.Backbone] with a class head: the package implements nets.Ops with a
// node for every layer, so a new backbone can be exported without further code. Only
// [nets.Ops.Apply], a GoMLX graph function, has no ONNX form, which is an error. A [nets.Graph]
// from an ONNX file keeps the file's nodes, followed by the heads.
//
// The file has one input, "image", with a variable batch axis, and three outputs: "probs" and
// "logits" [batch, classes] and "features" [batch, dim]. Pixels are normalised inside. It has
// opset 17 (or the original ONNX file's) and IR version 8, which runtimes support since 2022. It
// uses Conv, BatchNormalization, Relu, MaxPool, Add, Mul, GlobalAveragePool, Flatten, Gemm,
// Softmax, Cast and Transpose; some heads use Reshape, ReduceSum and element-wise operations, too.
//
// Terms. A node applies an operator to named values. An initializer is a constant in the file: a
// weight. Package onnxpb has the messages of files.
package onnx
