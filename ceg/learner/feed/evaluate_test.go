package feed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

func TestEvalBatches(t *testing.T) {
	images := &fakeImages{size: 4, n: 50}
	const image = 4 * 4 * 3
	for _, n := range []int{0, 1, 4, 5, 8, 30} {
		synctest.Test(t, func(t *testing.T) {
			var examples, got []int
			for i := range n {
				examples = append(examples, (i*17+3)%50)
			}
			for b, err := range EvalBatches(t.Context(), Pixels(images), examples, 4) {
				if err != nil {
					t.Fatal(err)
				}
				if b.Start != len(got) || len(b.Plain) != 4*image || len(b.Example) > 4 {
					t.Errorf("batch of %d at %d with %d bytes", len(b.Example), b.Start, len(b.Plain))
				}
				for i := range 4 {
					want := make([]uint8, image)
					if i < len(b.Example) {
						want = images.plain(b.Example[i])
					}
					if !slices.Equal(b.Plain[i*image:(i+1)*image], want) {
						t.Errorf("n = %d: wrong pixels at %d", n, b.Start+i)
					}
				}
				got = append(got, b.Example...)
			}
			if !slices.Equal(got, examples) {
				t.Errorf("n = %d: examples %v, want %v", n, got, examples)
			}
		})
	}
}

func TestEvalBatchesEndEarly(t *testing.T) {
	images := &fakeImages{size: 4, n: 50}
	examples := make([]int, 50)
	for i := range examples {
		examples[i] = i
	}
	for taken := range 5 { // synctest fails if the reader is left behind
		synctest.Test(t, func(t *testing.T) {
			n := 0
			for range EvalBatches(t.Context(), Pixels(images), examples, 4) {
				if n++; n > taken {
					break
				}
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		cause := errors.New("enough")
		n := 0
		var last error
		for b, err := range EvalBatches(ctx, Pixels(images), examples, 4) {
			if last = err; err != nil {
				continue
			}
			n += len(b.Example)
			cancel(cause)
		}
		if last != cause || n >= len(examples) {
			t.Errorf("%d examples, then %v", n, last)
		}
	})
}

func TestEvalBatchesErrors(t *testing.T) {
	images := &fakeImages{size: 4, n: 50, bad: map[int]error{9: fmt.Errorf("photo/9.png: gone")}}
	for _, c := range []struct {
		examples    []int
		batch, good int
		want        string
	}{
		{[]int{1}, 0, 0, "evaluation batch of 0"},
		{[]int{1, 50}, 4, 0, "example 50 is not in 0..49"},
		{[]int{1, -1}, 4, 0, "example -1 is not in 0..49"},
		{[]int{1, 2, 3, 9, 4}, 2, 1, "image 9: photo/9.png: gone"},
	} {
		good, calls := 0, 0
		var last error
		for b, err := range EvalBatches(t.Context(), Pixels(images), c.examples, c.batch) {
			calls++
			if last = err; b != nil {
				good++
			}
		}
		if last == nil || !strings.Contains(last.Error(), c.want) || good != c.good || calls != good+1 {
			t.Errorf("%v: %d batches, then %v, want %d and %q", c.examples, good, last, c.good, c.want)
		}
	}
}
