// Package eta estimates how long the rest of some work takes.
package eta

import "time"

// Estimator estimates the remaining time from the rate of work since Begin. Work that was done
// earlier, as by an interrupted process, does not count. The zero value is ready.
type Estimator struct {
	begun time.Time
	from  float64
}

// Begin notes that so much is done now; only the first call counts.
func (p *Estimator) Begin(now time.Time, done float64) {
	if p.begun.IsZero() {
		p.begun, p.from = now, done
	}
}

// Rate returns how much is done in a second, given what is done now; 0 before anything
// is done.
func (p *Estimator) Rate(now time.Time, done float64) float64 {
	if seconds := now.Sub(p.begun).Seconds(); !p.begun.IsZero() && seconds > 0 {
		return max(0, done-p.from) / seconds
	}
	return 0
}

// Left returns the time until all is done, in whole seconds; ok is false before
// anything is done.
func (p *Estimator) Left(now time.Time, done, all float64) (left time.Duration, ok bool) {
	rate := p.Rate(now, done)
	if rate == 0 {
		return 0, false
	}
	return time.Duration((all - done) / rate * float64(time.Second)).Round(time.Second), true
}
