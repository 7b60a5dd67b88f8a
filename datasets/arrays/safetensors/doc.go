// Package safetensors reads and writes the header of .safetensors files and
// says where each tensor's bytes are.
//
// To read one, call [ParseHeader] on an open file, look a tensor up by name and
// read its bytes through [Tensor.Data]: little-endian numbers in C order. The
// header is checked in full before anything is returned, so that a truncated or
// hostile file gives an error which names the tensor and never a panic, and
// never an allocation larger than the file itself. To write one, call [Write];
// equal arguments give equal bytes.
//
// The format (https://huggingface.co/docs/safetensors): eight bytes with the
// length of the header as a little-endian integer, a JSON object that maps each
// tensor's name to its dtype, shape and pair of data offsets, counted from the
// end of the header, and then the data, which the tensors must cover without
// overlap or hole. The key "__metadata__" maps to an object of strings.
//
// The package knows nothing of networks; package weights builds on it.
package safetensors
