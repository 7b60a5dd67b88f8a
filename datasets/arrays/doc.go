// Package arrays reads named arrays of numbers from .npz (NumPy), .safetensors and
// .parquet files, whole or block by block, so that a file larger than memory can be
// used.
//
// [Open] a file, ask it for an [Array], check its shape, and read it with
// [ReadAll], [Ints] or [Blocks]:
//
//	f, err := arrays.Open("pool.npz")
//	a, err := f.Array("features")
//	rows, cols, err := a.Matrix()
//	err = arrays.Blocks(ctx, a, func(first int, rows []float32) error { ... })
//
// Arrays are little-endian float32, float64, float16, int32 or int64 in C order, or
// text ([Strings]); anything else is an error, raised only once that array is asked
// for. A column of a Parquet file is a vector, one of lists of equal length a matrix,
// and one of lists of lists has three dimensions. .npz archives may be compressed. Opening a file reads its directory only; truncated and damaged files
// are errors, found by length and, in .npz, by checksum. Every error names the file
// and the array.
package arrays
