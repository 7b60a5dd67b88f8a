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

var elementBytes = map[DType]int{
	Bool: 1, Uint8: 1, Int8: 1, Uint16: 2, Int16: 2, Float16: 2, BFloat16: 2, Uint32: 4, Int32: 4, Float32: 4, Uint64: 8, Int64: 8, Float64: 8,
}

// Size returns the number of bytes of an element, 0 for an unknown type.
func (d DType) Size() int { return elementBytes[d] }
