package ahead

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Values come in order, made while the one before is in use; an error, a cancellation and an early
// end leave nothing behind.
func TestOf(t *testing.T) {
	bad, stop := errors.New("bad"), errors.New("stop")
	for _, c := range []struct {
		name                       string
		fail, cancel, breakAt, got int
		want                       error
	}{
		{"all", -1, -1, -1, 5, nil}, {"error", 3, -1, -1, 3, bad}, {"cancelled", -1, 1, -1, 2, stop}, {"early", -1, -1, 2, 3, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			got, begun := 0, time.Now()
			var last error
			for v, err := range Of(ctx, func(ctx context.Context, yield func(int) bool) error {
				for i := range 5 {
					time.Sleep(time.Second)
					if i == c.fail {
						return bad
					}
					if !yield(i) {
						return nil
					}
				}
				return nil
			}) {
				if last = err; err != nil {
					continue
				}
				if v != got {
					t.Errorf("%s: value %d, want %d", c.name, v, got)
				}
				got++
				time.Sleep(time.Second)
				if v == c.cancel {
					cancel(stop)
					synctest.Wait()
				}
				if v == c.breakAt {
					break
				}
			}
			if got < c.got || c.cancel < 0 && got > c.got || last != c.want {
				t.Errorf("%s: %d values, %v, want %d, %v", c.name, got, last, c.got, c.want)
			}
			if took := time.Since(begun); c.name == "all" && took != 6*time.Second {
				t.Errorf("five values of two seconds take %v, want six seconds", took)
			}
		})
	}
}
