package native

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
)

// lane is a number of passes that travel through the network as one batch: a
// training step of CEG has some twenty passes of a few images each, which would
// leave a GPU idle and make the compiler's work twenty times larger. Only
// BatchNorm tells them apart. There are two lanes at most, passes with and passes
// without gradients.
type lane struct {
	// passes are in the order of their images in the batch, those of a group
	// beside each other.
	passes []int
	groups []group
}

// group is a number of passes that share BatchNorm statistics.
type group struct {
	first  int // the first pass
	images int
}

func newLanes(passes []nets.Pass) []lane {
	var lanes []lane
	for _, noGrad := range []bool{false, true} {
		var l lane
		for _, members := range nets.Groups(passes) {
			if passes[members[0]].NoGrad != noGrad {
				continue
			}
			g := group{first: members[0]}
			for _, p := range members {
				g.images += passes[p].Images.Shape().Dimensions[0]
			}
			l.passes, l.groups = append(l.passes, members...), append(l.groups, g)
		}
		if len(l.groups) > 0 {
			lanes = append(lanes, l)
		}
	}
	return lanes
}

// runs calls f for every run of neighbouring groups with equally many images: the
// run's groups and its images, as ranges.
func (l lane) runs(f func(fromGroup, toGroup, fromImage, toImage int)) {
	image := 0
	for from := 0; from < len(l.groups); {
		to, images := from, l.groups[from].images
		for to < len(l.groups) && l.groups[to].images == images {
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
