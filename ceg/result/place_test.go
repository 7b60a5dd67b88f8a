package result

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
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
		fatal.If(t, os.Remove(filepath.Join(path, ConfigFile)))
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

// Locate takes specified values, and the others from the run; a folder for a run on features is
// the folder of their images.
func TestLocate(t *testing.T) {
	dir, images := t.TempDir(), t.TempDir()
	var b bytes.Buffer
	old := Place{Root: "/old.npz", SplitsDir: "/lists", Labels: "/labels.csv", FollowLinks: true, CacheDir: "/cache"}
	fatal.If(t, old.Write(&b))
	fatal.If(t, os.WriteFile(filepath.Join(dir, PlaceFile), b.Bytes(), 0o666))
	with := func(change func(*Place)) Place {
		p := old
		change(&p)
		return p
	}
	for _, tt := range []struct {
		name, dataset string
		place, want   Place
	}{
		{"nothing said", "features", Place{}, old},
		{"another file", "features", Place{Root: "/new.npz"}, with(func(p *Place) { p.Root, p.SplitsDir = "/new.npz", "" })},
		{"the images of features", "features", Place{Root: images}, with(func(p *Place) { p.Images = images })},
		{"a folder of images", "folder", Place{Root: images, Labels: "/new.csv"}, with(func(p *Place) { p.Root, p.SplitsDir, p.Labels = images, "", "/new.csv" })},
	} {
		if got, err := Locate(dir, tt.dataset, tt.place); err != nil || got != tt.want {
			t.Errorf("%s: got %+v, %v, want %+v", tt.name, got, err, tt.want)
		}
	}
	if got, err := Locate("", "features", Place{Root: "/new.npz"}); err != nil || got != (Place{Root: "/new.npz"}) {
		t.Errorf("without a run: got %+v, %v", got, err)
	}
}
