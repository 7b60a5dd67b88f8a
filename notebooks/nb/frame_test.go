package nb

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFrame(t *testing.T) {
	t.Setenv("LEDG_QUICK", "1")
	dir := t.TempDir()
	t.Setenv("LEDG_RUNS", dir)
	f := Frame(Train("mine", "ceg", Set("gamma1", 0.5)), Train("mine", "uniform-ce"))
	f.CSV(filepath.Join(dir, "a.csv"))
	data, err := os.ReadFile(filepath.Join(dir, "a.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil || len(rows) != len(f.Rows)+1 || !strings.Contains(strings.Join(rows[0], " "), "split metric value") || !strings.Contains(strings.Join(rows[0], " "), "exploration.gamma1") {
		t.Errorf("%d rows, head %q, %v", len(rows), rows[0], err)
	}
	if text := panics(t, func() { Frame(filepath.Join(dir, "none")) }); !strings.Contains(text, "none") {
		t.Errorf("error %q", text)
	}
}
