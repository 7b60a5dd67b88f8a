package nets

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
