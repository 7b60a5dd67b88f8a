package flat

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// The backend's Slice visits element by element and its Gather copies runs, so
// that everything with long runs is taken by Gather here.

// gatherSlice copies the slice of x that starts at the given indices of its first
// axes and has the given sizes there.
func gatherSlice(x *Node, starts, sizes []int) *Node {
	axes, at := make([]int, len(starts)), make([]int32, len(starts))
	for i, s := range starts {
		axes[i], at[i] = i, int32(s)
	}
	return GatherSlices(x, axes, Const(x.Graph(), at), sizes, true)
}

// takeRows copies rows of a matrix in a new order; x itself if nothing changes.
func takeRows(x *Node, order []int) *Node {
	same := len(order) == x.Shape().Dimensions[0]
	index := make([][]int32, len(order))
	for i, r := range order {
		same = same && r == i
		index[i] = []int32{int32(r)}
	}
	if same {
		return x
	}
	return Gather(x, Const(x.Graph(), index))
}

// transpose is the transpose of x, read as a matrix with the given number of
// rows: the permutation that the backend does in tiles and on all cores.
func transpose(x *Node, rows int) *Node {
	return TransposeAllAxes(Reshape(x, rows, x.Shape().Size()/rows), 1, 0)
}
