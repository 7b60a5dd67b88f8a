package plots

import (
	"math"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/internal/fatal"
)

// The values 10, 20, 30 have the mean 20 and the standard deviation 10.
func TestBands(t *testing.T) {
	for b, half := range map[Band]float64{"": 4.302653 * 10 / math.Sqrt(3), CI: 4.302653 * 10 / math.Sqrt(3), SD: 10, SE: 10 / math.Sqrt(3), None: 0} {
		iv, err := b.interval([]float64{10, 20, 30})
		if err != nil || iv.Mean != 20 || math.Abs(iv.High-20-half) > 1e-5 || math.Abs(20-iv.Low-half) > 1e-5 {
			t.Errorf("%q: %+v, %v, want 20 plus and minus %v", b, iv, err, half)
		}
		if one, err := b.interval([]float64{7}); err != nil || one.Low != 7 || one.High != 7 {
			t.Errorf("%q of one run: %+v, %v", b, one, err)
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
		c := fatal.Get((&looks{theme: theme}).draw(d.Curves[0], false))(t)
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
