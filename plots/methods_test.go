package plots

import (
	"testing"

	"gonum.org/v1/plot/vg"
)

func TestMethodTitle(t *testing.T) {
	for label, want := range map[string]string{
		"ceg":                           "CEG",
		"uniform-ce":                    "Uniform (cross-entropy)",
		"uniform-ce once, gamma1 0":     "Uniform once (cross-entropy), γ_{1} 0",
		"uniform-ce all labels at once": "Uniform all labels at once (cross-entropy)",
		"uniform, preset ledg":          "Uniform, preset ledg",
		"typiclust+fixmatch":            "TypiClust (FixMatch)",
		"maxherding+ceg":                "MaxHerding",
		"ceg w/o S_u":                   "CEG w/o S_{u}",
		"ceg w/o L_eg (M_intra)":        "CEG w/o L_{eg} (M_{intra})",
		"ceg, gamma1 0":                 "CEG, γ_{1} 0",
		"uniform once ledg":             "ledg: Uniform once",
		"uniform-ce (n = 3)":            "Uniform (cross-entropy) (n = 3)",
		"ceg authors, tau 0":            "CEG, τ 0",
		"ceg published authors":         "CEG published",
		"art_painting":                  "art_painting",
		"a method of one's own, ce":     "a method of one's own, ce",
	} {
		if got := MethodTitle(label); got != want {
			t.Errorf("%q is called %q, want %q", label, got, want)
		}
	}
	if got := MethodName("ceg w/o S_u, gamma1 0"); got != "CEG w/o S_u, gamma1 0" {
		t.Errorf("a table says %q", got)
	}
}

// A method looks the same whatever it is drawn with, and no two look alike.
func TestRegistry(t *testing.T) {
	alone := &looks{theme: Print()}
	want := alone.of("uniform")
	l := &looks{theme: Print()}
	l.meet([]Curve{{Name: "mine"}, {Name: "uniform"}, {Name: "ceg"}})
	if got := l.of("mine"); got.line.Color == want.line.Color || got.line.Color == l.of("ceg").line.Color {
		t.Errorf("a name of one's own has the colour of a method")
	}
	if got := l.of("uniform"); got.line.Color != want.line.Color || got.shape != want.shape {
		t.Errorf("uniform looks like %+v beside others, and like %+v alone", got, want)
	}
	type key struct {
		color, dash int
		shape       shape
	}
	n := len(Print().Methods)
	seen := map[key]string{}
	for i, m := range methods {
		k := key{i % n, (i + i/n) % len(dashes), shape(i+i/n) % shapes}
		if other := seen[k]; other != "" {
			t.Errorf("%s looks like %s", m.label, other)
		}
		seen[k] = m.label
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
