package predict_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/foreign"
)

// Names that a spreadsheet would compute are guarded in a table, and read as they were.
func TestTableGuardsFormulas(t *testing.T) {
	p := open(t, copied(t))
	from, _ := gallery(t, 1)
	dir := t.TempDir()
	fatal.If(t, os.CopyFS(filepath.Join(dir, "=s"), os.DirFS(from)))
	t.Chdir(dir)
	fatal.Get(p.Files(t.Context(), predict.FilesOptions{Images: []string{"=s"}, Out: "t.csv"}))(t)
	if text := content(t, "t.csv"); !strings.Contains(text, "\n'=s/") {
		t.Errorf("written as\n%s", text)
	}
	err := predict.ReadTable("t.csv", func(p predict.Prediction) error {
		if !strings.HasPrefix(p.Path, "=s/") {
			t.Errorf("read as %s", p.Path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Tables are read by the names of columns, of sites and other tools too.
func TestTablesByNames(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ text, want string }{
		{"path,class,probability,second,margin,entropy,visit,looks_new\na/1.png,fox,0.5,deer,0.1,1,1,true\n", "a/1.png fox 0.5 new"},
		{"filepath;prediction id;species;score\na/1.png;7;fox;0.5\n", "a/1.png fox 0.5"},
		{"file,label\n1.png,fox\n", "1.png fox 0"},
	} {
		path := filepath.Join(dir, "t.csv")
		put(t, path, []byte(c.text))
		err := predict.ReadTable(path, func(p predict.Prediction) error {
			got := strings.TrimSpace(strings.Join([]string{p.Path, p.Class, fmt.Sprint(p.Probability), map[bool]string{true: "new"}[p.New()]}, " "))
			if got != c.want {
				t.Errorf("%q: %q, want %q", c.text, got, c.want)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	path := filepath.Join(dir, "t.csv")
	put(t, path, []byte("path,class,probability\n1.png,fox,much\n"))
	fatal.Says(t, predict.ReadTable(path, func(predict.Prediction) error { return nil }), "t.csv:2: probability")
	put(t, path, []byte(`{"images":[{"file":"1.png","detections":[]}]}`))
	if err := (*foreign.Error)(nil); !errors.As(predict.ReadTable(path, nil), &err) || err.Format != foreign.MegaDetector {
		t.Errorf("error %v", err)
	}
}
