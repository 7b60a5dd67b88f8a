// Package imported reads image networks from ONNX files, as exported by PyTorch, timm and
// Hugging Face's transformers, to compute features or to train them.
//
// [Open] reads a file; a file that is not ONNX, or whose weights lie outside its folder, is an error
// of one line. [Network.ExecRuntime] runs the needed part of the file with ONNX Runtime.
// [Network.Exec] runs it with [onnx-gomlx], which converts operations to GoMLX's: it is slow on the
// Go backend, may refuse operations and ignores some attributes. Both can crash on hostile
// files; package learner/model calls them in a child process with limits.
//
// A [datasets.Reading] describes the image preprocessing, which an ONNX file does not contain:
// see package preprocess.
//
// [OpenTrainable] makes a network whose weights are parameters, trained by GoMLX's gradients
// (rewrite.go replaces nodes that have none), or with low-rank adapters on its linear layers
// ([LoRA]).
//
// [onnx-gomlx]: https://github.com/gomlx/onnx-gomlx
package imported
