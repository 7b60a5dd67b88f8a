// Package imported reads image networks from ONNX files, as exported by PyTorch, timm and
// Hugging Face's transformers, to compute features or to train them.
//
// [Open] reads and validates a file; a file that is not ONNX, or whose weights lie outside its
// folder, is an error of one line. [Network.ExecRuntime] runs the needed part of the file
// unchanged with ONNX Runtime. [Network.Exec] runs it with [onnx-gomlx], which converts
// operations to GoMLX's. Operations that it would compute differently are rewritten (mend.go,
// window.go, resize.go) or refused, and so are unsupported ones, such as an antialiased Resize,
// or a Softmax of old files along another axis than the last. Weights in float16 and bfloat16
// become float32 there.
//
// A [datasets.Reading] describes the image preprocessing, which an ONNX file does not contain:
// from [Presets], from a preprocessor_config.json beside the file ([ReadPreprocessor]), or
// custom.
//
// [OpenTrainable] makes a network whose weights are parameters, trained like built-in networks
// (differentiable.go rewrites nodes that GoMLX cannot differentiate), or with low-rank adapters
// on its linear layers ([Trainable.Linears], [nets.LoRA]).
//
// Field numbers follow onnx.proto (IR version 13).
//
// [onnx-gomlx]: https://github.com/gomlx/onnx-gomlx
package imported
