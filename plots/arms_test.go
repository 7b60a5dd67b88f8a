package plots

import (
	"fmt"
	"image/color"
	"testing"

	"gonum.org/v1/plot/vg"
)

func TestSymbols(t *testing.T) {
	for text, want := range map[string]string{
		"CEG (published schedule), w/o S_u":            "CEG (published schedule), w/o S_{u}",
		"CEG (published schedule), w/o L_eg (M_intra)": "CEG (published schedule), w/o L_{eg} (M_{intra})",
		"CEG (published schedule), gamma1 = 0":         "CEG (published schedule), γ_{1} = 0",
		"Random + cross-entropy, upfront":              "Random + cross-entropy, upfront",
		"art_painting":                                 "art_painting",
	} {
		if got := Symbols(text); got != want {
			t.Errorf("%q is written %q, want %q", text, got, want)
		}
	}
}

// arms are the names of a full theme.
var arms = func() (names []string) {
	for i := range maxArms {
		names = append(names, fmt.Sprintf("arm %02d", i))
	}
	names[0], names[6], names[9] = "CEG (published schedule)", "Random + cross-entropy (published schedule)", "Entropy + cross-entropy (published schedule)"
	return names
}()

// printArms is the theme for print with arms.
func printArms() Theme {
	t := Print()
	t.Arms = arms
	return t
}

// An arm looks the same whatever it is drawn with, and no two of the registry look alike.
func TestRegistry(t *testing.T) {
	random, other := arms[2], "BAIT + GDA, upfront"
	for _, arm := range []string{random, other} {
		alone := &looks{theme: printArms()}
		alone.meet([]Curve{{Name: "a", Title: arm}})
		want := alone.of(arm)
		l := &looks{theme: printArms()}
		l.meet([]Curve{{Name: "mine"}, {Name: "b", Title: arm}, {Name: "ceg", Title: arms[0]}})
		if got := l.of("mine"); got.line.Color == want.line.Color || got.line.Color == l.of(arms[0]).line.Color {
			t.Errorf("a curve that is of no arm has the colour of one")
		}
		if got := l.of(arm); got.line.Color != want.line.Color || got.shape != want.shape {
			t.Errorf("%s looks like %+v beside others, and like %+v alone", arm, got, want)
		}
	}
	// A variant looks like its arm where that is not drawn, and like no other where it is.
	l := &looks{theme: printArms()}
	l.meet([]Curve{{Name: "a", Title: arms[0] + ", b16"}, {Name: "b", Title: arms[0] + ", b8"}})
	if l.places[arms[0]+", b16"] != 0 || l.places[arms[0]+", b8"] == 0 {
		t.Errorf("variants have the places %v", l.places)
	}
	type key struct {
		color, dash int
		shape       shape
	}
	n := len(Print().Methods)
	seen := map[key]string{}
	for i, m := range arms {
		k := key{i % n, (i + i/n) % len(dashes), shape(i+i/n) % shapes}
		if other := seen[k]; other != "" {
			t.Errorf("%s looks like %s", m, other)
		}
		seen[k] = m
	}
}

// An arm that the registry does not know has neither CEG's colour nor the grey of chance, with others of
// its kind beside it, too.
func TestOwnArms(t *testing.T) {
	theme := printArms()
	for _, kept := range keptColours {
		for i := range 50 {
			l := &looks{theme: theme}
			curves := []Curve{{Name: "a", Title: fmt.Sprint("own-", i, " + cross-entropy")}, {Name: "b", Title: fmt.Sprint("own-", i, " + FixMatch")}, {Name: "c", Title: fmt.Sprint("own-", i, " + MixMatch")}}
			l.meet(curves)
			for _, c := range curves {
				if l.of(c.Title).line.Color == theme.Methods[kept] {
					t.Errorf("%s has the colour of place %d", c.Title, kept)
				}
			}
		}
	}
}

// Arms of a figure have a colour and without markers a dash of their own, also where the registry gives
// two the same.
func TestArmsDiffer(t *testing.T) {
	for _, list := range [][]string{
		{arms[2] + ", b16", arms[0] + ", b16", arms[8] + ", b16", arms[5] + ", b16"},
		{arms[22], arms[23], arms[0], arms[8]},
	} {
		l := &looks{theme: printArms(), apart: true}
		var curves []Curve
		for _, arm := range list {
			curves = append(curves, Curve{Name: arm, Title: arm})
		}
		l.meet(curves)
		colors, dashes := map[color.Color]bool{}, map[string]bool{}
		for _, arm := range list {
			line := l.of(arm).line
			colors[line.Color], dashes[fmt.Sprint(line.Dashes)] = true, true
		}
		if len(colors) != len(list) || len(dashes) != len(list) {
			t.Errorf("%d colours and %d dashes of %v", len(colors), len(dashes), list)
		}
	}
}

// A subscript is narrower than letters, and an underscore alone is one.
func TestSubscripts(t *testing.T) {
	sty := Print().style(10, Print().Ink)
	w := func(s string) vg.Length { return sty.Width(s) }
	if got, want := w("L_{eg}"), w("L")+vg.Length(subscriptSize)*w("eg"); !near(float64(got), float64(want), 1e-6) {
		t.Errorf("L_{eg} is %v wide, want %v", got, want)
	}
	if w("a_b") <= w("ab") || w("a_{b") <= w("a_b") {
		t.Error("an underscore without a closed brace is lost")
	}
}

// The arms of the paper's figure of accuracies over epochs have different colours.
func TestArmsOverEpochs(t *testing.T) {
	l := &looks{theme: printArms()}
	seen := map[color.Color]string{}
	for _, arm := range []string{arms[0], arms[6], arms[11], arms[2], arms[5]} {
		l.meet([]Curve{{Name: arm, Title: arm}})
		if c := l.of(arm).line.Color; seen[c] != "" {
			t.Errorf("%s has the colour of %s", arm, seen[c])
		} else {
			seen[c] = arm
		}
	}
}

// Palettes have one length, and up to the number of shapes no two names in a figure have one marker.
func TestMarkersDiffer(t *testing.T) {
	for _, theme := range []Theme{Print(), Screen(), Dark()} {
		if len(theme.Methods) != colours {
			t.Errorf("%d colours in a palette, want %d", len(theme.Methods), colours)
		}
	}
	l := &looks{theme: printArms()}
	curves := []Curve{{Name: "a", Title: arms[1]}, {Name: "b", Title: arms[10]}, {Name: "c", Title: arms[0]}}
	l.meet(curves)
	seen := map[shape]string{}
	for _, c := range curves {
		s := l.of(c.Title).shape
		if other := seen[s]; other != "" {
			t.Errorf("%s has the marker of %s", c.Title, other)
		}
		seen[s] = c.Title
	}
}
