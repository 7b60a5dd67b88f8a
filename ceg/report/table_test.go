package report

import (
	"bytes"
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/study"
	"github.com/ledg-go/ledg/ceg/study/studytest"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

var update = flag.Bool("update", false, "rewrite the golden tables")

// handFolder makes the folder of testdata/hand.yaml with the right answers of
// testdata/answers.csv; runs that are not in that file fail.
func handFolder(t *testing.T) *Folder {
	t.Helper()
	return handFolderOf(t, studytest.Fake{})
}

// handFolderOf is handFolder with other things of a fake run. f.Right is added to the answers.
func handFolderOf(t *testing.T, f studytest.Fake) *Folder {
	t.Helper()
	s := fatal.Get(study.Load(filepath.Join("testdata", "hand.yaml")))(t)
	file := fatal.Get(os.Open(filepath.Join("testdata", "answers.csv")))(t)
	defer file.Close()
	rows := fatal.Get(csv.NewReader(file).ReadAll())(t)
	p := plan(t, s)
	right := map[string][2]int{} // by config
	for _, row := range rows[1:] {
		i := slices.IndexFunc(p.Runs, func(r study.Job) bool {
			return slices.Equal(row[:5], []string{r.Method, r.Variant, r.Budget, r.Target, fmt.Sprint(r.Seed)})
		})
		if i < 0 {
			t.Fatalf("%v is not in the plan", row)
		}
		var v [2]int
		for e := range v {
			v[e] = fatal.Get(strconv.Atoi(row[5+e]))(t)
		}
		right[fmt.Sprint(p.Runs[i].Config)] = v
	}
	more := f.Right
	f.Right = func(c run.Config, epoch int) int {
		n := right[fmt.Sprint(c)][epoch]
		if more != nil {
			n += more(c, epoch)
		}
		return n
	}
	f.Fail = func(c run.Config, epoch int) error {
		if right[fmt.Sprint(c)] == [2]int{} {
			return fmt.Errorf("no answers for %s, seed %d", c.Method, c.Seed)
		}
		return nil
	}
	dir := t.TempDir()
	fatal.Get(p.Run(context.Background(), study.Options{Dir: dir, Runner: f.Run}))(t)
	return fatal.Get(Open(dir))(t)
}

func parse(t *testing.T, text string) study.Study {
	t.Helper()
	return fatal.Get(study.Parse("s.yaml", []byte(text)))(t)
}

func plan(t *testing.T, s study.Study) *study.Plan {
	t.Helper()
	return fatal.Get(s.Plan())(t)
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		fatal.If(t, os.WriteFile(path, got, 0o666))
	}
	want := fatal.Get(os.ReadFile(path))(t)
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}

func TestTables(t *testing.T) {
	f := handFolder(t)
	for _, tt := range []struct {
		file, table string
		format      result.TableFormat
		o           TableOptions
	}{
		{"table1.txt", "table1", result.Text, TableOptions{}},
		{"table3.txt", "table3", result.Text, TableOptions{Baseline: "uniform-ce"}},
		{"table3.md", "table3", result.Markdown, TableOptions{Baseline: "Uniform"}},
		{"table3.tex", "table3", result.LaTeX, TableOptions{Baseline: "Uniform"}},
		{"table3.csv", "table3", result.CSV, TableOptions{Baseline: "Uniform", Long: true}},
		{"table3-best-target.txt", "table3", result.Text, TableOptions{Rule: "best_target"}},
		{"table4.txt", "table4", result.Text, TableOptions{Baseline: "CEG", Dataset: "glyphs", Preset: "paper"}},
		{"methods.txt", "methods", result.Text, TableOptions{Budget: "5%"}},
		{"methods-100.txt", "methods", result.Text, TableOptions{Budget: "100%"}},
		{"budgets.txt", "budgets", result.Text, TableOptions{Baseline: "ceg"}},
		{"targets.txt", "targets", result.Text, TableOptions{Baseline: "ceg"}},
		{"budgets.csv", "budgets", result.CSV, TableOptions{Long: true}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			tables, err := f.Table(tt.table, tt.o)
			if err != nil || len(tables) != 1 {
				t.Fatal(len(tables), err)
			}
			var b bytes.Buffer
			fatal.If(t, tables[0].Write(&b, tt.format))
			golden(t, tt.file, b.Bytes())
		})
	}
}

// With Sweeps each setting is a row, and one that two sweeps share is one row.
func TestSweptRows(t *testing.T) {
	f := figureFolder(t)
	tables, err := f.Table("targets", TableOptions{Sweeps: true, Baseline: "ceg delta=0.3", Budget: "5%"})
	if err != nil || len(tables) != 1 {
		t.Fatal(len(tables), err)
	}
	if want := "Differences to CEG (published schedule, preset paper), delta = 0.3 on glyphs"; !strings.HasPrefix(tables[0].Title, want) {
		t.Errorf("title %q, want %q...", tables[0].Title, want)
	}
	got := map[string]string{}
	for _, row := range tables[0].Rows {
		got[row[0].Text] = row[2].Text + " " + row[3].Text
	}
	for _, name := range []string{"delta = 0", "delta = 1"} {
		if d := got["CEG (published schedule, preset paper), "+name]; d != "-3.00 -3.00" {
			t.Errorf("%s: %q, want -3.00 on both targets; rows %v", name, d, got)
		}
	}
	tables = fatal.Get(f.Table("methods", TableOptions{Budget: "5%"}))(t)
	for _, row := range tables[0].Rows {
		if strings.Contains(row[0].Text, "delta") {
			t.Errorf("without Sweeps there is the row %q", row[0].Text)
		}
	}
}

func TestTableRefuses(t *testing.T) {
	f := handFolder(t)
	for _, tt := range []struct {
		table string
		o     TableOptions
		want  string
	}{
		{"table5", TableOptions{}, `no table "table5", want one of table1, table2, table3, table4, methods, budgets`},
		{"budgets", TableOptions{Budget: "5%"}, "it shows all budgets, not 5% alone"},
		{"budgets", TableOptions{Baseline: "BADGE"}, `no row "BADGE" with a finished seed`},
		{"table3", TableOptions{Rule: "best"}, `no rule "best", want one of last_epoch, best_source_val, best_target`},
		{"table3", TableOptions{Baseline: "BADGE"}, `no row "BADGE" with a finished seed on all targets; there are "uniform-ce", "bvsb-ce", "ceg"`},
		{"table3", TableOptions{Dataset: "pacs"}, `no runs for table3 (data set "pacs"`},
		{"table3", TableOptions{Budget: "10%"}, "there are glyphs paper 5%, glyphs paper 100%"},
		{"table3", TableOptions{Preset: "authors"}, "no runs for table3"},
		{"table4", TableOptions{Sweeps: true}, "it has no swept settings, the tables methods, budgets and targets do"},
	} {
		fatal.Says(t, fatal.Err(f.Table(tt.table, tt.o)), tt.want)
	}
	// What the records do not say is not believed.
	i := slices.IndexFunc(f.Runs, func(r result.PlannedRun) bool { return r.Label() == "ceg" })
	path := filepath.Join(f.Path, f.Runs[i].Dir, result.RecordsFile)
	data := fatal.Get(os.ReadFile(path))(t)
	fatal.If(t, os.WriteFile(path, bytes.Replace(data, []byte("[70,100]"), []byte("[71,100]"), 1), 0o666))
	f = fatal.Get(Open(f.Path))(t)
	fatal.Says(t, fatal.Err(f.Table("table3", TableOptions{})), "target is 70/100, the records give 71/100")
}

// A table of some rows corrects for these alone.
func TestTableOfSomeMethods(t *testing.T) {
	f := handFolder(t)
	rows := func(o TableOptions) (names []string, holm string) {
		o.Budget, o.Baseline = "5%", "uniform-ce"
		tables := fatal.Get(f.Table(allMethods, o))(t)
		for _, r := range tables[0].Rows {
			cells := texts(r)
			if names = append(names, cells[0]); cells[0] == "CEG (published schedule, preset paper)" {
				holm = cells[len(cells)-1]
			}
		}
		return names, holm
	}
	names, all := rows(TableOptions{})
	if len(names) < 4 {
		t.Errorf("all: %q", names)
	}
	names, two := rows(TableOptions{Methods: []string{"ceg", "uniform-ce"}})
	if p := strings.Split(strings.TrimSuffix(two, " ~"), ", "); !slices.Equal(names, []string{"Random + cross-entropy (published schedule, preset paper)", "CEG (published schedule, preset paper)"}) || p[0] != p[2] || two == all {
		t.Errorf("two rows: %q, %s, of all %s; want one difference, whose p is not corrected", names, two, all)
	}
	if by, _ := rows(TableOptions{Methods: []string{"CEG/pub/paper", "Random + cross-entropy (published schedule, preset paper)"}}); !slices.Equal(by, names) {
		t.Errorf("by display and short names: %q, by labels %q", by, names)
	}
	fatal.Says(t, fatal.Err(f.Table(allMethods, TableOptions{Methods: []string{"ceg", "cge"}})), `method "cge": there are uniform-ce, bvsb-ce, ceg`)
}

// Two studies on one folder that mean different things by the same label have to
// be told apart.
func TestTwoStudies(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"short", "long"} {
		s := study.Study{Name: name, Block: study.Block{
			Dataset: "glyphs", Methods: []string{"uniform", "ceg"}, Targets: []string{"photo", "sketch"}, Seeds: []uint64{1, 2},
			Set: map[string]any{"schedule.epochs": 2 + i},
		}}
		fatal.Get(s.Run(context.Background(), study.Options{Dir: dir, Runner: studytest.Fake{}.Run}))(t)
	}
	f := fatal.Get(Open(dir))(t)
	fatal.Says(t, fatal.Err(f.Table("methods", TableOptions{})), "select a study with --plan, one of long, short")
	f = fatal.Get(Open(dir, "long"))(t)
	if _, err := f.Table("methods", TableOptions{}); err != nil {
		t.Error(err)
	}
}

// The paper's tables are what they are: each row named once, with a number for
// each data set of the table, and ours with methods and variants that exist.
func TestPaperTables(t *testing.T) {
	for _, table := range PaperTables() {
		var names []string
		for _, r := range table.Rows {
			names = append(names, r.Name)
			for _, d := range table.Datasets {
				if v := r.Averages[d]; v < 25 || v > 85 {
					t.Errorf("%s, %s: %s is %v", table.Name, d, r.Name, v)
				}
			}
			if len(r.Averages) != len(table.Datasets) {
				t.Errorf("%s, %s: %v", table.Name, r.Name, r.Averages)
			}
			if r.Method == "" {
				continue
			}
			if !slices.Contains(config.Methods(), r.Method) {
				t.Errorf("%s, %s: no method %q", table.Name, r.Name, r.Method)
			}
			if !slices.ContainsFunc(study.Ablations(), func(v study.Variant) bool { return v.Name == r.Variant }) && !slices.Contains([]string{"", AllAtOnce}, r.Variant) {
				t.Errorf("%s, %s: no variant %q", table.Name, r.Name, r.Variant)
			}
		}
		if slices.Sort(names); len(slices.Compact(slices.Clone(names))) != len(names) {
			t.Errorf("%s has a row twice: %q", table.Name, names)
		}
	}
}

// A LaTeX table has as many cells in each row as columns, closes what it opens
// and escapes what TeX would read as its own.
func TestLaTeX(t *testing.T) {
	data := fatal.Get(os.ReadFile(filepath.Join("testdata", "table3.tex")))(t)
	text := string(data)
	columns := len(regexp.MustCompile(`\\begin\{tabular\}\{([lr]+)\}`).FindStringSubmatch(text)[1])
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		body, isRow := strings.CutSuffix(line, ` \\`)
		plain := strings.NewReplacer(`\&`, "", `\%`, "", `\_`, "", `\$`, "").Replace(body)
		if isRow && !strings.HasPrefix(line, `\multicolumn`) && strings.Count(plain, "&") != columns-1 {
			t.Errorf("row has %d cells, want %d: %s", strings.Count(plain, "&")+1, columns, line)
		}
		if strings.HasPrefix(line, "%") {
			continue
		}
		if strings.ContainsAny(plain, "%#") || strings.Count(body, "{") != strings.Count(body, "}") || strings.Count(plain, "$")%2 != 0 {
			t.Errorf("not TeX: %s", line)
		}
	}
	for _, want := range []string{`\toprule`, `\midrule`, `\bottomrule`, `\end{tabular}`} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%d times %s", strings.Count(text, want), want)
		}
	}
}

// With some targets, averages and pairs are over them.
func TestTableOnTargets(t *testing.T) {
	f := handFolder(t)
	tables := fatal.Get(f.Table("table3", TableOptions{Targets: []string{f.Runs[0].Target}}))(t)
	var b bytes.Buffer
	fatal.If(t, tables[0].Write(&b, result.Text))
	if !strings.Contains(b.String(), f.Runs[0].Target) || strings.Contains(b.String(), "average: ") {
		t.Errorf("one target:\n%s", &b)
	}
	fatal.Says(t, fatal.Err(f.Table("table3", TableOptions{Targets: []string{"moon"}})), `no runs on target "moon", only on `)
}

// A row is compared with the row of its label in another folder: here with one that has one correct
// answer of 100 less.
func TestTargetsOfBaselineFolder(t *testing.T) {
	f := handFolder(t)
	less := handFolderOf(t, studytest.Fake{Right: func(run.Config, int) int { return -1 }})
	tables := fatal.Get(f.Table("targets", TableOptions{BaselineFolder: less}))(t)
	labels := map[string]bool{}
	for _, row := range tables[0].Rows {
		labels[row[0].Text] = true
		for i, c := range tables[0].Columns {
			if i > 1 && slices.ContainsFunc(f.Runs, func(r result.PlannedRun) bool { return r.Target == c.Name }) && row[i].Text != "+1.00" {
				t.Errorf("%s with %s on %s: %s, want +1.00", row[0].Text, row[1].Text, c.Name, row[i].Text)
			}
		}
	}
	if len(labels) < 2 {
		t.Errorf("rows of %v", labels)
	}
	for _, bad := range []struct {
		table string
		o     TableOptions
		want  string
	}{
		{"targets", TableOptions{BaselineFolder: f, Baseline: "ceg"}, "one of the two"},
		{"targets", TableOptions{}, "one of the two"},
		{"methods", TableOptions{BaselineFolder: f}, "it goes with the table targets"},
	} {
		fatal.Says(t, fatal.Err(f.Table(bad.table, bad.o)), bad.want)
	}
}

// The table of targets shows all budgets, or the selected one.
func TestTargetsOfBudget(t *testing.T) {
	f := handFolder(t)
	for _, want := range []struct {
		budget string
		rows   bool
	}{{"5%", true}, {"10%", false}} {
		tables, err := f.Table("targets", TableOptions{Baseline: "ceg", Budget: want.budget})
		if !want.rows {
			if err == nil || !strings.Contains(err.Error(), "there are glyphs paper 5%") {
				t.Errorf("budget %s: %v", want.budget, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(tables[0].Rows) == 0 {
			t.Errorf("budget %s: no rows", want.budget)
		}
		for _, row := range tables[0].Rows {
			if row[1].Text != want.budget {
				t.Errorf("budget %s: a row of %s", want.budget, row[1].Text)
			}
		}
	}
}

// Every variant of every method is in the tables of all methods and budgets, FixMatch's too.
func TestVariantsBelong(t *testing.T) {
	r := result.PlannedRun{Dataset: "glyphs", Preset: "authors", Method: "fixmatch", Variant: "TypiClust", Budget: "5%"}
	for name, want := range map[string]bool{allMethods: true, allBudgets: true, "table3": false} {
		g := grid{spec: PaperTable{Name: name}, group: group{"glyphs", "authors"}, dataset: "glyphs", budget: "5%"}
		if got := g.belongs(r); got != want {
			t.Errorf("%s: fixmatch TypiClust belongs %v, want %v", name, got, want)
		}
	}
}
