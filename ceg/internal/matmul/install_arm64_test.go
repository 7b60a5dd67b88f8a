//go:build goexperiment.simd

package matmul

import (
	"slices"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/gobackend"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// The backend's products are the package's, whether the right matrix is transposed or not.
func TestInstall(t *testing.T) {
	if !Install() || !Install() {
		t.Fatal("compute's products are not those that were to be replaced")
	}
	for layout := range 2 {
		if r := find(layout, dtypes.Float32, dtypes.Float32); r.name != vectors {
			t.Errorf("layout %d is computed by %s", layout, r.name)
		}
	}
	backend, err := gobackend.New("parallelism=-1")
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Finalize()
	const m, n, k = 17, 40, 300
	a, b := make([]float32, m*k), make([]float32, n*k)
	for i := range a {
		a[i] = float32(i%13) / 13
	}
	for i := range b {
		b[i] = float32(i%17) / 17
	}
	for _, transposed := range []bool{false, true} {
		shape, axis := []int{k, n}, 0
		if transposed {
			shape, axis = []int{n, k}, 1
		}
		out, err := ExecOnce(backend, func(a, b *Node) *Node {
			return DotGeneral(a, []int{1}, nil, b, []int{axis}, nil)
		}, tensors.FromFlatDataAndDimensions(slices.Clone(a), m, k), tensors.FromFlatDataAndDimensions(slices.Clone(b), shape...))
		if err != nil {
			t.Fatal(err)
		}
		want := make([]float32, m*n)
		Multiply(want, a, b, 1, m, n, k, transposed)
		if got := tensors.MustCopyFlatData[float32](out); !slices.Equal(got, want) {
			t.Errorf("transposed %v: the backend's product is another one", transposed)
		}
	}
}
