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
				pools := Pools{
					Labelled:   testPool(weakStrong, 0, 50, 50, 50),
					Unlabelled: testPool(weakStrong, 150, n/4, n/4, n/4).without(),
					Reliable:   testPool(strong, 150, n/8, n/8, n/8),
					Iterations: b.N,
				}
				e, err := l.Epoch(context.Background(), 0, pools)
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
	pools := Pools{Labelled: Pool{Views: weakStrong}, Unlabelled: Pool{Views: weakStrong}, Reliable: Pool{Views: strong}}
	for i, e := range d.Examples {
		if e.Domain == 3 || e.Split != datasets.Train {
			continue
		}
		pool := &pools.Unlabelled
		switch i % 20 {
		case 0:
			pool = &pools.Labelled
		case 1:
			pool = &pools.Reliable
		}
		pool.Example, pool.Domain = append(pool.Example, i), append(pool.Domain, e.Domain)
		if i%20 < 2 {
			pool.Label = append(pool.Label, truth.Class(i))
		}
	}
	for _, workers := range []int{1, runtime.GOMAXPROCS(0)} {
		b.Run(fmt.Sprintf("%dworkers", workers), func(b *testing.B) {
			pools.Iterations = b.N
			b.ResetTimer()
			take(b, newLoader(b, images, Config{Domains: d.Domains[:3], Batch: 16, Workers: workers}), 0, pools, func(*Batch) {})
			b.ReportMetric(240*float64(b.N)/b.Elapsed().Seconds(), "views/s")
		})
	}
}

// BenchmarkBusyStep measures how long a step that keeps every core busy for 50 ms
// waits for its batch ("wait-ms/op"; 32 px, after the first batch).
func BenchmarkBusyStep(b *testing.B) {
	images := &cached{fakeImages{size: 32, n: 3000}, make([]uint8, 3*32*32*3000)}
	l := newLoader(b, images, Config{Domains: names(3), Batch: 16})
	pools := Pools{
		Labelled:   testPool(weakStrong, 0, 50, 50, 50),
		Unlabelled: testPool(weakStrong, 150, 900, 900, 900).without(),
		Reliable:   testPool(strong, 150, 400, 400, 400),
		Iterations: b.N,
	}
	_, wait := take(b, l, 0, pools, func(*Batch) {
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
