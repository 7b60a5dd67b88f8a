package nets

// Lane is a number of passes that travel through a network as one batch: a training step of CEG
// has some twenty passes of a few images each, which would leave a GPU idle and make the
// compiler's work twenty times larger. Only BatchNorm tells them apart.
type Lane struct {
	// Passes are in the order of their images in the batch, those of a group beside each other.
	Passes []int
	Groups []LaneGroup
}

// LaneGroup is a number of passes that share the statistics of BatchNorm.
type LaneGroup struct {
	Images int
	// Update is the group's place, from 1, among those of all lanes that move the running
	// statistics; 0 if it does not.
	Update int
}

// Lanes divides passes into those with and those without gradients, and leaves out what is empty.
// It also returns how many groups move the running statistics.
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
