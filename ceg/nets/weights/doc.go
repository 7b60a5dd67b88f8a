// Package weights reads network weights from files, matches them by name with a network, and
// writes them.
//
// [Open] reads a .safetensors file or a PyTorch checkpoint (.pth, .pt, .bin; the zip format of
// torch 1.6 and later, or the older one). [Assign] matches its tensors with a network's
// parameters. It returns one float32 slice a tensor and a [Report], or one error that lists every
// tensor that is missing, unexpected, misshapen or not finite. [Save] writes a .safetensors file.
//
// A weights file is untrusted input, and nothing in it is executed. The pickle inside a
// checkpoint may name only the few globals that a state dict needs, which stand for plain values;
// anything else, such as os.system, is refused by name (see [RefusedGlobalError]). Sizes
// are checked before memory is allocated, so a damaged or hostile file costs at most a small
// multiple of its own size.
//
// Terms. State dict: PyTorch's ordered list of named tensors; it is a [StateDict] here. Storage: the
// flat array behind one or several tensors of a checkpoint; a tensor is a view of it (offset,
// shape, strides). Head: the last, linear layer of a classifier, whose size is the number of
// classes.
package weights
