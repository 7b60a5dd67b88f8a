package nb

import (
	"math"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
)

// A difference is significant or says what its n cannot detect; of too few seeds there is no test.
func TestSentences(t *testing.T) {
	list := []report.Verdict{
		{Row: "A", Baseline: "B", Difference: result.Difference{Summary: result.Summary{N: 5, Mean: 0.05, Low: 0.03, High: 0.07}}, Holm: 0.012},
		{Row: "C", Baseline: "B", Difference: result.Difference{Summary: result.Summary{N: 3, Mean: 0.03, Low: -0.12, High: 0.18}}, Holm: 1},
		{Row: "D", Baseline: "B", Difference: result.Difference{Summary: result.Summary{N: 1, Mean: 0.2, Low: math.NaN(), High: math.NaN()}}, Holm: math.NaN()},
	}
	text := sentences(list)
	for _, want := range []string{
		"**Significantly above B** (difference with 95% interval over seeds, uncorrected): A (+5.0 pp, +3.0 to +7.0, n = 5, Holm p = 0.012).",
		"**Not significantly different from B**: C (+3.0 pp, -12.0 to +18.0; n = 3 cannot detect less than 15.0 pp).",
		"**Fewer than 3 seeds in common, so no test**: D.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if sentences(nil) != "" {
		t.Error("no differences have sentences")
	}
}
