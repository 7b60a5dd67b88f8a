package eta_test

import (
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/study/eta"
)

func TestPace(t *testing.T) {
	var p eta.Estimator
	begun := time.Unix(100, 0)
	if _, ok := p.Left(begun, 3, 10); ok {
		t.Error("there is a pace before the work was looked at")
	}
	p.Begin(begun, 2)
	p.Begin(begun.Add(time.Hour), 5) // too late
	for _, c := range []struct {
		seconds time.Duration
		done    float64
		rate    float64
		left    time.Duration
		ok      bool
	}{
		{0, 2, 0, 0, false},
		{5, 2, 0, 0, false},
		{0, 3, 0, 0, false}, // no time has passed
		{8, 4, 0.25, 24 * time.Second, true},
		{7, 5, 3. / 7, 12 * time.Second, true}, // 11.67
		{10, 10, 0.8, 0, true},
	} {
		now := begun.Add(c.seconds * time.Second)
		if rate := p.Rate(now, c.done); rate != c.rate {
			t.Errorf("%v of 10 after %d s: rate %v, want %v", c.done, c.seconds, rate, c.rate)
		}
		if left, ok := p.Left(now, c.done, 10); left != c.left || ok != c.ok {
			t.Errorf("%v of 10 after %d s: %v left, %v; want %v, %v", c.done, c.seconds, left, ok, c.left, c.ok)
		}
	}
}
