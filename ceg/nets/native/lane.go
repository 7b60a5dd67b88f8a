package native

import (
	"slices"

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
	// divided says that its images are on several devices, so that groups are not runs of
	// images that could be cut out.
	divided bool
}

// group is a number of passes that share BatchNorm statistics.
type group struct {
	images int
	// update is the group's place, from 1, among those of all lanes that move the
	// running statistics; 0 if it does not.
	update int
}

func newLanes(passes []nets.Pass, divided bool) []lane {
	with, without := lane{divided: divided}, lane{divided: divided}
	updates := 0
	for _, members := range nets.Groups(passes) {
		var g group
		for _, p := range members {
			g.images += passes[p].Images.Shape().Dimensions[0]
		}
		first := passes[members[0]]
		if first.UpdateStats {
			updates++
			g.update = updates
		}
		l := &with
		if first.NoGrad {
			l = &without
		}
		l.passes, l.groups = append(l.passes, members...), append(l.groups, g)
	}
	return slices.DeleteFunc([]lane{with, without}, func(l lane) bool { return len(l.groups) == 0 })
}

// updates returns how many groups, of all lanes, have moved the running
// statistics once the lane's have.
func (l lane) updates() int {
	n := 0
	for _, g := range l.groups {
		n = max(n, g.update)
	}
	return n
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
	if l.divided {
		return ReduceSum(Mul(l.members(x.Graph(), true), InsertAxes(ReduceMean(x, 1, 2), 1)), 0)
	}
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
	if l.divided {
		return Reshape(ReduceSum(Mul(l.members(x.Graph(), false), InsertAxes(x, 0)), 1), -1, 1, 1, c)
	}
	var parts []*Node
	l.runs(func(g0, g1, i0, i1 int) {
		part := Reshape(SliceAxis(x, 0, AxisRange(g0, g1)), g1-g0, 1, c)
		part = BroadcastToDims(part, g1-g0, (i1-i0)/(g1-g0), c)
		parts = append(parts, Reshape(part, i1-i0, 1, 1, c))
	})
	return Concatenate(parts, 0)
}

// members says which images belong to which group, [images, groups, 1]: 1 where one does,
// or its share of the group's images, and 0 elsewhere. Sums of products with it, unlike
// runs, are the same work for every image, so that XLA can leave each where it is.
// (Its partitioner, in PJRT 0.115, crashes on runs that the devices cut through.)
func (l lane) members(g *Graph, share bool) *Node {
	var rows [][][]float32
	for i, group := range l.groups {
		v := float32(1)
		if share {
			v /= float32(group.images)
		}
		for range group.images {
			row := make([][]float32, len(l.groups))
			for j := range row {
				row[j] = make([]float32, 1)
			}
			row[i][0] = v
			rows = append(rows, row)
		}
	}
	return Const(g, rows)
}
