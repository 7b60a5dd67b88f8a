// Package arrays reads named arrays from .npz (NumPy), .safetensors and .parquet files,
// completely or in blocks, so files may be larger than memory.
//
// [Open] a file, get an [Array], check its shape, and read it with [ReadAll], [Ints] or
// [Blocks]:
//
//	f, err := arrays.Open("pool.npz")
//	a, err := f.Array("features")
//	rows, cols, err := a.Matrix()
//	err = arrays.Blocks(ctx, a, func(first int, rows []float32) error { ... })
//
// Arrays are little-endian float32, float64, float16, bfloat16, int32 or int64 in C order, or text
// ([Strings]); reading any other array is an error. A Parquet column is a vector, a column of
// equally long lists a matrix, and one of lists of lists has three dimensions. .npz archives may
// be compressed. Opening a file reads only its directory. Truncated and damaged files are
// errors, found by length and, in .npz, by checksum. Every error names the file and the array.
package arrays
