package objective

import (
	"math"
	"slices"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/seed"
)

// TestTilesOfOtherSizes shuffles an image of 8x8 pixels, which 3 does not divide,
// and one of 6x6, against loops over pixels.
func TestTilesOfOtherSizes(t *testing.T) {
	b := enginetest.Open(t)
	order := []int32{8, 3, 0, 1, 7, 6, 2, 5, 4}
	for _, size := range []int{6, 8} {
		x := tensors.FromShape(shapes.Make(dtypes.Float32, 1, size, size, 3))
		at := func(row, column, c int) float32 { return float32(100*row + 10*column + c) }
		tensors.MustMutableFlatData(x, func(v []float32) {
			for i := range v {
				v[i] = at(i/3/size, i/3%size, i%3)
			}
		})
		out := fatal.Get(ExecOnce(b.Compute, func(x *Node) *Node {
			return joinTiles(permuted(cutTiles(x), Const(x.Graph(), [][]int32{order})), size)
		}, x))(t)
		const side = 2
		for i, got := range tensors.MustCopyFlatData[float32](out) {
			row, column := min(i/3/size, 3*side-1), min(i/3%size, 3*side-1)
			from := int(order[3*(row/side)+column/side])
			if want := at(from/3*side+row%side, from%3*side+column%side, i%3); got != want {
				t.Fatalf("side %d: value %d is %v, want %v", size, i, got, want)
			}
		}
	}
}

// TestJiGenDraws checks how often images are shuffled and tiles grey: an order is
// not 0 with probability 0.1 * 30/31.
func TestJiGenDraws(t *testing.T) {
	o, d := JiGen(TileOrders()), Dims{Domains: 3, PerDomain: 10000}
	orders := o.Draws[0].Values(seed.New(1, "orders"), d)["order"].([]int32)
	grey := o.Draws[1].Values(seed.New(1, "grey"), d)["grey"].([]float32)
	count := make([]int, 31)
	for _, v := range orders {
		count[v]++
	}
	share := func(what string, got, n int, p float64) {
		if d := float64(got)/float64(n) - p; math.Abs(d) > 4*math.Sqrt(p*(1-p)/float64(n)) {
			t.Errorf("%s: %d of %d, off by %v", what, got, n, d)
		}
	}
	share("intact", count[0], len(orders), 1-0.1*30/31)
	for i, n := range count[1:] {
		share("one order", n, len(orders), 0.1/31)
		if n == 0 {
			t.Errorf("order %d never came up", i+1)
		}
	}
	ones := 0
	for _, v := range grey {
		if v != 0 {
			ones++
		}
	}
	share("grey", ones, len(grey), 0.1)
	if len(grey) != 9*d.Batch() {
		t.Errorf("%d tiles of %d images", len(grey), d.Batch())
	}
}

func TestTileOrders(t *testing.T) {
	orders := TileOrders()
	if len(orders) != 30 {
		t.Fatalf("%d orders, want 30", len(orders))
	}
	orders = append(slices.Clone(orders), []int{0, 1, 2, 3, 4, 5, 6, 7, 8})
	total, pairs := 0, 0
	for i, a := range orders {
		if sorted := slices.Sorted(slices.Values(a)); !slices.Equal(sorted, orders[30]) {
			t.Errorf("order %d is %v, no permutation", i, a)
		}
		for _, b := range orders[:i] {
			differ := 0
			for k := range a {
				if a[k] != b[k] {
					differ++
				}
			}
			if differ < 6 {
				t.Errorf("%v and %v differ at %d places only", a, b, differ)
			}
			total += differ
			pairs++
		}
	}
	if mean := float64(total) / float64(pairs); mean < 8 {
		t.Errorf("orders differ at %v places on average", mean)
	}
}
