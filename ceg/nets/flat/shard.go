package flat

import (
	"math"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
)

// A shard has about shardColumns columns in every phase of the images, and there
// are at most maxShards of those with gradients, and as many without.
const (
	shardColumns = 1500
	maxShards    = 4
)

// shard is the images of some passes, side by side in one feature map. Layers
// treat every image by itself, except BatchNorm, which tells them apart again.
type shard struct {
	// passes are indices, in the order of the images.
	passes []int
	images int
	// grad says that gradients flow back through these passes.
	grad bool
}

// division is how passes were divided into parts.
type division struct {
	parts []nets.Pass
	// of lists the parts of every pass.
	of [][]int
}

// hasBatchNorm reports whether some of the parameters are of BatchNorm.
func hasBatchNorm(params map[string]*Node) bool {
	for name := range params {
		if strings.HasSuffix(name, ".running_mean") {
			return true
		}
	}
	return false
}

// divide divides passes into parts that are small enough for the shards to be of
// equal size. Passes that must stay whole, because their images share statistics,
// are parts themselves.
func divide(passes []nets.Pass, whole bool) division {
	var d division
	for _, p := range passes {
		n, parts := p.Images.Shape().Dimensions[0], 1
		if !whole {
			total := imagesOf(passes, p.NoGrad)
			parts = min(n, (n*shardsFor(passes, p.NoGrad)+total-1)/total)
		}
		var of []int
		for k := range parts {
			q := p
			if from, to := k*n/parts, (k+1)*n/parts; to-from < n {
				q.Images = part(p.Images, []int{from}, []int{to - from})
			}
			of = append(of, len(d.parts))
			d.parts = append(d.parts, q)
		}
		d.of = append(d.of, of)
	}
	return d
}

// divide divides what there is for every pass, or nil, into its parts.
func (d division) divide(all []*Node) []*Node {
	list := make([]*Node, len(d.parts))
	for i, of := range d.of {
		row := 0
		for _, j := range of {
			n := d.parts[j].Images.Shape().Dimensions[0]
			if all[i] != nil {
				list[j] = SliceAxis(all[i], 0, AxisRange(row, row+n))
			}
			row += n
		}
	}
	return list
}

// join is the inverse of divide.
func (d division) join(parts []*Node) []*Node {
	all := make([]*Node, len(d.of))
	for i, of := range d.of {
		list := make([]*Node, len(of))
		for k, j := range of {
			list[k] = parts[j]
		}
		if list[0] != nil {
			all[i] = Concatenate(list, 0)
		}
	}
	return all
}

// imagesOf counts the images of the passes with or without gradients.
func imagesOf(passes []nets.Pass, noGrad bool) int {
	n := 0
	for _, p := range passes {
		if p.NoGrad == noGrad {
			n += p.Images.Shape().Dimensions[0]
		}
	}
	return n
}

// shardsFor returns how many shards the passes with or without gradients get.
func shardsFor(passes []nets.Pass, noGrad bool) int {
	d := passes[0].Images.Shape().Dimensions
	p := phases(d[1], d[2])
	columns := imagesOf(passes, noGrad) * (d[1] / p) * (d[2] / p)
	return min(max(int(math.Round(float64(columns)/shardColumns)), 1), maxShards)
}

// cut distributes passes over shards of about equal size, those with gradients
// first.
func cut(passes []nets.Pass) []shard {
	var shards []shard
	for _, noGrad := range []bool{false, true} {
		n, total := shardsFor(passes, noGrad), imagesOf(passes, noGrad)
		all := make([]shard, n)
		before := 0
		for i, p := range passes {
			if p.NoGrad != noGrad {
				continue
			}
			images := p.Images.Shape().Dimensions[0]
			s := &all[(before+images/2)*n/total]
			s.grad = !noGrad
			s.passes = append(s.passes, i)
			s.images += images
			before += images
		}
		for _, s := range all {
			if s.images > 0 {
				shards = append(shards, s)
			}
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
