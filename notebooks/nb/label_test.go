package nb

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/labels"
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
	of := SaveImages("glyphs", 1, func(domain, class string) string { return filepath.Join(root, domain) })
	args := []string{"--dataset", "folder", "--root", root, "--classes", "0,1,2,3,4,5,6,7,8,9", "--by", "program"}
	address := Label(args...)
	defer EndLabel(args...)
	if n := Annotate(address, of); n != 40 {
		t.Errorf("%d answers, want 40", n)
	}
	if again := Label(args...); again != address {
		t.Errorf("the page is at %s and at %s", address, again)
	}
	list, err := labels.ReadFile(filepath.Join(root, labels.File))
	if err != nil || len(list) != 40 {
		t.Fatalf("%d labels, %v", len(list), err)
	}
	for _, l := range list {
		if l.Class != of(l.ID) {
			t.Errorf("%s is %q, want %q", l.ID, l.Class, of(l.ID))
		}
	}
}
