package flat

import (
	"github.com/ledg-go/ledg/ceg/nets"
)

// gradShards is the number of shards that the passes with gradients are cut
// into, for operations that use one core each.
const gradShards = 2

// shard is the images of some passes, side by side in one feature map. Layers
// treat every image by itself, except BatchNorm, which tells them apart again.
type shard struct {
	// passes are indices, in the order of the images.
	passes []int
	images int
	// grad says that gradients flow back through these passes.
	grad bool
}

// cut distributes passes over shards: those with gradients over gradShards of
// about equal size, the others over one.
func cut(passes []nets.Pass) []shard {
	total := 0
	for _, p := range passes {
		if !p.NoGrad {
			total += p.Images.Shape().Dimensions[0]
		}
	}
	all := make([]shard, gradShards+1)
	before := 0
	for i, p := range passes {
		n := p.Images.Shape().Dimensions[0]
		s := &all[gradShards]
		if !p.NoGrad {
			s = &all[(before+n/2)*gradShards/total]
			s.grad = true
			before += n
		}
		s.passes = append(s.passes, i)
		s.images += n
	}
	var shards []shard
	for _, s := range all {
		if s.images > 0 {
			shards = append(shards, s)
		}
	}
	return shards
}

// segment returns the greatest number of images that divides every pass.
func segment(passes []nets.Pass) int {
	a := 0
	for _, p := range passes {
		for b := p.Images.Shape().Dimensions[0]; b > 0; {
			a, b = b, a%b
		}
	}
	return a
}
