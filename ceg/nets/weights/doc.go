// Package weights reads the weights of networks from the files in which people
// keep them, matches them by name with what a network wants, and writes them.
//
// Call [Open] on a .safetensors file or on a PyTorch checkpoint (.pth, .pt, .bin;
// the zip container of torch 1.6 and later or the older one of pickles and raw
// storages), then [Assign] with the list of tensors of your network. The result
// is one float32 slice a tensor and a [Report] that says what was done on the
// way, or one error that lists every tensor which is missing, not expected, of
// another shape or not finite. [Save] is the way back.
//
// A weights file is untrusted input. Nothing in it is run: the pickle inside a
// checkpoint is checked before it is interpreted, may name only the handful of
// globals that a state dict needs (see [AllowedGlobals]), and anything else, such
// as os.system, is refused by name. Sizes are checked before memory is taken, so
// a damaged or hostile file costs at most a small multiple of its own size.
//
// Glossary. State dict: PyTorch's word for an ordered list of named tensors, here
// [StateDict]. Storage: the flat array behind one or several tensors of a
// checkpoint; a tensor is a view of it (offset, shape, strides). Head: the last,
// linear layer of a classifier, whose size is the number of classes.
package weights
