// Package imported takes networks of images from ONNX files: what PyTorch, timm, Hugging
// Face's transformers and others export, to make feature vectors of images with, or to be trained.
//
// [Open] reads a file and says in one line what is wrong with it, before any image is read:
// what is no ONNX file, weights outside its folder. [Network.ExecRuntime] computes by ONNX Runtime,
// to which what the output depends on is given as it is there. [Network.Exec] computes by
// [onnx-gomlx], which turns the operations into GoMLX's. Where that would compute something else
// than the file says, the operations are written differently beforehand (mend.go, window.go, resize.go) or
// refused, as are those that are not there: an antialiased Resize, a Softmax of old files along
// another axis than the last one. Weights in float16 and bfloat16 become float32 there.
//
// What a file does not say, how an image becomes the network's input, is a [datasets.Reading]:
// from [Presets], from a preprocessor_config.json beside it ([ReadPreprocessor]), or as one likes.
//
// [OpenTrainable] makes a network whose weights are parameters, to be trained as our own are
// (differentiable.go writes its nodes such that GoMLX has their gradients), or low-rank adapters on
// its linear layers ([Trainable.Linears], [nets.LoRA]).
//
// The numbers of the formats are those of onnx.proto (IR version 13).
//
// [onnx-gomlx]: https://github.com/gomlx/onnx-gomlx
package imported
