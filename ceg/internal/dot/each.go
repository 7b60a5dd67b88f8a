package dot

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls fn(first, last) for the rows [first, last) of every chunk of n rows, on GOMAXPROCS
// goroutines, and returns when all are done. It returns the error of the first failing chunk,
// independent of timing.
func Each(n, chunk int, fn func(first, last int) error) error {
	chunks := (n + chunk - 1) / chunk
	errs := make([]error, chunks)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), chunks) {
		wg.Go(func() {
			for c := int(next.Add(1)) - 1; c < chunks; c = int(next.Add(1)) - 1 {
				errs[c] = fn(c*chunk, min((c+1)*chunk, n))
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
