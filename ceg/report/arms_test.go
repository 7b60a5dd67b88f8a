package report

import (
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// A run that is not finished has the name that its plan, or another run of its arm, gives it;
// without either its method and variant do.
func TestArmWithoutRuns(t *testing.T) {
	for _, c := range []struct{ dataset, preset, method, variant, want string }{
		{"pacs", "authors", "uniform-ce", AllAtOnce, "Random + cross-entropy, upfront"},
		{"pacs", "authors", "uniform", "once", "Random + CEG loss, upfront"},
		{"pacs", "authors", "ceg", "w/ Uniform", "Random + CEG loss (published schedule)"},
		{"pacs", "authors", "ceg", "w/o L_ac w/o L_eg", "CEG selection + cross-entropy (published schedule)"},
		{"pacs", "authors", "ceg", "w/o S_u", "CEG (published schedule), w/o S_u"},
		{"features", "ledg", "fixmatch", "", "MaxHerding + FixMatch, upfront (preset ledg)"},
		{"pacs", "authors", "no such method", "x", "no such method x"},
	} {
		r := result.PlannedRun{Dataset: c.dataset, Preset: c.preset, Target: "sketch", Method: c.method, Variant: c.variant}
		f := NewFolder(t.TempDir(), &result.Plan{Name: "p", Runs: []result.PlannedRun{r}})
		if got := f.ArmName(r); got != c.want {
			t.Errorf("%s: %q, want %q", r.ArmKey(), got, c.want)
		}
		a := config.Arm{Initial: "maxherding", Objective: config.FixMatch, Schedule: config.Once, Variant: "ema"}
		f = NewFolder(t.TempDir(), &result.Plan{Name: "p", Arms: map[string]config.Arm{r.ArmKey(): a}, Runs: []result.PlannedRun{r}})
		if got := f.ArmName(r); got != "MaxHerding + FixMatch, upfront, ema" {
			t.Errorf("%s of a plan that says its arm: %q", r.ArmKey(), got)
		}
	}
}

// Two rows of one table never have one name, and the preset paper is not called as authors.
func TestRowsHaveTheirOwnNames(t *testing.T) {
	for _, folder := range []string{"glyphs", "pacs-features", "paper", "seeds"} {
		f := fatal.Get(Open("../../notebooks/results/" + folder))(t)
		for _, g := range f.groups("", "") {
			for _, b := range f.budgets(g) {
				tab := &grid{spec: PaperTable{Name: allMethods}, group: g, budget: b}
				tab.addRows(f)
				names, shorts := map[string]string{}, map[string]string{}
				for _, r := range tab.rows {
					if names[r.name] != "" || shorts[r.short] != "" {
						t.Errorf("%s, %s: %s and %s are both %s (%s)", folder, b, names[r.name], r.label, r.name, r.short)
					}
					if strings.HasSuffix(r.name, " ("+r.label+")") && folder != "pacs-features" { // which has one arm in two studies
						t.Errorf("%s, %s: %s is a row twice: %s", folder, b, r.label, r.name)
					}
					names[r.name], shorts[r.short] = r.label, r.label
				}
			}
		}
	}
	paper, authors := config.Arm{Objective: config.CEG, Preset: config.Paper}, config.Arm{Objective: config.CEG, Preset: config.Authors}
	if paper.Name() == authors.Name() || paper.Short() == authors.Short() {
		t.Errorf("two presets have the arm %q", paper.Name())
	}
}

// "Uniform" is a row of the paper, trained with cross-entropy, and uniform a method of CEG's loss.
func TestUniformIsOneRow(t *testing.T) {
	ce, ceg := &row{PaperRow: PaperRow{Name: "Uniform"}, name: "Random + cross-entropy", short: "Rand+CE", label: "uniform-ce"}, &row{name: "Random + CEG loss", short: "Rand+CEG", label: "uniform"}
	for name, want := range map[string]*row{"Uniform": ce, "uniform": ceg, "rand+ce": ce, "Random + CEG loss": ceg, "uniform-CE": ce, "badge": nil} {
		got := meant([]*row{ce, ceg}, name)
		if want == nil && got != nil || want != nil && (len(got) != 1 || got[0] != want) {
			t.Errorf("%q means %v", name, got)
		}
	}
}
