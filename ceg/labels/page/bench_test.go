package page_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// The page opens, and a label is on disk, within milliseconds, in a pool of a million images (with
// LEDG_SCALE=1000000), a tenth of them labelled. On 2 cores of an AMD EPYC, shared with other
// work, a million images (n = 100 of each, -benchtime 100x) took 1.0 to 1.4 ms to open, 0.8 to 2.9
// ms to answer and 0.5 to 1.4 ms to undo, on the mean.
func BenchmarkServer(b *testing.B) {
	n, err := strconv.Atoi(os.Getenv("LEDG_SCALE"))
	if err != nil {
		n = 2000
	}
	benchmark(b, n)
}

func benchmark(b *testing.B, n int) {
	examples := make([]datasets.Example, n)
	for i := range examples {
		examples[i] = datasets.Example{ID: fmt.Sprintf("camera/%07d.jpg", i)}
	}
	d, _ := fatal.Get2(datasets.NewGenerated("many", []string{"camera"}, animals, examples, make([]int, n),
		func(int) (*rgb.Image, error) { return rgb.New(64, 64), nil }, "many"))(b)
	dir := b.TempDir()
	o := options(b, d, "", dir, animals)
	var events []labels.Event
	for i := range n / 10 {
		events = append(events, labels.Event{Kind: labels.Labelled, ID: examples[i].ID, Class: animals[i%10], By: "bob"})
	}
	fatal.Get(o.Ledger.Append(events...))(b)
	_, address := serve(b, o)
	within := func(b *testing.B, limit time.Duration) {
		b.Helper()
		if mean := b.Elapsed() / time.Duration(b.N); mean > limit {
			b.Errorf("it takes %v, want at most %v", mean, limit)
		}
	}
	b.Run("open", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			w := window{b, address, fmt.Sprintf("open%d", i)}
			for _, path := range []string{"", "page.css", "page.js", "setup"} {
				if status := w.get(path, url.Values{}, nil); status != http.StatusOK {
					b.Fatal(path, status)
				}
			}
			if status := w.get("image", url.Values{"id": {w.view().Question.ID}}, nil); status != http.StatusOK {
				b.Fatal(status)
			}
		}
		within(b, time.Second)
	})
	acts := 0
	b.Run("label", func(b *testing.B) {
		w := window{b, address, "label"}
		v := w.view()
		for b.Loop() {
			if v.Question == nil {
				b.Skip("all images are answered")
			}
			v = w.say(v, "label", "ant")
			acts++
		}
		within(b, 20*time.Millisecond)
	})
	b.Run("undo", func(b *testing.B) {
		w := window{b, address, "undo"}
		for b.Loop() {
			if acts--; acts < 0 {
				b.Skip("nothing is left to undo")
			}
			if status, _, _ := w.act(map[string]any{"op": "undo"}); status != http.StatusOK {
				b.Fatal(status)
			}
		}
		within(b, 20*time.Millisecond)
	})
}
