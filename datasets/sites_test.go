package datasets

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// A table names sites, classes and groups of the images in a flat folder, with paths from there,
// absolute ones, or ones from its own folder as Hugging Face writes them.
func TestSitesOfTable(t *testing.T) {
	t.Parallel()
	root := onDisk(t, pictures(t, "1.png", "2.png", "3.png", "4.png"))
	abs := filepath.Join(root, "2.png")
	for name, text := range map[string]string{
		"meta.csv":     "path,class,site,group\n1.png,cat,north,a\n" + abs + ",dog,south,b\n3.png,,south,b\n",
		"metadata.csv": "file_name;label;site;group\r1.png;cat;north;a\r2.png;dog;south;b\r3.png;;south;b\r",
	} {
		path := filepath.Join(root, name)
		fatal.If(t, os.WriteFile(path, []byte(text), 0o666))
		list := fatal.Get(labelsOf(path))(t)
		d, truth, err := Open("folder", root, Options{Labels: list, Layout: "{name}", Patterns: []string{"*.csv"}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := []string{"1.png north cat train", "2.png south dog train", "3.png south ? train"}
		if got := describe(d, truth); !slices.Equal(got, want) || !slices.Equal(d.Domains, []string{"north", "south"}) || d.Groups[1] != d.Groups[2] {
			t.Errorf("%s: %q of %q, groups %v, want %q", name, got, d.Domains, d.Groups, want)
		}
		if !slices.ContainsFunc(d.Skipped, func(f Skipped) bool { return f == Skipped{"4.png", noSite} }) {
			t.Errorf("%s: left out are %q, want 4.png", name, d.Skipped)
		}
		if got := SitesBy(list); !strings.HasSuffix(got, name) {
			t.Errorf("sites by %q", got)
		}
	}
	// With sites that are the folders', the others stay at their folders' sites.
	root = onDisk(t, crossed("north south"))
	for first, want := range map[string]string{"north": "north south", "x": "x"} {
		list := []Label{{ID: "north/0.png", Class: "cat", Site: first, Where: "m.csv:2"}}
		d, truth, err := Open("folder", root, Options{Labels: list, Classes: []string{"cat", "dog"}})
		if err != nil || strings.Join(d.Domains, " ") != want || len(d.Notes) != len(d.Skipped)/3 || truth.Known() != 1 {
			t.Errorf("%s: %v, %q, %q, %v", first, d.Domains, d.Notes, d.Skipped, err)
		} else if line := d.DescribeLayout("", "", truth); !strings.HasPrefix(line, "read as site/image:") {
			t.Error(line)
		}
	}
	root = onDisk(t, pictures(t, "1.png", "2.png", "3.png", "4.png"))
	for want, list := range map[string][]Label{
		`m.csv:3: 1.png is of site "b" here, but of "a" at m.csv:2`: {{ID: "1.png", Site: "a", Where: "m.csv:2"}, {ID: "1.png", Site: "b", Where: "m.csv:3"}},
		`m.csv:2: "9.png" is no image`:                              {{ID: "9.png", Site: "a", Where: "m.csv:2"}},
		`m.csv:2: site "a\nb" has a newline`:                        {{ID: "1.png", Site: "a\nb", Where: "m.csv:2"}},
	} {
		_, _, err := Open("folder", root, Options{Labels: list, Layout: "{name}"})
		wantError(t, err, want)
	}
}
