package result

import (
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/regular"
)

// A run whose directory is taken away writes nothing more, says so in a line with the
// directory's name, and leaves alone what is there now.
func TestTakenAway(t *testing.T) {
	begin := func(t *testing.T, path, id string) *Dir {
		d := must[*Dir](t)(Open(path, newSettings(1), Place{}, false))
		t.Cleanup(func() { d.Close() })
		fatal.If(t, errors.Join(d.AppendRecord(history([2]int{3, 4})[0]), d.AppendQueries([]Query{{ID: id}})))
		return d
	}
	do := func(t *testing.T, errs ...error) {
		if err := errors.Join(errs...); err != nil {
			t.Skip(err) // as where open files hold their folder
		}
	}
	takes := map[string]func(t *testing.T, path string){
		"removed":          func(t *testing.T, path string) { do(t, os.RemoveAll(path)) },
		"renamed":          func(t *testing.T, path string) { do(t, os.Rename(path, path+".old")) },
		"its lock removed": func(t *testing.T, path string) { do(t, os.Remove(filepath.Join(path, lockFile))) },
		"a new run": func(t *testing.T, path string) {
			do(t, os.Rename(path, path+".old"))
			begin(t, path, "new")
		},
		"another run moved": func(t *testing.T, path string) {
			begin(t, path+".new", "new")
			do(t, os.Rename(path, path+".old"), os.Rename(path+".new", path))
		},
		"links to the same files": func(t *testing.T, path string) { // by cp -al
			do(t, os.Rename(path, path+".old"), os.Mkdir(path, 0o777))
			for _, name := range append(names(t, path+".old"), lockFile) {
				do(t, os.Link(filepath.Join(path+".old", name), filepath.Join(path, name)))
			}
		},
	}
	text := func(w io.Writer) error { _, err := io.WriteString(w, "old"); return err }
	now := func(t *testing.T, path string) map[string]string {
		files := map[string]string{}
		if _, err := os.Stat(path); err == nil {
			for _, name := range slices.DeleteFunc(names(t, path), regular.IsTemp) {
				files[name] = get(t, filepath.Join(path, name))
			}
		}
		return files
	}
	for name, take := range takes {
		for what, write := range map[string]func(d *Dir, meanwhile func()) error{
			"record": func(d *Dir, before func()) error {
				before()
				return d.AppendRecord(history([2]int{3, 4}, [2]int{7, 9})[1])
			},
			"queries":  func(d *Dir, before func()) error { before(); return d.AppendQueries([]Query{{ID: "b"}}) },
			"place":    func(d *Dir, before func()) error { before(); return d.WritePlace(Place{Root: "/images"}) },
			"truncate": func(d *Dir, before func()) error { before(); return d.Truncate(Lengths{}) },
			"result":   func(d *Dir, before func()) error { before(); return d.Finish(sampleResult(t)) },
			"half a checkpoint": func(d *Dir, meanwhile func()) error {
				return d.WriteFile("checkpoint", func(w io.Writer) error { meanwhile(); return text(w) })
			},
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "run")
				d := begin(t, path, "old")
				var want map[string]string
				err := write(d, func() { take(t, path); want = now(t, path) })
				if !errors.Is(err, ErrTaken) || strings.Count(err.Error(), path) != 1 || strings.Contains(err.Error(), "\n") {
					t.Errorf("%v, want %v", err, ErrTaken)
				}
				if got := now(t, path); !maps.Equal(got, want) {
					t.Errorf("there is now %q, want %q", got, want)
				}
			})
		}
	}
}
