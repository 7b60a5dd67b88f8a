package native

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
)

type lane struct{ nets.Lane }

// runs calls f for every run of neighbouring groups with equally many images: the
// run's groups and its images, as ranges.
func (l lane) runs(f func(fromGroup, toGroup, fromImage, toImage int)) {
	image := 0
	for from := 0; from < len(l.Groups); {
		to, images := from, l.Groups[from].Images
		for to < len(l.Groups) && l.Groups[to].Images == images {
			to++
		}
		f(from, to, image, image+images*(to-from))
		image += images * (to - from)
		from = to
	}
}

// means averages x [images, h, w, c] over the images and positions of every group,
// [groups, c].
func (l lane) means(x *Node) *Node {
	d := x.Shape().Dimensions
	var parts []*Node
	l.runs(func(g0, g1, i0, i1 int) {
		part := Reshape(SliceAxis(x, 0, AxisRange(i0, i1)), g1-g0, -1, d[3])
		parts = append(parts, ReduceMean(part, 1))
	})
	return Concatenate(parts, 0)
}

// spread gives every image the values of its group: from [groups, c] to
// [images, 1, 1, c].
func (l lane) spread(x *Node) *Node {
	c := x.Shape().Dimensions[1]
	var parts []*Node
	l.runs(func(g0, g1, i0, i1 int) {
		part := Reshape(SliceAxis(x, 0, AxisRange(g0, g1)), g1-g0, 1, c)
		part = BroadcastToDims(part, g1-g0, (i1-i0)/(g1-g0), c)
		parts = append(parts, Reshape(part, i1-i0, 1, 1, c))
	})
	return Concatenate(parts, 0)
}
