package nb

import "testing"

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		formatted("w/o L_eg (M_intra), gamma1 in art_painting"): "w/o L<sub>eg</sub> (M<sub>intra</sub>), γ<sub>1</sub> in art_painting",
		spread([]float64{51.7}):                                 "1 run",
		spread([]float64{54, 62.5, 58}):                         "3 runs, from 54.0 to 62.5",
		counted(1, "row"):                                       "1 row",
		counted(3, "row"):                                       "3 rows",
		specified("none", nil):                                  "none",
		specified("none", "imagenet"):                           "imagenet",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
