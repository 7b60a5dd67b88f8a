package imported

import (
	"fmt"
	"math"
	"strings"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/datasets"
)

// taking describes how an output is pooled to vectors [n, D]: by the mean over axes. For tokens
// the only axis is 1, and the mean is over tokens from (inclusive) to (exclusive).
type taking struct {
	axes     []int
	from, to int
}

// take returns how an output of the given shape is pooled to a vector for each image.
func take(d []int, images int, name string, r datasets.Reading) (taking, error) {
	shape := strings.ReplaceAll(fmt.Sprint(d), " ", ", ")
	if len(d) == 0 || d[0] != images {
		return taking{}, fmt.Errorf("output %s is %s for %d images: want a row for each", name, shape, images)
	}
	if r.Pool != "" && len(d) != 3 {
		return taking{}, fmt.Errorf("output %s is %s, without tokens to take %q of", name, shape, r.Pool)
	}
	switch len(d) {
	case 2:
		return taking{}, nil
	case 3:
		return tokens(d[1], shape, name, r.Pool)
	case 4: // maps of square images
		switch {
		case d[2] == d[3] && (d[1] != d[2] || d[2] == 1):
			return taking{axes: []int{2, 3}}, nil
		case d[1] == d[2] && d[2] != d[3]:
			return taking{axes: []int{1, 2}}, nil
		}
	}
	return taking{}, fmt.Errorf("output %s is %s: want [images, features], tokens [images, tokens, features] or square maps", name, shape)
}

// tokens returns the pooling of n tokens; patch tokens come last, and their number is a square.
func tokens(n int, shape, name, how string) (taking, error) {
	side := int(math.Sqrt(float64(n)))
	t := taking{axes: []int{1}, to: n}
	switch first := n - side*side; how {
	case datasets.MeanToken:
		return t, nil
	case datasets.PatchTokens:
		t.from = first
		return t, nil
	case datasets.ClassToken:
		if first == 0 {
			return t, fmt.Errorf("output %s is %s: %d x %d tokens of patches, and none of the class", name, shape, side, side)
		}
		t.to = 1
		return t, nil
	}
	return t, fmt.Errorf("output %s is %s: choose what to take of its tokens, %s", name, shape, strings.Join(datasets.Pools, ", "))
}

// node adds the pooling to a graph.
func (t taking) node(y *graph.Node) *graph.Node {
	if t.axes == nil {
		return y
	}
	if len(t.axes) == 1 && t.to-t.from < y.Shape().Dimensions[1] {
		y = graph.SliceAxis(y, 1, graph.AxisRange(t.from, t.to))
	}
	return graph.ReduceMean(y, t.axes...)
}

// of pools an output [n, ...] to [n, D].
func (t taking) of(y []float32, d []int) []float32 {
	switch len(t.axes) {
	case 0:
		return y
	case 1:
		return meanRows(y, d[0], d[1], d[2], t.from, t.to)
	}
	if t.axes[0] == 1 {
		return meanRows(y, d[0], d[1]*d[2], d[3], 0, d[1]*d[2])
	}
	return meanRows(y, d[0]*d[1], d[2]*d[3], 1, 0, d[2]*d[3])
}

// meanRows returns the means [n, columns] over some rows of y [n, rows, columns].
func meanRows(y []float32, n, rows, columns, from, to int) []float32 {
	means := make([]float32, n*columns)
	sum := make([]float64, columns)
	for i := range n {
		clear(sum)
		for r := from; r < to; r++ {
			for j, v := range y[(i*rows+r)*columns : (i*rows+r+1)*columns] {
				sum[j] += float64(v)
			}
		}
		for j, s := range sum {
			means[i*columns+j] = float32(s / float64(to-from))
		}
	}
	return means
}
