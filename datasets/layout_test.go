package datasets

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// crossed are the paths of an image 0.png in every combination of folders.
func crossed(levels ...string) fstest.MapFS {
	paths := []string{""}
	for _, level := range levels {
		var more []string
		for _, p := range paths {
			for name := range strings.FieldsSeq(level) {
				more = append(more, p+name+"/")
			}
		}
		paths = more
	}
	fsys := fstest.MapFS{}
	for i, p := range paths {
		for _, name := range []string{"0.png", "1.png"} {
			b := []byte("\x89PNG\r\n\x1a\n" + string(rune('a'+i)) + name) // as far as it is looked at
			fsys[p+name] = &fstest.MapFile{Data: b}
		}
	}
	return fsys
}

// Each layout that people have is recognised, and read with its sites and classes.
func TestRecognise(t *testing.T) {
	for name, c := range map[string]struct {
		fsys    fstest.MapFS
		classes string // that are given
		want    string
		sites   string
		known   string
		line    string
	}{
		"flat":           {crossed(), "", "{name}", "all", "", "read as image: one site, no classes; --layout sets another reading; with one site there is no estimate for a new site"},
		"site":           {crossed("north south"), "", "", "north south", "", "--layout '{class}/{name}' where the folders are classes"},
		"class, named":   {crossed("cat dog"), "cat dog", "{class}/{name}", "all", "cat dog", "read as class: one site, 2 classes; --layout sets another reading; with one"},
		"site/class":     {crossed("north south", "cat dog"), "", "", "north south", "cat dog", "read as site/class: 2 sites, 2 classes; --layout sets another reading"},
		"splits":         {crossed("train val test", "cat dog"), "", "{split}/{class}/{name}", "all", "cat dog", "read as split/class: one site, 2 classes"},
		"domain/split":   {crossed("north south", "train val", "cat dog"), "", "{site}/{split}/{class}/{name}", "north south", "cat dog", ""},
		"split/domain":   {crossed("Train Test", "north south", "cat dog"), "", "{split}/{site}/{class}/{name}", "north south", "cat dog", ""},
		"card":           {crossed("north south", "DCIM", "100RECNX"), "", "{site}/**/{name}", "north south", "", "read as site/**/image: 2 sites, no classes; --layout sets another reading"},
		"camera":         {crossed("north south", "100CANON 101CANON"), "", "{site}/**/{name}", "north south", "", ""},
		"frames":         {crossed("north south", "burst1 burst2"), "cat dog", "{site}/**/{name}", "north south", "", ""},
		"archive":        {crossed("photos", "north south", "cat dog"), "", "*/{site}/{class}/{name}", "north south", "cat dog", ""},
		"deeper classes": {crossed("north south", "2024 2025", "cat dog"), "cat dog", "{site}/*/{class}/{name}", "north south", "cat dog", ""},
		"deeper":         {crossed("north south", "cat dog", "a b"), "", "{site}/{class}/**/{name}", "north south", "cat dog", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var classes []string
			if c.classes != "" {
				classes = strings.Fields(c.classes)
			}
			got, err := Recognise(c.fsys, nil, classes, nil)
			if err != nil || got != c.want {
				t.Fatalf("%q, %v, want %q", got, err, c.want)
			}
			d, truth := fatal.Get2(Folder(c.fsys, Options{Layout: got, Classes: classes}))(t)
			if d.Len() != len(c.fsys) || !slices.Equal(d.Domains, strings.Fields(c.sites)) {
				t.Errorf("%d images of %q, want %d of %s", d.Len(), d.Domains, len(c.fsys), c.sites)
			}
			known := map[string]bool{}
			for i := range d.Examples {
				if truth.Knows(i) {
					known[d.Classes[truth.Class(i)]] = true
				}
			}
			if want := strings.Fields(c.known); len(known) != len(want) {
				t.Errorf("classes %v, want %v", known, want)
			}
			if line := d.DescribeLayout(got, "", truth); !strings.Contains(line, c.line) {
				t.Errorf("it says %q, want %q", line, c.line)
			}
		})
	}
}

// Folders of sites that may be classes or not are asked about; ones that several sites have are
// classes, and one is enough to see it.
func TestUnclearLayout(t *testing.T) {
	t.Parallel()
	days := crossed("north", "monday tuesday")
	for name, f := range crossed("south", "friday sunday") {
		days[name] = f
	}
	var unclear *UnclearError
	if _, err := Recognise(days, nil, nil, nil); !errors.As(err, &unclear) {
		t.Fatalf("error %v", err)
	}
	wantError(t, unclear, "such as ", "--layout '{site}/{class}/{name}' reads them as classes, --layout '{site}/**/{name}' does not")
	for _, template := range []string{WithClasses, WithoutClasses} {
		if d, _, err := Folder(days, Options{Layout: template}); err != nil || d.Len() != len(days) || len(d.Classes) != map[string]int{WithClasses: 4}[template] {
			t.Errorf("%s: %v, %v", template, d, err)
		}
	}
	if got, err := Recognise(days, nil, []string{"cat", "dog"}, nil); err != nil || got != WithoutClasses {
		t.Errorf("with classes: %q, %v", got, err)
	}
	days["south/monday/0.png"] = days["north/monday/0.png"]
	if got, err := Recognise(days, nil, nil, nil); err != nil || got != "" {
		t.Errorf("repeated: %q, %v", got, err)
	}
}

func TestLayout(t *testing.T) {
	fsys := crossed("2024", "north_1 south_1 south_2", "cat dog")
	d, truth, err := Folder(fsys, Options{Layout: "2024/*/{class}/{name}", SiteRule: "/(north|south)_"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.Domains, []string{"north", "south"}) || !slices.Equal(d.Classes, []string{"cat", "dog"}) || truth.Known() != 12 {
		t.Errorf("%q, %q, %d", d.Domains, d.Classes, truth.Known())
	}
	for _, id := range []string{"2024/north_1/cat/0.png", "2024/south_2/dog/1.png"} {
		i, ok := d.Index(id)
		if !ok || !strings.Contains(id, d.Domains[d.Examples[i].Domain]) {
			t.Errorf("%s: %v", id, ok)
		}
	}
	d, _, err = Folder(fsys, Options{SiteRule: "north_1"})
	if err != nil || len(d.Skipped) != 8 || !strings.Contains(d.Skipped[0].Reason, "the site rule north_1 does not match") {
		t.Errorf("%v, %v", d, err)
	}
	_, _, err = Folder(fsys, Options{Layout: "{site}/{name}"})
	wantError(t, err, "no images", "12 files left out, first 2024/", "not of the layout {site}/{name}")
	for template, want := range map[string]string{
		"{site}/{class}": "want {name} at its end", "{name}/{class}": "{name}", "{site}/{site}/{name}": "twice",
		"{place}/{name}": "{place}", "a{class}/{name}": "a{class}", "/{name}": `""`,
	} {
		fatal.Says(t, CheckLayout(template, ""), want)
	}
	if err := CheckLayout("{site}/{name}", "x"); err == nil {
		t.Error("sites come from two places")
	}
}
