package nb

import (
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/report"
)

// The columns of p-values, those of the targets of a wide table, and many notes are folded away.
func TestTableText(t *testing.T) {
	names := []string{"group", "method", "a", "b", "c", "d", "average", "n", "minus B", report.PValues}
	table := NewTable(names...)
	table.AddRow("x", "w/o L_eg", "1", "2", "3", "4", "2.5", "10", "+5.0", "0.001")
	table.Rows[0][6].Bold = true
	table.Notes = []string{"one", "two", report.SettingsNote + "name mlp."}
	for _, notes := range []int{3, 4} {
		shown, more, _ := strings.Cut(tableText(table), "<details>")
		if !strings.Contains(shown, "| x     | w/o L<sub>eg</sub> | **2.5** |  10 |    +5.0 |\n") || !strings.Contains(more, "|   2 |   3 |   4 |             0.001 |") {
			t.Errorf("shown:\n%s\nfolded:\n%s", shown, more)
		}
		if strings.Contains(shown, "- two") != (notes == 3) || strings.Contains(more, "- two") != (notes == 4) || !strings.Contains(shown, "- "+report.SettingsNote) {
			t.Errorf("%d notes, shown:\n%s\nfolded:\n%s", notes, shown, more)
		}
		table.Notes = append(table.Notes, "four")
	}
	if text := tableText(NewTable(names[1:9]...)); strings.Contains(text, "<details>") || !strings.Contains(text, "|   d |") {
		t.Errorf("a narrow table:\n%s", text)
	}
	if got, want := formatted("w/o L_eg (M_intra), gamma1 in art_painting"), "w/o L<sub>eg</sub> (M<sub>intra</sub>), γ<sub>1</sub> in art_painting"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
