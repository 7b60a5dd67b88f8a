package native

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
)

// lane is a lane of passes. Where it is divided its images are on several devices, so that groups
// are not runs of images that could be cut out.
type lane struct {
	nets.Lane
	divided bool
}

func newLanes(passes []nets.Pass, divided bool) (lanes []lane) {
	all, _ := nets.Lanes(passes)
	for _, l := range all {
		lanes = append(lanes, lane{l, divided})
	}
	return lanes
}

// updates returns how many groups, of all lanes, have moved the running
// statistics once the lane's have.
func (l lane) updates() int {
	n := 0
	for _, g := range l.Groups {
		n = max(n, g.Update)
	}
	return n
}

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
	for i, group := range l.Groups {
		v := float32(1)
		if share {
			v /= float32(group.Images)
		}
		for range group.Images {
			row := make([][]float32, len(l.Groups))
			for j := range row {
				row[j] = make([]float32, 1)
			}
			row[i][0] = v
			rows = append(rows, row)
		}
	}
	return Const(g, rows)
}
