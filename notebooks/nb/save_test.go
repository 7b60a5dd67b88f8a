package nb

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSave(t *testing.T) {
	t.Setenv("LEDG_QUICK", "1")
	dir := t.TempDir()
	t.Setenv("LEDG_RUNS", dir)
	fig := LearningCurves(Train("mine", "uniform-ce"), Train("mine", "uniform-ce", Set("seed", 2)))
	read := func(name string) string {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	Save(fig, filepath.Join(dir, "a.svg"), Width("84mm"), Font("serif"), FontSize(9))
	for _, want := range []string{`width="238.11pt"`, "Epoch</text>", "font-family:'Liberation Serif', 'Times New Roman', serif", "font-size:9px"} {
		if !strings.Contains(read("a.svg"), want) {
			t.Errorf("the SVG has no %s: %.200s", want, read("a.svg"))
		}
	}
	Save(fig, filepath.Join(dir, "a.pdf"))
	if !strings.HasPrefix(read("a.pdf"), "%PDF-") || !strings.Contains(read("a.pdf"), "/MediaBox [0 0 237.60 ") {
		t.Errorf("the PDF begins with %.20q, or is not 3.3 inches wide", read("a.pdf"))
	}
	for want, f := range map[string]func(){
		`width "84", want a number and a unit`:        func() { Width("84") },
		`width "wide", want a number and a unit`:      func() { Width("wide") },
		`font "Comic", want one of Sans, Serif, Mono`: func() { Font("Comic") },
		"none.ttf":             func() { Font("none.ttf") },
		"font size 0":          func() { FontSize(0) },
		"want svg, pdf or png": func() { Save(fig, filepath.Join(dir, "a.jpg")) },
		"too narrow":           func() { Save(fig, filepath.Join(dir, "a.pdf"), Width("1mm")) },
	} {
		if text := panics(t, f); !strings.Contains(text, want) || strings.Contains(text, "\n") {
			t.Errorf("error %q, want one line with %q", text, want)
		}
	}
}
