package notebooks

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/ceg/testing/testall"
)

// fromRecords are the notebooks whose outputs come from committed records alone.
var fromRecords = []string{"00_quickstart", "03_ablation", "04_sensitivity", "05_budget", "06_paper", "10_features", "11_when_to_ask"}

// always are the cells of the other notebooks that show the same however small their runs
// are, by how they begin.
var always = map[string][]string{
	"02_generalization": {"%%\nm, r := picture(", "%%\na := picture("},
	"07_your_data":      {"%%\nnb.Describe("},
	"09_new_site":       {"%%\nsave()", "%%\nt := nb.NewTable(\"labels\""},
}

// What is stored of the notebooks that show records is what the records give: every
// table, number and figure. Nothing is trained for it.
func TestFresh(t *testing.T) {
	needJupyter(t)
	for _, name := range fromRecords {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := fatal.Get(os.ReadFile(name + ".ipynb"))(t)
			runs := t.TempDir()
			now, stored := executeWith(t, data, "LEDG_QUICK=", "LEDG_RUNS="+runs), parse(t, data)
			for _, p := range now.problems() {
				t.Error(p)
			}
			for i := range stored.Cells {
				compare(t, name, i, now, stored)
			}
			if list, err := os.ReadDir(runs); err != nil || len(list) > 0 {
				t.Errorf("%d folders of runs were made, %v: records are missing", len(list), err)
			}
		})
	}
}

// compare finds differences between a cell's output and the stored output.
func compare(t *testing.T, name string, cell int, now, stored *notebook) {
	t.Helper()
	if got, want := outputs(now.Cells[cell]), outputs(stored.Cells[cell]); !reflect.DeepEqual(got, want) {
		t.Errorf("cell %d shows %.300q, and stored is %.300q; run scripts/notebooks.sh --execute %s", cell, got, want, name[:2])
	}
}

// compareAlways compares the cells of always.
func compareAlways(t *testing.T, name string, now, stored *notebook) {
	t.Helper()
	for _, begin := range always[name] {
		i := slices.IndexFunc(stored.Cells, func(c cell) bool { return strings.HasPrefix(strings.Join(c.Source, ""), begin) })
		if i < 0 {
			t.Errorf("no cell begins with %q", begin)
			continue
		}
		compare(t, name, i, now, stored)
	}
}

// outputs are what a cell shows: texts, those that follow each other as one, since Jupyter
// divides them by when they came, and figures where the machine computes as the one that has
// drawn them.
func outputs(c cell) (list []string) {
	for i, o := range c.Outputs {
		if i > 0 && o.Data == nil && c.Outputs[i-1].Data == nil {
			list[len(list)-1] += strings.Join(o.Text, "")
			continue
		}
		list = append(list, strings.Join(o.Text, ""))
		for _, kind := range slices.Sorted(maps.Keys(o.Data)) {
			v := o.Data[kind]
			if kind == "image/png" && runtime.GOARCH != "amd64" {
				v = ""
			}
			list = append(list, kind+": "+joined(v))
		}
	}
	return list
}

// joined is a text that Jupyter stores as one, or as a list of lines.
func joined(v any) string {
	lines, ok := v.([]any)
	if !ok {
		return fmt.Sprint(v)
	}
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprint(&b, l)
	}
	return b.String()
}

// The figures of the results are what the committed records give.
func TestFigures(t *testing.T) {
	testall.Need(t, "all figures are drawn")
	if runtime.GOARCH != "amd64" {
		t.Skip("figures were drawn on amd64")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash here")
	}
	drawn := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "bash", filepath.Join("..", "scripts", "figures.sh"), drawn).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	list, err := filepath.Glob(filepath.Join("results", "figures", "*"))
	if err != nil || len(list) == 0 {
		t.Fatalf("%d figures, %v", len(list), err)
	}
	for _, file := range list {
		stored := fatal.Get(os.ReadFile(file))(t)
		now, err := os.ReadFile(filepath.Join(drawn, filepath.Base(file)))
		if err != nil || !bytes.Equal(now, stored) {
			t.Errorf("%s is not what the records give (%v); run scripts/figures.sh", file, err)
		}
	}
}
