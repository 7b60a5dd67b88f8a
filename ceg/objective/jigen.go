package objective

import (
	"math/rand/v2"
	"slices"
	"sync"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/objective/augment"
	"github.com/ledg-go/ledg/datasets/seed"
)

// The jigsaw of JiGen: an image is cut into tilesAside x tilesAside tiles.
const tilesAside, tiles = 3, 9

// JiGen shuffles the tiles of some images and trains a second head to predict their order
// (Carlucci et al., "Domain Generalization by Solving Jigsaw Puzzles", CVPR 2019; the authors'
// train_jigsaw.py and data/JigsawLoader.py). An image x is cut into 3x3 tiles, counted row by
// row:
//
//	tile i  = grey with probability 0.1, or as it is           each by itself
//	o       = 0 with probability 0.9, or uniform over 0..30    an image
//	x'      = x for o = 0; tile t of x' is tile orders[o-1][t] of x for others
//	L_class = mean CE(z(x'), y)                                of shuffled images too
//	L_total = L_class + 0.7 * mean CE(jigsaw(x'), o)
//
// The orders are permutations of 0..8, without the identity; [TileOrders] makes the paper's 30.
// If 3 does not divide a side, its last one or two pixels are cut off first, and x' is padded by
// repeating its last row and column.
func JiGen(orders [][]int) Objective {
	const weight, shuffled, grey, head = 0.7, 0.1, 0.1, "jig"
	table := []int32{0, 1, 2, 3, 4, 5, 6, 7, 8}
	for _, o := range orders {
		for _, tile := range o {
			table = append(table, int32(tile))
		}
	}
	return Objective{
		Name:   "jigen",
		Images: true,
		Inputs: []Input{Images("img", Labelled, augment.PhotoView), Labels("y", Labelled)},
		Draws: []Draw{
			Ints("order", PerImage, func(r *rand.Rand, _ Dims, v []int32) {
				for i := range v {
					if r.Float64() < shuffled {
						v[i] = int32(r.IntN(len(orders) + 1))
					}
				}
			}),
			Floats("grey", func(d Dims) []int { return []int{d.Batch(), tiles} }, func(r *rand.Rand, _ Dims, v []float32) {
				for i := range v {
					if r.Float64() < grey {
						v[i] = 1
					}
				}
			}),
		},
		Nets: func(d Dims) []Net { return []Net{Linear(head, d.Features, len(orders)+1)} },
		Step: func(s Step) {
			order := s.In("order")
			n := order.Shape().Dimensions[0]
			x := s.Bytes("img")
			cut := cutTiles(x)
			cut = Where(GreaterThan(Reshape(s.In("grey"), n, tiles, 1, 1, 1), ScalarZero(x.Graph(), x.DType())), luma(cut), cut)

			places := Gather(Reshape(Const(x.Graph(), table), len(orders)+1, tiles), Reshape(order, n, 1))
			cut = joinTiles(permuted(cut, places), s.Dims().ImageSize)
			image := s.Normalise(cut)
			s.Note("image", image)

			f := s.Forward(Backbone, View{Name: "image", Images: image})[0]
			class := ReduceAllMean(CrossEntropy(s.Head(ClassHead, f), s.In("y")))
			jigsaw := ReduceAllMean(CrossEntropy(s.Head(head, f), order))
			s.Term("class", class)
			s.Term("jigsaw", jigsaw)
			s.Minimise("total", Add(class, MulScalar(jigsaw, weight)), Backbone, ClassHead, head)
		},
	}
}

// cutTiles cuts images [n, size, size, 3] into [n, tiles, side, side, 3].
func cutTiles(x *Node) *Node {
	n, size := x.Shape().Dimensions[0], x.Shape().Dimensions[1]
	side := size / tilesAside
	x = Slice(x, AxisRange(), AxisRange(0, tilesAside*side), AxisRange(0, tilesAside*side), AxisRange())
	x = TransposeAllAxes(Reshape(x, n, tilesAside, side, tilesAside, side, 3), 0, 1, 3, 2, 4, 5)
	return Reshape(x, n, tiles, side, side, 3)
}

// joinTiles is the way back, to images of a size.
func joinTiles(x *Node, size int) *Node {
	n, side := x.Shape().Dimensions[0], x.Shape().Dimensions[2]
	x = TransposeAllAxes(Reshape(x, n, tilesAside, tilesAside, side, side, 3), 0, 1, 3, 2, 4, 5)
	x = Reshape(x, n, tilesAside*side, tilesAside*side, 3)
	for _, axis := range []int{1, 2} {
		for last := x.Shape().Dimensions[axis]; last < size; last++ {
			x = Concatenate([]*Node{x, SliceAxis(x, axis, AxisElem(last-1))}, axis)
		}
	}
	return x
}

// permuted puts tile places[i][t] of image i at its place t. The places are int32
// [n, tiles].
func permuted(x, places *Node) *Node {
	d := x.Shape().Dimensions
	first := MulScalar(Iota(x.Graph(), places.Shape(), 0), tiles)
	all := Reshape(x, d[0]*tiles, d[2], d[3], d[4])
	return Reshape(Gather(all, Reshape(Add(first, places), d[0]*tiles, 1)), d...)
}

// luma makes tiles in 0..255 grey, as Pillow does: (19595 R + 38470 G + 7471 B +
// 32768) / 65536, rounded down. All numbers on the way are integers that float32 has.
func luma(x *Node) *Node {
	d := x.Shape().Dimensions
	weights := Reshape(Const(x.Graph(), []float32{19595, 38470, 7471}), 1, 1, 1, 1, 3)
	sum := ReduceAndKeep(Mul(x, weights), ReduceSum, -1)
	return BroadcastToDims(Floor(DivScalar(AddScalar(sum, 32768), 65536)), d...)
}

// TileOrders returns 30 tile orders for JiGen that are far from each other and from the identity
// in Hamming distance. Each is the best of a thousand random permutations. They are the same in
// every run but differ from the authors' orders, whose derivation is not published.
var TileOrders = sync.OnceValue(func() [][]int {
	const orders, tried = 30, 1000
	r := seed.New(0, "jigen orders")
	chosen := [][]int{{0, 1, 2, 3, 4, 5, 6, 7, 8}}
	for len(chosen) <= orders {
		var best []int
		most := 0
		for range tried {
			p := r.Perm(tiles)
			if d := nearest(p, chosen); d > most {
				best, most = p, d
			}
		}
		chosen = append(chosen, best)
	}
	return slices.Clone(chosen[1:])
})

// nearest returns the least number of places at which p differs from one of others.
func nearest(p []int, others [][]int) int {
	least := len(p)
	for _, o := range others {
		differ := 0
		for i := range p {
			if p[i] != o[i] {
				differ++
			}
		}
		least = min(least, differ)
	}
	return least
}
