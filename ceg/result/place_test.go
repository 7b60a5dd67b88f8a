package result

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A run has its place before its config: a process that is killed between the two leaves
// what the next one begins from, and a run with a config always knows where its data is.
func TestPlaceFirst(t *testing.T) {
	place := Place{Root: "/photos", Backend: "go"}
	path := filepath.Join(t.TempDir(), "run")
	must[*Dir](t)(Open(path, newSettings(1), place, false)).Close()
	if got := names(t, path); !slices.Equal(got, []string{ConfigFile, PlaceFile}) {
		t.Fatalf("a new run has %q", got)
	}
	place.Root = "/elsewhere"
	for _, resume := range []bool{false, true} {
		if err := os.Remove(filepath.Join(path, ConfigFile)); err != nil {
			t.Fatal(err)
		}
		must[*Dir](t)(Open(path, newSettings(1), place, resume)).Close()
		if p, err := ReadPlace(path); err != nil || p != place {
			t.Errorf("the place is %+v, %v", p, err)
		}
		must[*Dir](t)(Open(path, newSettings(1), Place{}, resume)).Close() // it has not begun
	}
}

// A file of the same name that ledg has not written makes a folder a stranger's.
func TestForeignPlace(t *testing.T) {
	for _, text := range []string{"", "{}", `{"root":"/photos"}`, "{\n  \"root\": \"/photos\",\n  \"splits_dir\": \"\"\n}\n", `{"root":"","splits_dir":"","key":1}` + "\n"} {
		path := t.TempDir()
		put(t, filepath.Join(path, PlaceFile), text)
		if _, err := Open(path, newSettings(1), Place{Root: "/photos"}, true); !errors.Is(err, ErrForeign) {
			t.Errorf("%q: got %v", text, err)
		}
		if entries, _ := os.ReadDir(path); len(entries) != 1 || get(t, filepath.Join(path, PlaceFile)) != text {
			t.Errorf("%q: the folder was changed", text)
		}
	}
}
