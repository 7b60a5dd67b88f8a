// Package eta estimates the remaining time (ETA) of work from its rate so far.
package eta

import "time"

// Estimator estimates the remaining time from the rate since Begin. Work done earlier, such as
// by an interrupted process, does not count. The zero value is ready.
type Estimator struct {
	begun time.Time
	from  float64
}

// Begin sets the starting point: done at time now. Only the first call counts.
func (p *Estimator) Begin(now time.Time, done float64) {
	if p.begun.IsZero() {
		p.begun, p.from = now, done
	}
}

// Rate returns the work done per second; 0 before any progress.
func (p *Estimator) Rate(now time.Time, done float64) float64 {
	if seconds := now.Sub(p.begun).Seconds(); !p.begun.IsZero() && seconds > 0 {
		return max(0, done-p.from) / seconds
	}
	return 0
}

// Left returns the remaining time in whole seconds; ok is false before any progress.
func (p *Estimator) Left(now time.Time, done, all float64) (left time.Duration, ok bool) {
	rate := p.Rate(now, done)
	if rate == 0 {
		return 0, false
	}
	return time.Duration((all - done) / rate * float64(time.Second)).Round(time.Second), true
}
