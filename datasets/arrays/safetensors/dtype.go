package safetensors

// DType is the element type of a tensor, spelled as in the file's header.
type DType string

// The supported element types.
const (
	Bool     DType = "BOOL" // one byte, 0 or 1
	Uint8    DType = "U8"
	Int8     DType = "I8"
	Uint16   DType = "U16"
	Int16    DType = "I16"
	Float16  DType = "F16"  // IEEE 754 binary16
	BFloat16 DType = "BF16" // the upper half of an IEEE 754 binary32
	Uint32   DType = "U32"
	Int32    DType = "I32"
	Float32  DType = "F32"
	Uint64   DType = "U64"
	Int64    DType = "I64"
	Float64  DType = "F64"
)

// Size returns the number of bytes of an element, 0 for an unknown type.
func (d DType) Size() int {
	switch d {
	case Bool, Uint8, Int8:
		return 1
	case Uint16, Int16, Float16, BFloat16:
		return 2
	case Uint32, Int32, Float32:
		return 4
	case Uint64, Int64, Float64:
		return 8
	}
	return 0
}
