//go:build goexperiment.simd

package matmul

import (
	"reflect"
	"sync"
	_ "unsafe" // for go:linkname

	"github.com/gomlx/compute/dtypes"
	_ "github.com/gomlx/compute/gobackend" // registers the products that are replaced
)

// find is how compute looks up its products. It keeps the registry to itself (compute v0.1.14 has
// kernels for AVX2 and AVX-512 there, and none for others), so this reaches into it.
//
//go:linkname find github.com/gomlx/compute/internal/gobackend/dot.FindRegisteredImplementation
func find(layout int, input, output dtypes.DType) *registration

// registration is compute's ImplementationRegistration.
type registration struct {
	name     string
	function any
	priority int
}

const scalar, vectors = "simd:nosimd", "ledg:neon"

// Install has [Multiply] compute the products of float32 matrices, and reports whether it
// does: not if compute has other ones than its scalar ones by then.
var Install = sync.OnceValue(func() bool {
	installed := true
	for layout := range 2 { // non-transposed, transposed
		r := find(layout, dtypes.Float32, dtypes.Float32)
		if r == nil || r.name != scalar || !replace(r, layout == 1) {
			installed = false
		}
	}
	return installed
})

// replace replaces a function (backend, layout, lhs, rhs, batch, m, n, k, output, node), whose
// types have no names here.
func replace(r *registration, transposed bool) bool {
	t := reflect.TypeOf(r.function)
	if t.Kind() != reflect.Func || t.NumIn() != 10 || t.NumOut() != 0 {
		return false
	}
	for i, want := range []reflect.Type{2: reflect.TypeFor[[]float32](), 3: reflect.TypeFor[[]float32](), 4: reflect.TypeFor[int](),
		5: reflect.TypeFor[int](), 6: reflect.TypeFor[int](), 7: reflect.TypeFor[int](), 8: reflect.TypeFor[[]float32]()} {
		if want != nil && t.In(i) != want {
			return false
		}
	}
	r.name = vectors
	r.function = reflect.MakeFunc(t, func(in []reflect.Value) []reflect.Value {
		floats := func(i int) []float32 { return in[i].Interface().([]float32) }
		size := func(i int) int { return int(in[i].Int()) }
		Multiply(floats(8), floats(2), floats(3), size(4), size(5), size(6), size(7), transposed)
		return nil
	}).Interface()
	return true
}
