package flat

import (
	"math"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
)

// The approximate number of columns of a shard in every phase of the images. Products of 64
// channels by 64 with fewer than 1024 columns take the backend's path for small ones, which packs
// nothing and stays on one core; wider networks have no such products, and lose when there are
// many small shards.
const (
	narrowChannels = 64
	narrowColumns  = 950
	wideColumns    = 1500
	// maxShards bounds the shards with gradients, and those without.
	maxShards = 6
)

// columnsFor returns how many columns a shard should have in a network with the
// given parameters.
func columnsFor(params map[string]*Node) int {
	for _, p := range params {
		if d := p.Shape().Dimensions; len(d) == 4 && d[0] > narrowChannels {
			return wideColumns
		}
	}
	return narrowColumns
}

// shard holds the images of some passes, concatenated in one feature map. Only BatchNorm treats
// passes separately.
type shard struct {
	// passes are indices, in the order of the images.
	passes []int
	images int
	// grad is true if gradients flow through these passes.
	grad bool
}

// division is how passes were divided into microbatches.
type division struct {
	microbatches []nets.Pass
	// of lists the microbatches of every pass.
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

// divide divides passes into microbatches that are small enough for the shards to be of
// equal size. Passes that must stay whole, because their images share statistics,
// are microbatches themselves.
func divide(passes []nets.Pass, columns int, whole bool) division {
	var d division
	for _, p := range passes {
		n, parts := p.Images.Shape().Dimensions[0], 1
		if !whole {
			total := imagesOf(passes, p.NoGrad)
			parts = min(n, (n*shardsFor(passes, columns, p.NoGrad)+total-1)/total)
		}
		var of []int
		for k := range parts {
			q := p
			if from, to := k*n/parts, (k+1)*n/parts; to-from < n {
				q.Images = gatherSlice(p.Images, []int{from}, []int{to - from})
			}
			of = append(of, len(d.microbatches))
			d.microbatches = append(d.microbatches, q)
		}
		d.of = append(d.of, of)
	}
	return d
}

// divide divides what there is for every pass, or nil, into its microbatches.
func (d division) divide(all []*Node) []*Node {
	list := make([]*Node, len(d.microbatches))
	for i, of := range d.of {
		row := 0
		for _, j := range of {
			n := d.microbatches[j].Images.Shape().Dimensions[0]
			if all[i] != nil {
				list[j] = SliceAxis(all[i], 0, AxisRange(row, row+n))
			}
			row += n
		}
	}
	return list
}

// join is the inverse of divide.
func (d division) join(microbatches []*Node) []*Node {
	all := make([]*Node, len(d.of))
	for i, of := range d.of {
		list := make([]*Node, len(of))
		for k, j := range of {
			list[k] = microbatches[j]
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

// shardsFor returns the number of shards, of the given number of columns, for the passes with or
// without gradients.
func shardsFor(passes []nets.Pass, columns int, noGrad bool) int {
	d := passes[0].Images.Shape().Dimensions
	p := phases(d[1], d[2])
	all := imagesOf(passes, noGrad) * (d[1] / p) * (d[2] / p)
	return min(max(int(math.Round(float64(all)/float64(columns))), 1), maxShards)
}

// cut distributes passes over shards of about the given number of columns, passes with gradients
// first.
func cut(passes []nets.Pass, columns int) []shard {
	var shards []shard
	for _, noGrad := range []bool{false, true} {
		n, total := shardsFor(passes, columns, noGrad), imagesOf(passes, noGrad)
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
