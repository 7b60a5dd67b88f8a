package plots

import (
	"image/color"
	"math"
	"testing"
)

// Colour vision without one kind of cone, on linear sRGB: Machado, Oliveira
// and Fernandes, "A Physiologically-based Model for Simulation of Color Vision
// Deficiency" (2009), severity 1.
var visions = map[string][3][3]float64{
	"normal":       {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// lab returns CIE L*a*b* (D65) of a colour as seen with the given vision.
func lab(c color.Color, vision [3][3]float64) [3]float64 {
	r, g, b, _ := c.RGBA()
	var lin, seen [3]float64
	for i, v := range []uint32{r, g, b} {
		f := float64(v) / 0xFFFF
		if lin[i] = f / 12.92; f > 0.04045 {
			lin[i] = math.Pow((f+0.055)/1.055, 2.4)
		}
	}
	for i := range seen {
		for j := range lin {
			seen[i] += vision[i][j] * lin[j]
		}
		seen[i] = min(max(seen[i], 0), 1)
	}
	f := func(v float64) float64 {
		if v > 216.0/24389 {
			return math.Cbrt(v)
		}
		return (24389.0/27*v + 16) / 116
	}
	x := f((0.4124*seen[0] + 0.3576*seen[1] + 0.1805*seen[2]) / 0.9505)
	y := f(0.2126*seen[0] + 0.7152*seen[1] + 0.0722*seen[2])
	z := f((0.0193*seen[0] + 0.1192*seen[1] + 0.9505*seen[2]) / 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func difference(a, b [3]float64) float64 {
	return math.Sqrt((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1]) + (a[2]-b[2])*(a[2]-b[2]))
}

// TestColoursDiffer asks of every pair a difference of 10 (CIE 1976; one
// is just noticeable side by side) in the common deficiencies. The rare
// tritanopia gets 7, and 15 is asked of normal vision.
func TestColoursDiffer(t *testing.T) {
	for _, theme := range []Theme{Print(), Dark()} {
		for name, palette := range map[string][]color.Color{"methods": theme.Methods, "classes": theme.Classes, "domains": theme.Domains} {
			for vision, matrix := range visions {
				least := map[string]float64{"normal": 15, "tritanopia": 7}[vision]
				if least == 0 {
					least = 10
				}
				for i, a := range palette {
					for j, b := range palette[:i] {
						if d := difference(lab(a, matrix), lab(b, matrix)); d < least {
							t.Errorf("%s, %s, %s: colours %d and %d differ by %.1f, want %v", theme.Name, name, vision, j, i, d, least)
						}
					}
				}
			}
			for i, c := range palette {
				least := map[string]float64{"print": 1.7, "dark": 3}[theme.Name] // pale points on white have dark ones beside them
				if r := contrast(c, theme.Background); r < least {
					t.Errorf("%s, %s: colour %d has contrast %.2f with the background", theme.Name, name, i, r)
				}
			}
		}
		for name, c := range map[string]color.Color{"ink": theme.Ink, "muted": theme.Muted} {
			if r := contrast(c, theme.Background); r < 4.5 {
				t.Errorf("%s: %s has contrast %.2f with the background, want 4.5 as WCAG asks of text", theme.Name, name, r)
			}
		}
	}
}

// TestSequentialRises asks that a heat map can be read in grey.
func TestSequentialRises(t *testing.T) {
	for _, theme := range []Theme{Print(), Dark()} {
		last := -1.0
		for i := range 101 {
			l := lab(shade(theme.Sequential, float64(i)/100), visions["normal"])[0]
			if l <= last {
				t.Fatalf("%s: lightness falls from %.2f to %.2f at %d%%", theme.Name, last, l, i)
			}
			last = l
		}
	}
}

func TestPoints(t *testing.T) {
	theme := Print()
	domains := map[Mark]bool{}
	for _, m := range theme.DomainMarks(15) {
		domains[m] = true
	}
	if len(domains) != 15 {
		t.Errorf("%d looks for 15 domains", len(domains))
	}
	for _, n := range []int{1, 7, 10, 20, 65} {
		theme.ClassMarks(n)
		cols, marks := theme.points(theme.Classes, n)
		type look struct {
			c color.Color
			s shape
		}
		seen, colours := map[look]bool{}, map[color.Color]bool{}
		for i := range n {
			seen[look{cols[i], marks[i]}], colours[cols[i]] = true, true
			if n <= fewKinds && i > 0 && marks[i] == marks[i-1] {
				t.Errorf("of %d classes, %d and %d share a marker: in grey they look alike", n, i-1, i)
			}
		}
		if len(seen) != n {
			t.Errorf("%d looks for %d classes", len(seen), n)
		}
		if len(colours) != n {
			t.Errorf("%d colours of %d classes: small markers look alike", len(colours), n)
		}
	}
}
