package glyphs

import (
	"math"
	"testing"

	"github.com/ledg-go/ledg/datasets/seed"
)

// square is a box from lo to hi pixels, clockwise on the screen.
func square(lo, hi int) contour {
	lo, hi = lo*unit, hi*unit
	return contour{{lo, lo}, {hi, lo}, {hi, hi}, {lo, hi}}
}

func TestFieldOfASquare(t *testing.T) {
	f := newField([]contour{square(4, 12)}, 16, 3*unit)
	for _, c := range []struct{ x, y, want int }{
		{4, 8, -32},   // the centre of a pixel is half a pixel inside
		{3, 8, 32},    // and outside
		{6, 8, -160},  // 2.5 pixels inside
		{8, 8, -192},  // beyond the limit
		{0, 8, 192},   // the same outside
		{3, 3, 45},    // the corner: 32 sqrt 2 = 45.25
		{12, 12, 45},  // the corner across
		{13, 12, 101}, // sqrt(96² + 32²) = 101.19
	} {
		if got := f.at(c.x, c.y); got != c.want {
			t.Errorf("distance at (%d, %d) = %d, want %d", c.x, c.y, got, c.want)
		}
	}
	if got := f.at(-5, 99); got != f.at(0, 15) {
		t.Errorf("outside the image: %d, want that of the nearest pixel, %d", got, f.at(0, 15))
	}
}

func TestFieldWinding(t *testing.T) {
	hole := square(6, 10)
	hole[1], hole[3] = hole[3], hole[1] // the other way around
	for _, c := range []struct {
		name     string
		contours []contour
		inside   bool // at the centre
	}{
		{"hole", []contour{square(2, 14), hole}, false},
		{"overlap", []contour{square(2, 14), square(6, 10)}, true},
		{"begins left of the image", []contour{square(-9, 14)}, true},
		{"nothing", nil, false},
	} {
		f := newField(c.contours, 16, unit)
		if got := f.at(8, 8) < 0; got != c.inside {
			t.Errorf("%s: inside = %t, want %t", c.name, got, c.inside)
		}
	}
}

func TestCoverage(t *testing.T) {
	f := &field{side: 1, limit: 256, d: []int{0}}
	for _, c := range []struct{ d, inside, band int }{
		{-64, 256, 0}, {-32, 256, 128}, {0, 128, 256}, {16, 64, 192}, {32, 0, 128}, {64, 0, 0},
	} {
		f.d[0] = c.d
		if got := f.inside(0, 0, unit); got != c.inside {
			t.Errorf("inside at distance %d = %d, want %d", c.d, got, c.inside)
		}
		if got := f.band(0, 0, unit); got != c.band {
			t.Errorf("band at distance %d = %d, want %d", c.d, got, c.band)
		}
	}
}

func TestSine(t *testing.T) {
	for degrees := -400; degrees <= 400; degrees++ {
		got := float64(sine(degrees)) / sineOne
		if want := math.Sin(float64(degrees) * math.Pi / 180); math.Abs(got-want) > 0.002 {
			t.Errorf("sine(%d) = %v, want %v", degrees, got, want)
		}
	}
}

func TestPlaceStaysInside(t *testing.T) {
	p := newPainter(seed.New(3, "test"))
	for n := range 500 {
		q := p.randomPose(poseRange{bold: 128, height: [2]int{50, 78}, aspect: [2]int{80, 110}, slant: 30, turn: 7, warp: [2]int{0, 64}})
		lo, hi := bounds(p.place(n%10, q))
		if lo.x < 0 || lo.y < 0 || hi.x > side || hi.y > side {
			t.Errorf("pose %+v: box %v-%v leaves the image", q, lo, hi)
		}
	}
}

func TestEveryTypefaceHasEveryDigit(t *testing.T) {
	for f, digits := range outlines() {
		for digit, contours := range digits {
			if lo, hi := bounds(contours); hi.x-lo.x < 200 || hi.y-lo.y < 1000 {
				t.Errorf("typeface %d, digit %d: box %v-%v", f, digit, lo, hi)
			}
		}
	}
}
