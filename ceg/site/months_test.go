package site

import (
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/evaluate/audit"
)

// Advice follows from intervals, and says what it rests on.
func TestAdvice(t *testing.T) {
	between := func(low, share, high float64) *audit.Interval {
		return &audit.Interval{Low: low, Share: share, High: high}
	}
	trust := Trust{Accuracy: 0.9, Images: 100}
	for _, c := range []struct {
		m            Month
		advice, says string
	}{
		{Month{Audited: 4, Accuracy: between(0, 0.5, 1)}, "audit 6 more", "4 audited"},
		{Month{Audited: 20, Accuracy: between(0.7, 0.8, 0.9), Names: &NamesReport{Gain: *between(-0.1, 0, 0.1)}, Gain: between(0.1, 0.2, 0.3)}, "names do", "+0 points (-10 to +10), on 20 audited"},
		{Month{Audited: 20, Accuracy: between(0.7, 0.8, 0.9), Names: &NamesReport{Gain: *between(0.1, 0.2, 0.3)}, Gain: between(0.1, 0.2, 0.3)}, "adapt with 30 labels", "+20 points (+10 to +30), on 20 audited"},
		{Month{Audited: 20, Accuracy: between(0.3, 0.5, 0.7)}, "adapt with 60 labels", "50%, 30 to 70 right, on 20 audited; 90% on the run's own sites"},
		{Month{Audited: 20, Accuracy: between(0.8, 0.9, 0.95), Gain: between(-0.1, 0.05, 0.2)}, "leave it", "+5 points (-10 to +20)"},
		{Month{Audited: 20, Accuracy: between(0.8, 0.9, 0.95)}, "leave it", "90%, 80 to 95 right, on 20 audited"},
	} {
		if c.m.advise(trust, 30, 60); c.m.Advice != c.advice || !strings.Contains(c.m.Rests, c.says) {
			t.Errorf("%q, as %q; want %q, as %q", c.m.Advice, c.m.Rests, c.advice, c.says)
		}
	}
}
