package cluster

import (
	"fmt"
	"math/big"
	"strconv"
)

// Threshold is the dynamic threshold of Yuan et al. 2022 (Eq. 9), the growing share of samples
// that counts as reliable: T = T_ini + (T_fin - T_ini) * e / E. Equal Start and End give the
// static threshold of their ablation.
//
// Shares are read as decimal numbers (0.7 is exactly seven tenths), and counts are exact before
// rounding. The map of package ceg: (8).
type Threshold struct {
	// Start (T_ini) and End (T_fin) are shares in [0, 1]. In the published code Start is half of
	// End.
	Start, End float64
	// Epochs is E, the number of epochs of the run.
	Epochs int
}

// Validate returns an error for a share outside [0, 1] or fewer than 1 epochs.
func (t Threshold) Validate() error {
	if !(t.Start >= 0 && t.Start <= 1 && t.End >= 0 && t.End <= 1) {
		return fmt.Errorf("cluster: threshold from %v to %v, want shares from 0 to 1", t.Start, t.End)
	}
	if t.Epochs < 1 {
		return fmt.Errorf("cluster: threshold over %d epochs, want at least 1", t.Epochs)
	}
	return nil
}

// Count returns the share of n samples at an epoch, rounded half to even.
func (t Threshold) Count(epoch, n int) (int, error) {
	s, err := t.exact(epoch)
	if err != nil {
		return 0, err
	}
	if n < 0 {
		return 0, fmt.Errorf("cluster: share of %d samples", n)
	}
	return HalfEven(s.Mul(s, big.NewRat(int64(n), 1))), nil
}

// CountPublished returns the published code's count at an epoch (trainers/adg.py): with S =
// floor(n * End), S/2 + S/2 * epoch/Epochs, rounded half to even. n is the number of all source
// training samples, including labelled ones, and epoch the number of finished epochs. In general
// it is S * T(epoch)/End, which is S for the static threshold. The map of package ceg: (25).
func (t Threshold) CountPublished(epoch, n int) (int, error) {
	s, err := t.exact(epoch)
	if err != nil {
		return 0, err
	}
	if t.End == 0 {
		return 0, nil
	}
	all, err := Share(t.End, n, Floor)
	if err != nil {
		return 0, err
	}
	s.Quo(s, decimal(t.End))
	return HalfEven(s.Mul(s, big.NewRat(int64(all), 1))), nil
}

// exact returns the share at an epoch between 0 (Start) and Epochs (End). The published code counts
// finished epochs.
func (t Threshold) exact(epoch int) (*big.Rat, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	if epoch < 0 || epoch > t.Epochs {
		return nil, fmt.Errorf("cluster: threshold at epoch %d, want 0 to %d", epoch, t.Epochs)
	}
	start, grown := decimal(t.Start), decimal(t.End)
	grown.Sub(grown, start)
	grown.Mul(grown, big.NewRat(int64(epoch), int64(t.Epochs)))
	return grown.Add(grown, start), nil
}

// Share returns a share in [0, 1] of n samples, rounded by [HalfEven] or [Floor].
func Share(share float64, n int, round func(*big.Rat) int) (int, error) {
	if !(share >= 0 && share <= 1) || n < 0 {
		return 0, fmt.Errorf("cluster: a share of %v of %d samples, want 0 to 1 of 0 or more", share, n)
	}
	s := decimal(share)
	return round(s.Mul(s, big.NewRat(int64(n), 1))), nil
}

// decimal is the number that a finite float64 prints as.
func decimal(v float64) *big.Rat {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(v, 'g', -1, 64))
	return r
}

// HalfEven rounds to the nearest number, halves to the even one, as the published code and Python's
// round do; the paper names no rule. Its argument is not negative and at most the largest int.
func HalfEven(v *big.Rat) int {
	n := Floor(v)
	rest := new(big.Rat).Sub(v, big.NewRat(int64(n), 1))
	if half := rest.Cmp(big.NewRat(1, 2)); half > 0 || half == 0 && n%2 == 1 {
		n++
	}
	return n
}

// Floor rounds down, as HalfEven.
func Floor(v *big.Rat) int { return int(new(big.Int).Quo(v.Num(), v.Denom()).Int64()) }
