package tsne_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/ledg-go/ledg/datasets/seed"
	"github.com/ledg-go/ledg/plots/tsne"
)

// Two groups of points in ten dimensions come out as two groups in the plane.
func ExampleEmbed() {
	r := seed.New(1, "example")
	x := blas32.General{Rows: 80, Cols: 10, Stride: 10, Data: make([]float32, 800)}
	for i := range x.Data {
		group := i / 10 % 2
		x.Data[i] = float32(8*group) + float32(r.NormFloat64())
	}
	y, err := tsne.Embed(context.Background(), x, 10, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	strangers := 0 // points whose nearest point in the map is of the other group
	for i := range 80 {
		nearest, best := 0, float32(1e30)
		for j := range 80 {
			d0 := y.Data[2*i] - y.Data[2*j]
			d1 := y.Data[2*i+1] - y.Data[2*j+1]
			if d := d0*d0 + d1*d1; j != i && d < best {
				nearest, best = j, d
			}
		}
		if nearest%2 != i%2 {
			strangers++
		}
	}
	fmt.Printf("map [%d, %d], %d strangers\n", y.Rows, y.Cols, strangers)
	// Output: map [80, 2], 0 strangers
}
