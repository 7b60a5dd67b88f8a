package plots

import (
	"math"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// The values 10, 20, 30 have the mean 20 and the standard deviation 10. The quantiles t(0.975, n-1) are of a printed table.
func TestBands(t *testing.T) {
	three, five := []float64{10, 20, 30}, []float64{3, 1, 2, 5, 4}
	for _, c := range []struct {
		band       Band
		values     []float64
		mean, half float64
	}{
		{"", three, 20, 4.303 * 10 / math.Sqrt(3)}, {CI, three, 20, 4.303 * 10 / math.Sqrt(3)}, {SD, three, 20, 10}, {SE, three, 20, 10 / math.Sqrt(3)}, {None, three, 20, 0},
		{CI, []float64{1, 3}, 2, 12.706}, {CI, five, 3, 2.776 * math.Sqrt(2.5) / math.Sqrt(5)}, {CI, []float64{7}, 7, 0}, {SD, []float64{7}, 7, 0},
	} {
		mean, low, high := c.band.interval(c.values)
		if mean != c.mean || !near(high-mean, c.half, 5e-3) || !near(mean-low, c.half, 5e-3) {
			t.Errorf("%q of %v: %v, %v to %v, want %v plus and minus %v", c.band, c.values, mean, low, high, c.mean, c.half)
		}
	}
	for name, want := range map[string]Band{"": CI, "sd": SD, "none": None} {
		if b, err := ParseBand(name); err != nil || b != want {
			t.Errorf("%q is %q, %v", name, b, err)
		}
	}
	if _, err := ParseBand("sem"); err == nil || err.Error() != `band "sem", want one of ci, sd, se, none` {
		t.Errorf("sem: %v", err)
	}
}

// A figure says what its bands are, and bands of accuracies stay within 0 to 100.
func TestBandOfFigure(t *testing.T) {
	d := EpochsData{Curves: []Curve{{Name: "ceg", Points: []Point{{X: 1, Values: []float64{95, 99, 100, 99, 98}}, {X: 2, Values: []float64{1, 2, 9, 1, 3}}}}}}
	for b, note := range map[Band]string{CI: "95% Student-t interval", SD: "standard deviation over runs", SE: "standard error of the mean", None: ""} {
		theme := Print()
		theme.Band = b
		g := fatal.Get(Epochs(theme, d))(t)
		if want := "Mean of n = 5 runs; band: " + note + "."; note != "" && g.Note != want || note == "" && g.Note != "Mean of n = 5 runs." {
			t.Errorf("%s: the note is %q, want %q", b, g.Note, want)
		}
		c := (&looks{theme: theme}).draw(d.Curves[0], false)
		c.clip()
		if c.high[0] > 100 || c.low[1] < 0 {
			t.Errorf("%s: the band is %v to %v", b, c.low, c.high)
		}
		picture, _, err := g.PagePNG()
		if err != nil || !strings.HasPrefix(string(picture), "\x89PNG") {
			t.Errorf("%s: %v", b, err)
		}
	}
}
