package arrays_test

import (
	"context"
	"fmt"

	"github.com/ledg-go/ledg/datasets/arrays"
)

func Example() {
	f, err := arrays.Open("testdata/compressed.npz")
	if err != nil {
		panic(err)
	}
	defer f.Close()
	a, err := f.Array("f4")
	if err != nil {
		panic(err)
	}
	rows, cols, err := a.Matrix()
	if err != nil {
		panic(err)
	}
	fmt.Println(a.Name(), a.Type(), rows, cols)
	err = arrays.Blocks(context.Background(), a, func(first int, block []float32) error {
		fmt.Println(first, block[:cols])
		return nil
	})
	if err != nil {
		panic(err)
	}
	_, err = f.Array("fortran")
	fmt.Println(err)
	// Output:
	// f4 float32 4 3
	// 0 [-0.5 -0.375 -0.25]
	// testdata/compressed.npz: fortran: is in Fortran order, want C order (numpy.ascontiguousarray)
}
