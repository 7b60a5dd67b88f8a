package learner

import (
	"slices"

	"github.com/ledg-go/ledg/ceg/nets"
)

// resting returns the net as it is while the heads alone learn: one of the backbone's form
// keeps its parameters, and normalises with its running statistics, which stay, as
// [nets.Freeze] has it for the whole of training. Others are as they are.
func (n *network) resting(backbone nets.Backbone) *network {
	if n.Backbone.Layers == nil || n.Backbone.Name != backbone.Name {
		return n
	}
	r := *n
	r.Backbone.Still, r.batchNorm = true, false
	r.params = slices.Clone(n.params)
	for i := range r.params {
		r.params[i].Fixed = true
	}
	return &r
}

func (c *stepGraph) net(name string) *network {
	n := c.l.net(name)
	if c.stage.Heads {
		return n.rests
	}
	return n
}
