package feed

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// BenchmarkEpoch makes the views of training iterations with K = 3 and 16 images
// per domain: weak and strong views of labelled and unlabelled images and strong
// views of reliable ones, 240 per iteration.
func BenchmarkEpoch(b *testing.B) {
	for _, size := range []int{32, 64, 224} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%dpx/%dworkers", size, workers), func(b *testing.B) {
				n := 3000
				if size > 64 {
					n = 600
				}
				images := &cached{fakeImages{size: size, n: n}, make([]uint8, 3*size*size*n)}
				for i := range images.pix {
					images.pix[i] = uint8(i * i >> 3)
				}
				l := newLoader(b, images, Config{Domains: names(3), Batch: 16, Workers: workers})
				subsets := Subsets{
					Labelled:   testSubset(weakStrong, 0, 50, 50, 50),
					Unlabelled: testSubset(weakStrong, 150, n/4, n/4, n/4).without(),
					Reliable:   testSubset(strong, 150, n/8, n/8, n/8),
					Iterations: b.N,
				}
				e, err := l.Epoch(context.Background(), 0, subsets)
				if err != nil {
					b.Fatal(err)
				}
				defer e.Close()
				b.ResetTimer()
				for {
					batch, err := e.Next()
					if err == io.EOF {
						break
					}
					if err != nil {
						b.Fatal(err)
					}
					batch.Release()
				}
				b.ReportMetric(240*float64(b.N)/b.Elapsed().Seconds(), "views/s")
			})
		}
	}
}

// BenchmarkPACS makes the views of training iterations of PACS at 224 px, from a
// cache as a run has it: 240 an iteration, as BenchmarkEpoch, on one core and on
// all. LEDG_DATA names the folder of the images and lists.
func BenchmarkPACS(b *testing.B) {
	root := os.Getenv("LEDG_DATA")
	if root == "" {
		b.Skip("set LEDG_DATA to a folder with the images and lists of PACS to run this benchmark")
	}
	d, truth, err := datasets.Open("pacs", root, datasets.Options{})
	if err != nil {
		b.Fatal(err)
	}
	images, err := datasets.Prepare(b.Context(), d, 224, "", nil)
	if err != nil {
		b.Fatal(err)
	}
	defer images.Close()
	subsets := Subsets{Labelled: Subset{Views: weakStrong}, Unlabelled: Subset{Views: weakStrong}, Reliable: Subset{Views: strong}}
	for i, e := range d.Examples {
		if e.Domain == 3 || e.Split != datasets.Train {
			continue
		}
		subset := &subsets.Unlabelled
		switch i % 20 {
		case 0:
			subset = &subsets.Labelled
		case 1:
			subset = &subsets.Reliable
		}
		subset.Example, subset.Domain = append(subset.Example, i), append(subset.Domain, e.Domain)
		if i%20 < 2 {
			subset.Label = append(subset.Label, truth.Class(i))
		}
	}
	for _, workers := range []int{1, runtime.GOMAXPROCS(0)} {
		b.Run(fmt.Sprintf("%dworkers", workers), func(b *testing.B) {
			subsets.Iterations = b.N
			b.ResetTimer()
			take(b, newLoader(b, images, Config{Domains: d.Domains[:3], Batch: 16, Workers: workers}), 0, subsets, func(*Batch) {})
			b.ReportMetric(240*float64(b.N)/b.Elapsed().Seconds(), "views/s")
		})
	}
}

// BenchmarkBusyStep measures how long a step that keeps every core busy for 50 ms
// waits for its batch ("wait-ms/op"; 32 px, after the first batch).
func BenchmarkBusyStep(b *testing.B) {
	images := &cached{fakeImages{size: 32, n: 3000}, make([]uint8, 3*32*32*3000)}
	l := newLoader(b, images, Config{Domains: names(3), Batch: 16})
	subsets := Subsets{
		Labelled:   testSubset(weakStrong, 0, 50, 50, 50),
		Unlabelled: testSubset(weakStrong, 150, 900, 900, 900).without(),
		Reliable:   testSubset(strong, 150, 400, 400, 400),
		Iterations: b.N,
	}
	_, wait := take(b, l, 0, subsets, func(*Batch) {
		var busy sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			busy.Go(func() {
				for start := time.Now(); time.Since(start) < 50*time.Millisecond; {
				}
			})
		}
		busy.Wait()
	})
	b.ReportMetric(float64(wait.Microseconds())/1000/float64(b.N), "wait-ms/op")
}

// cached images are copied from memory, as from the cache of a data set.
type cached struct {
	fakeImages
	pix []uint8
}

func (c *cached) Read(i int, dst *rgb.Image) error {
	n := 3 * c.size * c.size
	copy(dst.Pix, c.pix[i*n:(i+1)*n])
	return nil
}
