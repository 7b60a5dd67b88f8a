package tsne

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// parallelRows calls f for ranges of at most chunk rows that cover 0..n-1, on as many goroutines
// as Go runs in parallel. f must write only what belongs to its rows, so that the result does not
// depend on who takes which range. It stops early, and returns the context's error, once ctx is
// done.
func parallelRows(ctx context.Context, n, chunk int, f func(lo, hi int)) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+chunk-1)/chunk) {
		wg.Go(func() {
			for ctx.Err() == nil {
				hi := int(next.Add(int64(chunk)))
				lo := hi - chunk
				if lo >= n {
					return
				}
				f(lo, min(hi, n))
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}
