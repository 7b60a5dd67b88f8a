package experiment

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/result"
)

// A plan file written by one version reads as the plan, labels and all.
func TestPlanFile(t *testing.T) {
	dir := t.TempDir()
	p := plan(t, parse(t, studyFile))
	if err := p.write(dir); err != nil {
		t.Fatal(err)
	}
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range f.Runs {
		want := p.Runs[i]
		want.Config = ceg.Config{}
		a, _ := json.Marshal(r)
		b, _ := json.Marshal(want)
		if !bytes.Equal(a, b) {
			t.Errorf("run %d is %s, want %s", i, a, b)
		}
	}
	if len(f.Runs) != len(p.Runs) {
		t.Errorf("%d runs, want %d", len(f.Runs), len(p.Runs))
	}
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is not a study's folder") {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestStatusTable(t *testing.T) {
	f := handFolder(t)
	table, err := f.StatusTable()
	if err != nil {
		t.Fatal(err)
	}
	table.Title = strings.TrimPrefix(table.Title, f.Path)
	var b bytes.Buffer
	if err := table.Write(&b, result.Text); err != nil {
		t.Fatal(err)
	}
	golden(t, "status.txt", b.Bytes())
}
