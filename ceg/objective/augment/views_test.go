package augment

import (
	"fmt"
	"hash/crc32"
	"math"
	"testing"

	"github.com/ledg-go/ledg/datasets/rgb"
	"github.com/ledg-go/ledg/datasets/seed"
)

func TestSides(t *testing.T) {
	for _, c := range []struct{ side, enlarged, cut int }{
		{224, 252, 16}, {128, 144, 10}, {96, 108, 6}, {64, 72, 4}, {48, 54, 4}, {32, 36, 2}, {28, 32, 2}, {1, 1, 2},
		{100, 112, 8}, // 112.5 to even
	} {
		if got := EnlargedSide(c.side); got != c.enlarged {
			t.Errorf("EnlargedSide(%d) = %d, want %d", c.side, got, c.enlarged)
		}
		if got := CutoutLength(c.side); got != c.cut {
			t.Errorf("CutoutLength(%d) = %d, want %d", c.side, got, c.cut)
		}
	}
}

// TestViewsAreTheirSteps replays the documented draws with the plain functions.
func TestViewsAreTheirSteps(t *testing.T) {
	src := readImage(t, "src_odd.png")
	flips, shifts := 0, 0
	const n = 400
	var mk Maker
	got := rgb.New(src.Width, src.Height)
	for i := range uint64(n) {
		r := seed.New(1, "test", i)
		want := src
		flip, shift := r.Float64() < 0.5, r.Float64() < 0.5
		if flip {
			want = HFlip(want)
			flips++
		}
		if shift {
			wide := want.Resize(60, 80) // 53*1.125 = 59.6, 71*1.125 = 79.9
			x0 := int(math.RoundToEven(7 * r.Float64()))
			y0 := int(math.RoundToEven(9 * r.Float64()))
			want = Crop(wide, x0, y0, 53, 71)
			shifts++
		}
		mk.Weak(got, src, seed.New(1, "test", i))
		same(t, got, want)
		if i < 50 {
			same(t, Weak(src, seed.New(1, "test", i)), want)
		}

		r = seed.New(2, "test", i)
		want = src
		if r.Float64() < 0.5 {
			want = HFlip(want)
		}
		want = RandAugment(want, 2, r)
		cy, cx := r.IntN(71), r.IntN(53)
		want = Cutout(want, cx, cy, CutoutLength(53))
		mk.Strong(got, src, seed.New(2, "test", i))
		same(t, got, want)
		if i < 50 {
			same(t, Strong(src, seed.New(2, "test", i)), want)
		}
		if t.Failed() {
			t.Fatalf("at stream %d", i)
		}
	}
	// Four standard deviations of a fair coin are 40 of 400.
	for name, k := range map[string]int{"flips": flips, "shifts": shifts} {
		if k < n/2-40 || k > n/2+40 {
			t.Errorf("%d %s in %d views", k, name, n)
		}
	}
}

// The ends of the range of offsets have half the probability of the others.
func TestOffset(t *testing.T) {
	const n, limit = 70000, 7
	r := seed.New(4, "test")
	var count [limit + 1]int
	for range n {
		count[offset(limit, r)]++
	}
	for i, k := range count {
		want := n / limit
		if i == 0 || i == limit {
			want /= 2
		}
		if math.Abs(float64(k-want)) > 4*math.Sqrt(float64(want)) {
			t.Errorf("offset %d drawn %d times, want about %d", i, k, want)
		}
	}
}

func TestRandAugmentIsItsSteps(t *testing.T) {
	src := readImage(t, "src_photo.png")
	before := src.Clone()
	seen := map[string]int{}
	for i := range uint64(300) {
		n := int(i % 4)
		r := seed.New(3, "test", i)
		want := src
		for range n {
			op := Policy()[r.IntN(14)]
			want = op.Apply(want, op.Min+(op.Max-op.Min)*r.Float64())
			seen[op.Name]++
		}
		same(t, RandAugment(src, n, seed.New(3, "test", i)), want)
	}
	same(t, src, before)
	if len(seen) != 14 {
		t.Errorf("only %d of 14 operations were drawn: %v", len(seen), seen)
	}
}

// TestViewsArePinned fails when the pixels or the draws of a view change, and with
// them every recorded run.
func TestViewsArePinned(t *testing.T) {
	src := readImage(t, "src_photo.png").Resize(32, 32)
	weak, strong := crc32.NewIEEE(), crc32.NewIEEE()
	for i := range uint64(200) {
		weak.Write(Weak(src, seed.New(1, "weak", i)).Pix)
		strong.Write(Strong(src, seed.New(1, "strong", i)).Pix)
	}
	if got, want := weak.Sum32(), uint32(0xe8e2433b); got != want {
		t.Errorf("CRC-32 of weak views %#x, want %#x", got, want)
	}
	if got, want := strong.Sum32(), uint32(0xf210df2b); got != want {
		t.Errorf("CRC-32 of strong views %#x, want %#x", got, want)
	}
}

func TestMakerDoesNotAllocate(t *testing.T) {
	src, dst := gradient(32, 32), rgb.New(32, 32)
	var m Maker
	r := seed.New(1, "test")
	view := func() {
		m.Strong(dst, src, r)
		m.Weak(dst, src, r)
	}
	for range 100 {
		view() // grow the scratch images
	}
	// Resizing keeps a line of sums; everything else is reused.
	if n := testing.AllocsPerRun(500, view); n > 3 {
		t.Errorf("%v allocations for two views", n)
	}
}

func BenchmarkViews(b *testing.B) {
	for _, side := range []int{32, 64, 224} {
		src, dst := gradient(side, side), rgb.New(side, side)
		var m Maker
		for name, view := range map[string]func(i uint64){
			"weak":   func(i uint64) { m.Weak(dst, src, seed.New(1, "weak view", i)) },
			"strong": func(i uint64) { m.Strong(dst, src, seed.New(1, "strong view", i)) },
		} {
			b.Run(fmt.Sprintf("%s/%dpx", name, side), func(b *testing.B) {
				b.ReportAllocs()
				n := uint64(0)
				for b.Loop() {
					view(n)
					n++
				}
				b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "views/s")
			})
		}
	}
}

func BenchmarkOps(b *testing.B) {
	src, dst := gradient(224, 224), rgb.New(224, 224)
	for _, op := range Policy() {
		b.Run(op.Name, func(b *testing.B) {
			for b.Loop() {
				op.run(dst, src, (op.Min+3*op.Max)/4)
			}
		})
	}
}
