package datasets

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/rgb"
)

func TestSite(t *testing.T) {
	root := filepath.Join(t.TempDir(), "north")
	png := "\x89PNG\r\n\x1a\n" // recognised by its first bytes
	for name, data := range map[string]string{"b.png": png, "deep/er/a.png": png, "dog/c.png": png, "notes.txt": "no image", ".hidden.png": png} {
		path := filepath.Join(root, filepath.FromSlash(name))
		fatal.If(t, os.MkdirAll(filepath.Dir(path), 0o777))
		fatal.If(t, os.WriteFile(path, []byte(data), 0o666))
	}
	outside := filepath.Join(t.TempDir(), "outside.png")
	fatal.If(t, os.WriteFile(outside, []byte(png), 0o666))
	fatal.If(t, os.Symlink(outside, filepath.Join(root, "link.png")))
	ids := func(follow bool) (list []string) {
		d, truth := fatal.Get2(Site(root, []string{"cat", "dog"}, follow, rgb.Stored, nil))(t)
		if truth.Len() != d.Len() || truth.Known() != 0 {
			t.Errorf("%d of %d classes are known", truth.Known(), d.Len())
		}
		if !slices.Equal(d.Domains, []string{"north"}) || !slices.Equal(d.Classes, []string{"cat", "dog"}) {
			t.Errorf("domains %v, classes %v", d.Domains, d.Classes)
		}
		for _, e := range d.Examples {
			list = append(list, e.ID)
		}
		return list
	}
	if got := ids(false); !slices.Equal(got, []string{"b.png", "deep/er/a.png", "dog/c.png"}) {
		t.Errorf("images %v", got)
	}
	if got := ids(true); !slices.Equal(got, []string{"b.png", "deep/er/a.png", "dog/c.png", "link.png"}) {
		t.Errorf("images with links %v", got)
	}
	for dir, want := range map[string]string{filepath.Join(root, "nowhere"): "no such file", t.TempDir(): "there are no images", outside: "not a folder"} {
		fatal.Says(t, fatal.Err2(Site(dir, []string{"cat", "dog"}, false, rgb.Stored, nil)), want)
	}
}
