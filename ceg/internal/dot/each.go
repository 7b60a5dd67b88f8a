package dot

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls fn(first, last) for the rows [first, last) of every chunk of n
// rows, chunk rows at a time, on as many goroutines as there are processors,
// and returns once all are done. The error is that of the first chunk that had
// one, so it does not depend on the timing.
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
