package nets

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
)

// Normalise converts uint8 images [n, height, width, 3] to float32: (x/255 - mean)/std, with
// mean and std of red, green and blue.
//
// It computes on whole image rows. A product with three numbers along the last axis would be
// simpler. But for the last, short row the Go backend's vector kernels (compute v0.1.14 on Go
// 1.27) then load 64 bytes, beyond the end of the memory, which can crash the program.
func Normalise(images *graph.Node, mean, std [3]float64) *graph.Node {
	d := images.Shape().Dimensions
	n := d[1] * d[2] * d[3]
	scale, shift := make([]float32, n), make([]float32, n)
	for i := range n {
		scale[i] = float32(1 / (255 * std[i%3]))
		shift[i] = float32(-mean[i%3] / std[i%3])
	}
	line := func(v []float32) *graph.Node { return graph.InsertAxes(graph.Const(images.Graph(), v), 0) }
	x := graph.Reshape(graph.ConvertDType(images, dtypes.Float32), d[0], n)
	x = graph.Add(graph.Mul(x, line(scale)), line(shift))
	return graph.Reshape(x, d...)
}
