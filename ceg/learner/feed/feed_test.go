package feed

import (
	"context"
	"fmt"
	"hash/crc32"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ledg-go/ledg/ceg/objective/augment"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/rgb"
	"github.com/ledg-go/ledg/datasets/seed"
)

// fakeImages are computed pictures; reading may take time or fail.
type fakeImages struct {
	size, n int
	delay   func(i int) time.Duration
	bad     map[int]error
}

func (f *fakeImages) Size() int { return f.size }
func (f *fakeImages) Len() int  { return f.n }
func (f *fakeImages) Read(i int, dst *rgb.Image) error {
	if f.delay != nil {
		time.Sleep(f.delay(i))
	}
	if err := f.bad[i]; err != nil {
		return err
	}
	for j := range dst.Pix {
		dst.Pix[j] = uint8(i*37 + j*j)
	}
	return nil
}

func (f *fakeImages) plain(i int) []uint8 {
	m := rgb.New(f.size, f.size)
	g := fakeImages{size: f.size, n: f.n}
	g.Read(i, m)
	return m.Pix
}

// The views that subsets of tests have.
var (
	weak       = []augment.View{augment.WeakView}
	strong     = []augment.View{augment.StrongView}
	weakStrong = []augment.View{augment.WeakView, augment.StrongView}
	all        = []augment.View{augment.PlainView, augment.WeakView, augment.StrongView, augment.WeakView.Again("weak 2")}
)

var allSubsets = Subsets{
	Labelled:   testSubset(weakStrong, 0, 9, 5, 3),
	Unlabelled: testSubset(all, 20, 17, 16, 30).without(),
	Reliable:   testSubset(strong, 20, 8, 7, 6),
}

func newLoader(t testing.TB, images Images, cfg Config) *Loader {
	t.Helper()
	return fatal.Get(New(Pixels(images), cfg))(t)
}

// take reads an epoch to its end and calls use with every batch. It returns how long the first
// batch took, before which nothing could be made ahead, and the others.
func take(t testing.TB, l *Loader, number int, subsets Subsets, use func(b *Batch)) (first, others time.Duration) {
	t.Helper()
	e := fatal.Get(l.Epoch(number, subsets))(t)
	i, start := 0, time.Now()
	for b, err := range e.Batches(context.Background()) {
		if waited := time.Since(start); i == 0 {
			first = waited
		} else {
			others += waited
		}
		if err != nil {
			t.Fatal(err)
		}
		if b.Iteration != i {
			t.Errorf("batch %d is iteration %d", i, b.Iteration)
		}
		use(b)
		i, start = i+1, time.Now()
	}
	if i != e.Len() {
		t.Errorf("%d batches, Len %d", i, e.Len())
	}
	return first, others
}

// sum digests all of a batch.
func sum(b *Batch) uint32 {
	h := crc32.NewIEEE()
	for _, p := range b.byRole() {
		fmt.Fprintln(h, p.Example, p.Domain, p.Label)
		for i, v := range p.rows {
			fmt.Fprintln(h, p.views[i].Name, len(v))
			h.Write(v)
		}
	}
	fmt.Fprintln(h, b.Iteration)
	return h.Sum32()
}

func TestBatchesHoldTheirViews(t *testing.T) {
	images := &fakeImages{size: 8, n: 100}
	cfg := Config{Seed: 7, Domains: names(3), Batch: 4}
	const image = 8 * 8 * 3
	l := newLoader(t, images, cfg)
	take(t, l, 3, allSubsets, func(b *Batch) {
		byRole := allSubsets.byRole()
		for r, sub := range b.byRole() {
			subset := byRole[r]
			if len(sub.Example) != 12 || len(sub.Domain) != 12 {
				t.Fatalf("%v: %d examples, %d domains", role(r), len(sub.Example), len(sub.Domain))
			}
			if (sub.Label == nil) != (role(r) == unlabelled) {
				t.Errorf("%v: labels %v", role(r), sub.Label)
			}
			for slot, example := range sub.Example {
				at := slices.Index(subset.Example, example)
				if int(sub.Domain[slot]) != subset.Domain[at] || sub.Domain[slot] != int32(slot/4) {
					t.Errorf("%v: slot %d has domain %d", role(r), slot, sub.Domain[slot])
				}
				if role(r) != unlabelled && int(sub.Label[slot]) != subset.Label[at] {
					t.Errorf("%v: slot %d has label %d, want %d", role(r), slot, sub.Label[slot], subset.Label[at])
				}
				src := &rgb.Image{Width: 8, Height: 8, Pix: images.plain(example)}
				key := []uint64{3, uint64(b.Iteration), uint64(slot), uint64(example)}
				for name, want := range map[string]*rgb.Image{
					"plain":  src,
					"weak":   augment.Weak(src, seed.New(7, "weak view "+role(r).String(), key...)),
					"weak 2": augment.Weak(src, seed.New(7, "weak 2 view "+role(r).String(), key...)),
					"strong": augment.Strong(src, seed.New(7, "strong view "+role(r).String(), key...)),
				} {
					got := sub.View(name)
					if !slices.ContainsFunc(subset.Views, func(v augment.View) bool { return v.Name == name }) {
						if got != nil {
							t.Errorf("%v: view %s was not asked for", role(r), name)
						}
						continue
					}
					if len(got) != 12*image {
						t.Fatalf("%v: view %s has %d bytes", role(r), name, len(got))
					}
					if !slices.Equal(got[slot*image:(slot+1)*image], want.Pix) {
						t.Errorf("%v: iteration %d slot %d: wrong pixels in view %s", role(r), b.Iteration, slot, name)
					}
				}
			}
		}
	})
}

func TestBatchesDoNotDependOnScheduling(t *testing.T) {
	var want []uint32
	for _, c := range []struct{ workers, batches int }{{1, 1}, {1, 3}, {2, 2}, {5, 4}, {16, 1}} {
		synctest.Test(t, func(t *testing.T) {
			images := &fakeImages{size: 8, n: 100}
			if c.workers > 1 {
				images.delay = func(i int) time.Duration { return time.Duration(i*7919%13) * time.Millisecond }
			}
			l := newLoader(t, images, Config{Seed: 7, Domains: names(3), Batch: 4, Workers: c.workers, Batches: c.batches})
			var got []uint32
			for epoch := range 2 {
				take(t, l, epoch, allSubsets, func(b *Batch) { got = append(got, sum(b)) })
			}
			switch {
			case len(got) != 8: // twice ⌊16/4⌋
				t.Errorf("%d batches, want 8", len(got))
			case want == nil:
				want = got
			case !slices.Equal(got, want):
				t.Errorf("%d workers, %d batches: got %x, want %x", c.workers, c.batches, got, want)
			}
		})
	}
}

func TestPoolsWithoutViewsAreLeftOut(t *testing.T) {
	l := newLoader(t, &fakeImages{size: 4, n: 100}, Config{Domains: names(3), Batch: 4})
	subsets := allSubsets
	subsets.Unlabelled.Views = nil
	subsets.Reliable = Subset{}
	n := 0
	take(t, l, 0, allSubsets, func(*Batch) {}) // leaves its memory behind
	take(t, l, 1, subsets, func(b *Batch) {
		n++
		if len(b.Unlabelled.Example)+len(b.Reliable.Example) > 0 ||
			b.Unlabelled.View("weak") != nil || b.Reliable.View("strong") != nil {
			t.Errorf("%+v", b)
		}
		if n := len(b.Labelled.View("weak")); n != 12*4*4*3 {
			t.Errorf("%d bytes of labelled weak views", n)
		}
	})
	if n != 4 {
		t.Errorf("%d batches, want the 4 of a pass over the unlabelled subset", n)
	}
	subsets.Labelled.Views = nil
	n = 0
	take(t, l, 2, subsets, func(b *Batch) { n++ })
	if n != 4 {
		t.Errorf("%d batches without any views, want 4", n)
	}
}

// TestWorkersMakeBatchesAhead runs on a fake clock. Making a batch takes 36 readings of
// 1 ms on two workers (some have 8, some 4 units): 20 ms at most, 18 ms at least.
func TestWorkersMakeBatchesAhead(t *testing.T) {
	for _, c := range []struct {
		step   time.Duration
		lo, hi time.Duration // of the wait after the first batch, in all
	}{
		{step: 30 * time.Millisecond, lo: 0, hi: 0},
		{step: 0, lo: 3 * 16 * time.Millisecond, hi: 3 * 20 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			images := &fakeImages{size: 4, n: 100, delay: func(int) time.Duration { return time.Millisecond }}
			l := newLoader(t, images, Config{Domains: names(3), Batch: 4, Workers: 2})
			first, others := take(t, l, 0, allSubsets, func(b *Batch) { time.Sleep(c.step) })
			if first < 18*time.Millisecond || first > 20*time.Millisecond {
				t.Errorf("step %v: first wait %v", c.step, first)
			}
			if others < c.lo || others > c.hi {
				t.Errorf("step %v: waited %v after the first batch, want %v to %v", c.step, others, c.lo, c.hi)
			}
		})
	}
}

func TestReadErrorNamesTheFirstExample(t *testing.T) {
	for workers := range 4 {
		synctest.Test(t, func(t *testing.T) {
			images := &fakeImages{size: 4, n: 100, bad: map[int]error{}}
			l := newLoader(t, images, Config{Seed: 1, Domains: names(3), Batch: 4, Workers: workers + 1})
			var third []int
			take(t, l, 0, allSubsets, func(b *Batch) {
				if b.Iteration == 2 {
					third = slices.Concat(b.Unlabelled.Example[6:], b.Reliable.Example)
				}
			})
			// The unlabelled subset is drawn without replacement: its examples are in no
			// earlier unlabelled batch, but may be reliable ones. Fail later units faster.
			bad := third[0]
			images.bad[bad] = fmt.Errorf("photo/%d.png: it is truncated", bad)
			images.delay = func(i int) time.Duration {
				if i == bad {
					return time.Second
				}
				return 0
			}
			e := fatal.Get(l.Epoch(0, allSubsets))(t)
			var last error
			for b, err := range e.Batches(t.Context()) {
				if last = err; err == nil && (slices.Contains(b.Unlabelled.Example, bad) || slices.Contains(b.Reliable.Example, bad)) {
					t.Errorf("batch %d holds the bad image", b.Iteration)
				}
			}
			if want := fmt.Sprintf("feed: image %d: photo/%d.png: it is truncated", bad, bad); last == nil || last.Error() != want {
				t.Errorf("error %v, want %q", last, want)
			}
		})
	}
}

func TestLowestUnitsErrorWins(t *testing.T) {
	var b Batch
	for _, unit := range []int{5, 3, 9, 4} {
		b.fail(unit, fmt.Errorf("unit %d", unit))
	}
	if b.err.Error() != "unit 3" {
		t.Errorf("error %v", b.err)
	}
}
