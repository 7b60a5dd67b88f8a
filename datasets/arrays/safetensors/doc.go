// Package safetensors reads and writes .safetensors files: the header, and the position of each
// tensor's data.
//
// [ParseHeader] reads the header of an open file; [Tensor.Data] reads a tensor's bytes,
// little-endian numbers in C order. The header is checked completely before anything is
// returned. A truncated or hostile file gives an error that names the tensor, never a panic, and
// never an allocation larger than the file itself. [Write] writes a file; equal arguments give
// equal bytes. go-huggingface's reader is not used: it checks no layout, and links GoMLX.
//
// The format (https://huggingface.co/docs/safetensors) begins with the length of the header,
// eight bytes little-endian. The header is a JSON object that maps each tensor's name to its
// dtype, shape and pair of data offsets, counted from the end of the header. The data follows,
// which tensors must cover without overlap or gap. The key "__metadata__" maps to an object of
// strings.
//
// Package weights matches tensors with networks.
package safetensors
