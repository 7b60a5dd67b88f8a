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

// Count returns the share of n samples at an epoch, as a rounded number of samples.
func (t Threshold) Count(epoch, n int, rule Rounding) (int, error) {
	s, err := t.exact(epoch)
	if err != nil {
		return 0, err
	}
	if n < 0 {
		return 0, fmt.Errorf("cluster: share of %d samples", n)
	}
	return rule.round(s.Mul(s, big.NewRat(int64(n), 1)))
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
	return HalfEven.round(s.Mul(s, big.NewRat(int64(all), 1)))
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

// Share returns a share in [0, 1] of n samples, as a rounded number of samples.
func Share(share float64, n int, rule Rounding) (int, error) {
	if !(share >= 0 && share <= 1) || n < 0 {
		return 0, fmt.Errorf("cluster: a share of %v of %d samples, want 0 to 1 of 0 or more", share, n)
	}
	s := decimal(share)
	return rule.round(s.Mul(s, big.NewRat(int64(n), 1)))
}

// decimal is the number that a finite float64 prints as.
func decimal(v float64) *big.Rat {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(v, 'g', -1, 64))
	return r
}

// Rounding is the rule that rounds a share of samples to a number. The paper names none; the
// published code rounds half to even, the zero value.
type Rounding uint8

const (
	HalfEven Rounding = iota // to the nearest; halves to the even number, as Python's round
	HalfUp                   // to the nearest; halves up
	Floor                    // down
	Ceil                     // up
)

func (r Rounding) String() string {
	switch r {
	case HalfEven:
		return "half_even"
	case HalfUp:
		return "half_up"
	case Floor:
		return "floor"
	case Ceil:
		return "ceil"
	}
	return fmt.Sprintf("Rounding(%d)", uint8(r))
}

// round rounds v, which is not negative and at most the largest int.
func (r Rounding) round(v *big.Rat) (int, error) {
	whole, rest := new(big.Int).QuoRem(v.Num(), v.Denom(), new(big.Int))
	n := whole.Int64()
	half := rest.Lsh(rest, 1).Cmp(v.Denom()) // the fraction against a half
	up := false
	switch r {
	case HalfEven:
		up = half > 0 || half == 0 && n%2 == 1
	case HalfUp:
		up = half >= 0
	case Floor:
	case Ceil:
		up = rest.Sign() > 0
	default:
		return 0, fmt.Errorf("cluster: unknown rounding rule %v", r)
	}
	if up {
		n++
	}
	return int(n), nil
}
