package nb

import (
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/datasets"
)

// A program answers through the server that Label starts, which outlives the call and
// ends with EndLabel.
func TestLabel(t *testing.T) {
	if testing.Short() {
		t.Skip("the command is not built with -short")
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(Must(exec.Command("go", "env", "GOCACHE").Output())))) // not in the new one
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	root := t.TempDir()
	data, truth, err := datasets.Glyphs(datasets.GlyphsConfig{PerClass: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := make(map[string]string)
	for i, e := range data.Examples {
		id := filepath.Join(data.Domains[e.Domain], data.Classes[truth.Class(i)]+"-picture.png")
		want[filepath.ToSlash(id)] = data.Classes[truth.Class(i)]
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, id)), 0o777); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(filepath.Join(root, id))
		if err != nil {
			t.Fatal(err)
		}
		if err := png.Encode(f, Must(data.Image(i)).ToImage()); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	args := []string{"--dataset", "folder", "--root", root, "--classes", "0,1,2,3,4,5,6,7,8,9", "--by", "program"}
	address := Label(args...)
	defer EndLabel(args...)
	if n := Annotate(address, func(id string) string { return want[id] }); n != len(want) {
		t.Errorf("%d answers, want %d", n, len(want))
	}
	if again := Label(args...); again != address {
		t.Errorf("the page is at %s and at %s", address, again)
	}
	list, err := labels.ReadFile(filepath.Join(root, labels.File))
	if err != nil || len(list) != len(want) {
		t.Fatalf("%d labels, %v", len(list), err)
	}
	for _, l := range list {
		if l.Class != want[l.ID] {
			t.Errorf("%s is %q, want %q", l.ID, l.Class, want[l.ID])
		}
	}
}
