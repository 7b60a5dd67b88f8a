package nets

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
)

// Normalise turns uint8 images [n, height, width, 3] into float32: (x/255 - mean)/std,
// with a mean and a standard deviation for red, green and blue.
//
// It computes on whole images as lines. A product with three numbers along the last
// axis would do, but the Go backend's vector kernels (compute v0.1.14 on Go 1.27) load
// 64 bytes for the last, short row, beyond the end of the memory: where that is the
// end of the heap, the program dies.
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
