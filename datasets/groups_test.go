package datasets

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// bursts makes a folder of two sites and two classes, each with bursts of three images and some
// single images.
func bursts(t *testing.T, each int) string {
	t.Helper()
	var names []string
	for _, site := range []string{"north", "south"} {
		for _, class := range []string{"cat", "dog"} {
			for b := range each {
				for i := range 3 {
					names = append(names, fmt.Sprintf("%s/%s/b%02d_%d.png", site, class, b, i))
				}
			}
			names = append(names, fmt.Sprintf("%s/%s/alone.png", site, class))
		}
	}
	return onDisk(t, pictures(t, names...))
}

const burstRule = `^(.*/b\d+)_`

// divided are the groups, by their names in IDs, with images in both splits.
func divided(d *Dataset) (names []string) {
	splits := map[string]Split{}
	for _, e := range d.Examples {
		name, _, in := strings.Cut(e.ID, "_")
		if !in {
			continue
		}
		if s, ok := splits[name]; ok && s != e.Split {
			names = append(names, name)
		}
		splits[name] = e.Split
	}
	return names
}

// Without groups nearly every split leaks: images of a burst are in training and validation.
// With them none does, and as many images are Val.
func TestGroupsAgainstLeaks(t *testing.T) {
	root := bursts(t, 10)
	leaked := 0
	for seed := range uint64(40) {
		plain, _ := fatal.Get2(Open("folder", root, Options{Seed: seed}))(t)
		if len(divided(plain)) > 0 {
			leaked++
		}
		d, _ := fatal.Get2(Open("folder", root, Options{Seed: seed, Group: burstRule}))(t)
		if names := divided(d); len(names) > 0 {
			t.Errorf("seed %d: %q are in both splits", seed, names)
		}
		val := map[string]int{}
		for _, e := range d.Examples {
			if e.Split == Val {
				val[filepath.Dir(e.ID)]++
			}
		}
		for _, cell := range []string{"north/cat", "north/dog", "south/cat", "south/dog"} {
			if n := val[cell]; n < 3 || n > 4 { // a tenth of 31, by bursts of three
				t.Errorf("seed %d: %d images of %s are for validation", seed, n, cell)
			}
		}
		if len(d.GroupNames) != 44 || d.Ungrouped != 4 {
			t.Errorf("%d groups, %d images of none", len(d.GroupNames), d.Ungrouped)
		}
	}
	if leaked < 35 {
		t.Errorf("of 40 splits without groups %d leak: the test shows nothing", leaked)
	}
}

// Of groups of one size a class needs five for one to be Val; what comes or goes elsewhere
// moves nothing, and groups with an image of unknown class are trained on.
func TestSplitByGroup(t *testing.T) {
	vals := func(root string, o Options) (ids []string) {
		t.Helper()
		o.Group = burstRule
		d, _ := fatal.Get2(Open("folder", root, o))(t)
		for _, e := range d.Examples {
			if e.Split == Val {
				ids = append(ids, e.ID)
			}
		}
		return ids
	}
	names := func(site string, groups int) (list []string) {
		for b := range groups {
			for i := range 4 {
				list = append(list, fmt.Sprintf("%s/cat/b%02d_%d.png", site, b, i))
			}
		}
		return list
	}
	if got := vals(onDisk(t, pictures(t, names("a", 4)...)), Options{}); got != nil {
		t.Errorf("of four groups %q are for validation", got)
	}
	five := vals(onDisk(t, pictures(t, names("a", 5)...)), Options{})
	if len(five) != 4 {
		t.Errorf("of five groups %q are for validation", five)
	}
	if got := vals(onDisk(t, pictures(t, slices.Concat(names("a", 5), names("z", 9))...)), Options{}); !slices.Equal(five, got[:4]) {
		t.Errorf("beside another site it is %q, not %q", got, five)
	}
	unlabelled := slices.Concat(names("a", 5), []string{strings.Replace(five[0], "_", "_9", 1)})
	last := &unlabelled[len(unlabelled)-1]
	*last = "a/" + filepath.Base(*last)
	rule := `(b\d+)_`
	d, _ := fatal.Get2(Open("folder", onDisk(t, pictures(t, unlabelled...)), Options{Group: rule}))(t)
	for i, e := range d.Examples {
		if d.GroupNames[d.Groups[i]] == five[0][len("a/cat/"):len("a/cat/b00")] && e.Split == Val {
			t.Errorf("%s is for validation, and an image of its group has no class", e.ID)
		}
	}
}

// Folders of frames are read, with classes and without.
func TestFramesInFolders(t *testing.T) {
	root := onDisk(t, pictures(t, "north/cat/walk/1.png", "north/cat/walk/2.png", "north/cat/3.png", "north/film/1.png", "north/film/a/b/2.png", "south/dog/4.png"))
	d, truth, err := Open("folder", root, Options{Group: "^(.*)/[^/]+$", Classes: []string{"cat", "dog"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, e := range d.Examples {
		got = append(got, fmt.Sprint(e.ID, " ", truth.Class(i), " ", d.GroupNames[d.Groups[i]]))
	}
	want := []string{"north/cat/3.png 0 north/cat", "north/cat/walk/1.png 0 north/cat/walk", "north/cat/walk/2.png 0 north/cat/walk",
		"north/film/1.png -1 north/film", "north/film/a/b/2.png -1 north/film/a/b", "south/dog/4.png 1 south/dog"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	d, _, err = Open("folder", root, Options{Group: "^(.*)/[^/]+$"})
	if err != nil || d.Len() != 6 || !slices.Equal(d.Classes, []string{"cat", "dog", "film"}) {
		t.Errorf("%v, %v", d, err)
	}
}

func TestGroupColumn(t *testing.T) {
	root := onDisk(t, pictures(t, "north/1.png", "north/2.png", "north/3.png", "south/1.png", "south/2.png"))
	file := filepath.Join(t.TempDir(), "labels.csv")
	read := func(text string) []Label {
		t.Helper()
		fatal.If(t, os.WriteFile(file, []byte(text), 0o666))
		return fatal.Get(labelsOf(file))(t)
	}
	list := read("id,label,group\nnorth/1.png,cat,p1\nnorth/2.png,,p1\n.\\south\\1.png,dog,p2\nnorth/3.png,dog,\n")
	d, truth, err := Open("folder", root, Options{Labels: list})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.Groups, []int{0, 0, 1, 2, 3}) || !slices.Equal(d.GroupNames, []string{"p1", "", "p2", ""}) || d.Ungrouped != 2 || truth.Known() != 3 {
		t.Errorf("groups %v of %q, %d alone, %d labels", d.Groups, d.GroupNames, d.Ungrouped, truth.Known())
	}
	if !slices.EqualFunc(d.GroupMembers(), [][]int{{0, 1}, {2}, {3}, {4}}, slices.Equal) {
		t.Errorf("members %v", d.GroupMembers())
	}
	// A column alone says nothing of classes.
	list = read("id,group\nnorth/1.png,p1\n")
	if d, truth, err = Open("folder", root, Options{Labels: list}); err != nil || truth.Known() != 0 || d.Ungrouped != 4 || len(d.Classes) != 0 {
		t.Errorf("%v, %v", d, err)
	}
	// A rule replaces the column, and says so.
	if d, _, err = Open("folder", root, Options{Labels: list, Group: "^north"}); err != nil || !slices.Equal(d.Groups, []int{0, 0, 0, 1, 2}) || len(d.Notes) != 1 {
		t.Errorf("%v, %v", d, err)
	}
	// A file of features has them, too; those of labels replace them.
	of := writeFeatures(t, nil, fourVectors, textEntry("groups", "\"a\"\n\"\"\n\"a\"\n\"b\"\n"))
	for groups, labels := range map[string][]Label{"[0 1 0 2]": nil, "[0 1 2 2]": {{ID: "2", Group: "c"}, {ID: "3", Group: "c"}}} {
		if d, _, err := Open("features", of, Options{Labels: labels}); err != nil || fmt.Sprint(d.Groups) != groups {
			t.Errorf("%v, %v, want groups %s", d, err, groups)
		}
	}
	for _, s := range []struct {
		text, rule, want string
	}{
		{"id,group\nnorth/9.png,p1\n", "", `labels.csv:2: "north/9.png" is no image`},
		{"id,group\nnorth/1.png,p1\nnorth/1.png,p2\n", "", `labels.csv:3: north/1.png is of group "p2" here, and of "p1" at another place`},
		{"id,label\n", "nor(th", `group rule: "nor(th" is no regular expression: error parsing regexp: missing closing )`},
		{"id,label\n", "east", `group rule "east" matches none of the 5 images, such as north/1.png`},
	} {
		_, _, err := Open("folder", root, Options{Labels: read(s.text), Group: s.rule})
		if err == nil || !strings.Contains(err.Error(), s.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q by %q: %v", s.text, s.rule, err)
		}
	}
}

// A split that is given is not changed: a group that it divides is an error.
func TestGroupsOfPublishedSplits(t *testing.T) {
	dir := onDisk(t, smallPACS(t, ".", "."))
	d, _, err := Open("pacs", dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	domain := d.Domains[d.Examples[0].Domain]
	_, _, err = Open("pacs", dir, Options{Group: "^[^/]+"})
	if want := "data set pacs: group " + domain + " is divided: "; err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, want %q", err, want)
	}
	if d, _, err = Open("pacs", dir, Options{Group: "^.*$"}); err != nil || len(d.GroupNames) != d.Len() {
		t.Errorf("every image a group of its own: %v", err)
	}
}

func TestReportGroups(t *testing.T) {
	root := bursts(t, 10)
	d, truth := fatal.Get2(Open("folder", root, Options{Group: `/(b\d+)_`}))(t)
	r := fatal.Get(Check(t.Context(), d, truth, nil))(t)
	var b bytes.Buffer
	fatal.Get(r.WriteTo(&b))(t)
	for _, want := range []string{"124 images (14 groups)", " (11)", "In brackets: groups. No split divides one. Without a group, and each one of its own: 4 images.",
		"10 groups of several classes", "b00: cat 6, dog 6", "10 groups in several sites: none of these can be the target"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}
