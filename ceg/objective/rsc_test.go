package objective

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// TestRSCMutesByCount checks how many values RSC mutes at the sizes of a ResNet-18 at
// 222 pixels, which the tiny networks of the fixture do not tell apart from others.
func TestRSCMutesByCount(t *testing.T) {
	b := enginetest.Open(t)
	run := func(f func(x *Node) *Node, x [][]float32) []float32 {
		t.Helper()
		out := fatal.Get(ExecOnce(b.Compute, f, x))(t)
		return tensors.MustCopyFlatData[float32](out)
	}
	r := rand.New(rand.NewPCG(1, 2))
	row := func(n int) []float32 {
		var v []float32
		for range n {
			v = append(v, float32(r.NormFloat64()))
		}
		return v
	}
	for _, c := range []struct {
		n     int
		of    float64
		muted int
	}{{512, 3.2, 160}, {49, 3, 17}, {1, 3.2, 0}} {
		x := [][]float32{row(c.n), row(c.n)}
		mask := run(func(x *Node) *Node { return withoutLargest(x, upTo(c.n, c.of)) }, x)
		for i, v := range x {
			sorted := slices.Clone(v)
			slices.Sort(sorted)
			muted := 0
			for j := range v {
				want := float32(1)
				if slices.Index(sorted, v[j]) >= c.n-c.muted {
					want, muted = 0, muted+1
				}
				if mask[i*c.n+j] != want {
					t.Fatalf("%d values of 1/%v: the mask of %v is %v", c.n, c.of, v[j], mask[i*c.n+j])
				}
			}
			if muted != c.muted {
				t.Errorf("%d of %d values are muted, want %d", muted, c.n, c.muted)
			}
		}
	}
	// Equal values are muted together or not at all.
	if got := run(func(x *Node) *Node { return withoutLargest(x, 2) }, [][]float32{{1, 3, 2, 2}, {1, 1, 0, 0}}); !slices.Equal(got, []float32{1, 0, 1, 1, 0, 0, 1, 1}) {
		t.Errorf("mask of equal values: %v", got)
	}
	// Zeros of either sign are equal.
	negative := float32(math.Copysign(0, -1))
	if got := run(func(x *Node) *Node { return withoutLargest(x, 1) }, [][]float32{{-1, negative, 0, -3}, {2, negative, 0, -3}}); !slices.Equal(got, []float32{1, 1, 1, 1, 0, 1, 1, 1}) {
		t.Errorf("mask of zeros and negative values: %v", got)
	}
	third := func(x *Node) *Node { return allBut(1./3, x) }
	// 171 of 512 gradients are not below the 66.67th percentile.
	muted := 0
	for _, below := range run(func(x *Node) *Node { return ConvertDType(LessThan(x, third(x)), x.DType()) }, [][]float32{row(512)}) {
		if below == 0 {
			muted++
		}
	}
	if muted != 171 {
		t.Errorf("%d of 512 entries are muted, want 171", muted)
	}
	// NumPy's np.percentile([4, 1, 3, 2, 9], 200/3) is 3 + 2/3, and of four values it is the third.
	if got := run(third, [][]float32{{4, 1, 3, 2, 9}}); !(got[0] > 3.6666 && got[0] < 3.6667) {
		t.Errorf("2/3 of the way up five values: %v", got)
	}
	if got := run(third, [][]float32{{8, 1, 3, 2}}); got[0] != 3 {
		t.Errorf("2/3 of the way up four values: %v", got)
	}
}

// epochStep is a step that knows the epoch and nothing else.
type epochStep struct {
	Step
	epoch *Node
}

func (s epochStep) Scalar(string) *Node { return s.epoch }

func TestRSCCurriculum(t *testing.T) {
	b := enginetest.Open(t)
	for epoch, want := range map[float32]float32{0: 38, 9: 38, 10: 64, 19: 64, 20: 90, 29: 90, 30: 90, 59: 90} {
		out := fatal.Get(ExecOnce(b.Compute, func(e *Node) *Node {
			return Round(MulScalar(mutedShare(epochStep{epoch: e}), 128))
		}, epoch))(t)
		if got := tensors.MustCopyFlatData[float32](out); got[0] != want {
			t.Errorf("epoch %v: place %v of 128, want %v", epoch, got[0], want)
		}
	}
}
