package nets

import (
	"github.com/gomlx/gomlx/core/graph"
)

// Lane is a number of passes that are computed as one batch. A training step of CEG has some
// twenty passes of a few images; computed separately, they would underuse a GPU and make the
// graph twenty times larger. Only BatchNorm treats them separately.
type Lane struct {
	// Passes are in the order of their images in the batch; passes of a group are adjacent.
	Passes []int
	Groups []LaneGroup
}

// LaneGroup is a number of passes that share BatchNorm statistics.
type LaneGroup struct {
	Images int
	// Update is the group's position, from 1, among the groups of all lanes that update the
	// running statistics; 0 if it does not.
	Update int
}

// Join returns the images of the lane's passes as one batch. Those with gradients get a node in
// inputs, at which these end.
func (l Lane) Join(passes []Pass, inputs []*graph.Node) *graph.Node {
	var images []*graph.Node
	for _, p := range l.Passes {
		x := passes[p].Images
		if passes[p].ImageGrad {
			x = graph.Identity(graph.StopGradient(x))
			inputs[p] = x
		}
		images = append(images, x)
	}
	return graph.Concatenate(images, 0)
}

// Split sets the outputs of the lane's passes to their rows of its features, or of its maps.
func (l Lane) Split(passes []Pass, features, maps *graph.Node, outputs []*graph.Node) {
	from := 0
	for _, p := range l.Passes {
		to, out := from+passes[p].Images.Shape().Dimensions[0], features
		if passes[p].Maps {
			out = maps
		}
		if outputs[p] = graph.SliceAxis(out, 0, graph.AxisRange(from, to)); passes[p].NoGrad {
			outputs[p] = graph.StopGradient(outputs[p])
		}
		from = to
	}
}

// Lanes divides passes into those with and those without gradients, and drops empty ones.
// updates is the number of groups that update the running statistics.
func Lanes(passes []Pass) (lanes []Lane, updates int) {
	var with, without Lane
	for _, members := range Groups(passes) {
		var g LaneGroup
		for _, p := range members {
			g.Images += passes[p].Images.Shape().Dimensions[0]
		}
		first := passes[members[0]]
		if first.UpdateStats {
			updates++
			g.Update = updates
		}
		l := &with
		if first.NoGrad {
			l = &without
		}
		l.Passes, l.Groups = append(l.Passes, members...), append(l.Groups, g)
	}
	for _, l := range []Lane{with, without} {
		if len(l.Groups) > 0 {
			lanes = append(lanes, l)
		}
	}
	return lanes, updates
}
