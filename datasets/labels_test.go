package datasets

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// mixedFolder has images with and without class folders.
func mixedFolder(t testing.TB) fstest.MapFS {
	return pictures(t, "north/1.png", "north/=cmd|calc.png", "north/_unlabeled/2.png", "south/dog/1.png", "south/dog/2.png", "south/dog/3.png", "south/a.png")
}

func TestFolderUnlabelled(t *testing.T) {
	fsys := mixedFolder(t)
	d, truth, err := Folder(fsys, Options{Labels: []Label{{ID: "north/=cmd|calc.png", Class: "cat"}, {ID: `.\south\a.png`, Class: "dog", Where: "x.csv:3"}}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"north/1.png north ? train", "north/=cmd|calc.png north cat train", "north/_unlabeled/2.png north ? train",
		"south/a.png south dog train", "south/dog/1.png south dog train", "south/dog/2.png south dog train", "south/dog/3.png south dog train",
	}
	if got := describe(d, truth); !slices.Equal(got, want) {
		t.Errorf("examples:\n%q\nwant:\n%q", got, want)
	}
	if !slices.Equal(d.Classes, []string{"cat", "dog"}) || truth.Known() != 5 || truth.Knows(0) || truth.Class(0) != Unknown {
		t.Errorf("classes %q, %d known", d.Classes, truth.Known())
	}

	// The order of given classes stays, and one may have no image.
	d, truth, err = Folder(fsys, Options{Classes: []string{"zebra", "dog", "ant"}})
	if err != nil || !slices.Equal(d.Classes, []string{"zebra", "dog", "ant"}) || truth.Class(len(d.Examples)-1) != 1 {
		t.Errorf("classes %q, %v", d.Classes, err)
	}
	// No name at all is enough to look at the images.
	d, truth, err = Folder(pictures(t, "north/1.png", "south/2.png"), Options{})
	if err != nil || len(d.Classes) != 0 || d.Len() != 2 || truth.Known() != 0 {
		t.Errorf("%v", err)
	}
	// A folder without images names a class, while there are images that may be of it.
	named := pictures(t, "north/1.png")
	named["north/dog"] = &fstest.MapFile{Mode: fs.ModeDir}
	if d, _, err = Folder(named, Options{}); err != nil || !slices.Equal(d.Classes, []string{"dog"}) {
		t.Errorf("classes %q, %v", d.Classes, err)
	}
}

// The only label of a class is trained on where labels are few, and not where every image
// lies in a class folder.
func TestSplitFewLabels(t *testing.T) {
	var names []string
	var list []Label
	for i := range 5 {
		names = append(names, fmt.Sprintf("north/cat/%d.png", i), fmt.Sprintf("north/%d.png", i))
		list = append(list, Label{ID: names[2*i+1], Class: "cow"})
	}
	names = append(names, "north/dog/1.png", "north/owl/1.png", "north/owl/2.png")
	folders := pictures(t, slices.DeleteFunc(slices.Clone(names), func(n string) bool { return strings.Count(n, "/") < 2 })...)
	for _, c := range []struct {
		what string
		fsys fs.FS
		opts Options
		want string
	}{
		{"class folders", folders, Options{}, "cat 1, owl 1"},
		{"some without a class", pictures(t, names...), Options{}, "cat 1"},
		{"five labels", pictures(t, names...), Options{Labels: list}, "cat 1, cow 1"},
		{"four labels", pictures(t, names...), Options{Labels: list[:4]}, "cat 1"},
		{"a label in class folders", folders, Options{Labels: []Label{{ID: "north/dog/1.png", Class: "owl"}}}, "cat 1"},
	} {
		d, truth := fatal.Get2(Folder(c.fsys, c.opts))(t)
		val := make(map[string]int)
		for i, e := range d.Examples {
			if e.Split == Val {
				val[d.Classes[truth.Class(i)]]++
			}
		}
		var got []string
		for _, class := range slices.Sorted(maps.Keys(val)) {
			got = append(got, fmt.Sprintf("%s %d", class, val[class]))
		}
		if got := strings.Join(got, ", "); got != c.want {
			t.Errorf("%s: in validation are %s, want %s", c.what, got, c.want)
		}
	}
}

// Images that are labelled none of these, in any case, are left out, unless that is a class.
func TestFolderNoneOfThese(t *testing.T) {
	fsys := pictures(t, "north/cat/1.png", "north/cat/2.png", "north/3.png", "south/4.png", "south/5.png")
	list := []Label{{ID: "north/3.png", Class: "None of these"}, {ID: "north/cat/2.png", Class: "none of these"}, {ID: "south/4.png", Class: "dog"}}
	d, _, err := Folder(fsys, Options{Labels: list})
	if err != nil {
		t.Fatal(err)
	}
	want := []Skipped{{"north/3.png", isNone}, {"north/cat/2.png", isNone}}
	if !slices.Equal(d.Classes, []string{"cat", "dog"}) || len(d.Examples) != 3 || !slices.Equal(d.Skipped, want) {
		t.Errorf("classes %q, %d images, left out %v", d.Classes, len(d.Examples), d.Skipped)
	}
	d, _, err = Folder(fsys, Options{Labels: list[1:], Classes: []string{"cat", "dog", "none of these"}})
	if err != nil || len(d.Examples) != 5 || len(d.Skipped) != 0 {
		t.Errorf("a class: %+v, %v", d, err)
	}
	twice := append(list, Label{ID: "north/3.png", Class: "cat", Where: "l.csv:9"})
	fatal.Says(t, fatal.Err2(Folder(fsys, Options{Labels: twice})), `l.csv:9: north/3.png is "cat" here, but "none of these"`)
}

func TestFolderLabelErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		opts Options
		more string
		want []string
	}{
		{"class folder", Options{Classes: []string{"cat", "cow"}}, "", []string{"south/dog", `class "dog" is not one of the 2 classes: cat; cow`}},
		{"class of a label", Options{Classes: []string{"cat", "dog"}, Labels: []Label{{ID: "north/1.png", Class: "cow", Where: "l.csv:7"}}}, "",
			[]string{"l.csv:7: class \"cow\" is not one"}},
		{"image", Options{Labels: []Label{{ID: "north/9.png", Class: "cow", Where: "l.csv:7"}}}, "", []string{"l.csv:7: \"north/9.png\" is no image"}},
		{"escape", Options{Labels: []Label{{ID: "north/../../etc/passwd", Class: "cow", Where: "l.csv:7"}}}, "", []string{"is no image"}},
		{"two", Options{Labels: []Label{{ID: "north/1.png", Class: "cow", Where: "l.csv:7"}, {ID: "north/1.png", Class: "cat", Where: "l.csv:9"}}}, "",
			[]string{`l.csv:9: north/1.png is "cat" here, but "cow" at l.csv:7`}},
		{"newline", Options{Labels: []Label{{ID: "north/1.png", Class: "a,\nb"}}}, "", []string{`class "a,\nb" has a newline`}},
		{"classes", Options{Classes: []string{"cat", "cat"}}, "", []string{`class "cat" is there twice`}},
		{"newline in a folder", Options{}, "south/a,\nb/1.png", []string{"site south", `class "a,\nb" has a newline`}},
		{"newline in a domain", Options{}, "so\nuth/a/1.png", []string{`site folder "so\nuth" has a newline`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := mixedFolder(t)
			if c.more != "" {
				fsys[c.more] = fsys["north/1.png"]
			}
			_, _, err := Folder(fsys, c.opts)
			wantError(t, err, c.want...)
		})
	}
}

func TestCheckUnlabelled(t *testing.T) {
	fsys := mixedFolder(t)
	fsys["south/new\nline.png"] = fsys["north/1.png"]
	d, truth := fatal.Get2(Folder(fsys, Options{Labels: []Label{{ID: "south/dog/1.png", Class: "cat"}}}))(t)
	r := fatal.Get(Check(t.Context(), d, truth, nil))(t)
	const want = `folder: 8 images in 2 sites of 2 classes (3 labelled: 3 train, 0 val; 5 unlabelled)

            north  south  all
cat             -    1+0    1
dog             -    2+0    2
labelled        -    3+0    3
unlabelled      3      2    5

No validation images in south: a class needs 5 labelled images in a site before one of
them is held out for validation.

1 group of byte-identical images across sites:
  north/1.png = "south/new\nline.png"

1 image whose label is not its folder's:
  south/dog/1.png: it is in the folder of dog, but labelled cat
`
	if got := r.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A link that leads out of the data set is followed only with the option.
func TestLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	root, outside := onDisk(t, pictures(t, "north/1.png", "south/dog/1.png")), onDisk(t, pictures(t, "secret/x.png"))
	link := func(to, name string) {
		fatal.If(t, os.Symlink(to, filepath.Join(root, name)))
	}
	link(filepath.Join(outside, "secret", "x.png"), "north/out.png")
	link("../south/dog/1.png", "north/inside.png")
	link("../../"+filepath.Base(outside)+"/secret", "south/cat")
	link("nowhere", "north/broken.png")
	link(filepath.Join(outside, "secret"), "west")
	d, _, err := Open("folder", root, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, e := range d.Examples {
		ids = append(ids, e.ID)
	}
	if got := strings.Join(ids, " "); got != "north/1.png north/inside.png south/dog/1.png" {
		t.Errorf("images %s", got)
	}
	out := "a link out of the data set"
	want := []Skipped{{"north/broken.png", "a link to nothing that can be read"}, {"north/out.png", out}, {"south/cat", out}, {"west", out}}
	if !slices.Equal(d.Skipped, want) {
		t.Errorf("skipped %q, want %q", d.Skipped, want)
	}
	d, _, err = Open("folder", root, Options{FollowLinks: true})
	if err != nil || len(d.Domains) != 3 || !slices.Equal(d.Classes, []string{"cat", "dog"}) || d.Len() != 6 {
		t.Errorf("followed: %v, domains %q, %d images, %v", d, d.Domains, d.Len(), err)
	}
}

// labelsOf returns the labels of a table whose columns are found.
func labelsOf(path string) ([]Label, error) {
	t, err := ReadTable(path, ColumnNames{})
	return t.Labels, err
}

func TestReadTable(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, text, want string }{
		{"a.csv", "id,label,seconds\na/1,cat,2\n\"a/2,\n\",\"horse, or pony\",\na/3,,\n", "a/1=cat@2 a/2,\n=horse, or pony@3"},
		{"bom.CSV", "\ufefflabel;by;id\r\ncat;ann;a/1\r\n", "a/1=cat@2"},
		{"tabs.tsv", "path\tClass\ra/1\tcat\r", "a/1=cat@2"},
		{"guard.csv", "id,label\n'=a/1,'=cmd|calc\n", "'=a/1==cmd|calc@2"},
		{"a.jsonl", `{"id":"a/1","label":"cat","more":[1]}` + "\n\n" + `{"id":"a/2"}` + "\n" + `{"id":"a/3","label":"dog"}`, "a/1=cat@1 a/3=dog@4"},
	} {
		path := filepath.Join(dir, c.name)
		fatal.If(t, os.WriteFile(path, []byte(c.text), 0o666))
		list := fatal.Get(labelsOf(path))(t)
		var got []string
		for _, l := range list {
			got = append(got, l.ID+"="+l.Class+"@"+strings.TrimPrefix(l.Where, path+":"))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %q, want %q", c.name, s, c.want)
		}
	}
	for _, c := range []struct{ name, text, want string }{
		{"a.txt", "x", "end in .csv, .tsv or .jsonl"},
		{"a.csv", "", ":1: it is empty"},
		{"a.csv", "id,kind\n", `:1: the columns are ["id" "kind"], want id (or path, filename) and label (or class), site or group`},
		{"a.csv", "x,id,label\n1,a/1\n", ":2: it has 2 fields, want 3"},
		{"a.csv", "id,label\na/1,\"cat\n", ":2: "},
		{"a.csv", "id,label\n,cat\n", ":2: it has no id"},
		{"a.csv", "id,label\na/1,ok\na/2,\"a,\nb\"\n", `:3: class "a,\nb" has a newline`},
		{"a.jsonl", `{"id":"a/1","label":"cat"}` + "\n{\n", ":2: "},
		{"a.jsonl", `{"label":"cat"}`, ":1: it has no id"},
		{"a.jsonl", `{"n":1,"event":"asked","id":"a/1"}`, ":1: it is an event of a ledger"},
		{"a.jsonl", `{"id":"a/1","label":3}`, ":1: json"},
	} {
		path := filepath.Join(dir, c.name)
		fatal.If(t, os.WriteFile(path, []byte(c.text), 0o666))
		_, err := ReadTable(path, ColumnNames{})
		wantError(t, err, c.want)
	}
}

func TestReadClasses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "classes.txt")
	fatal.If(t, os.WriteFile(path, []byte("\ufeffzebra\r\n\nhorse, or pony\n"), 0o666))
	for list, want := range map[string][]string{path: {"zebra", "horse, or pony"}, "b, a": {"b", "a"}} {
		if got, err := ReadClasses(list); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", list, got, err)
		}
	}
	for list, want := range map[string]string{"nofile.txt": "neither a file nor several", "a,,b": "no name", "a,a": "twice"} {
		_, err := ReadClasses(list)
		wantError(t, err, want)
	}
	os.WriteFile(path, []byte("a\nb\na\n"), 0o666)
	_, err := ReadClasses(path)
	wantError(t, err, path+":3:", "twice")
	var many strings.Builder
	for i := range 100_000 { // in linear time
		fmt.Fprintln(&many, "class", i)
	}
	os.WriteFile(path, []byte(many.String()), 0o666)
	begun := time.Now()
	if got, err := ReadClasses(path); err != nil || len(got) != 100_000 {
		t.Errorf("%d classes, %v", len(got), err)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("100,000 classes take %v", took)
	}
}

func TestGuard(t *testing.T) {
	for _, s := range []string{"", "cat", "=cmd|calc", "'=x", "''", "-1", "+1", "@x", "a=b", "'", "\tx"} {
		if g := Guard(s); Unguard(g) != s || g != "" && strings.ContainsRune("=+-@\t\r", rune(g[0])) {
			t.Errorf("%q is guarded as %q and comes back as %q", s, g, Unguard(g))
		}
	}
}

// FuzzLists reads anything as labels and as classes: accepted content is valid.
func FuzzLists(f *testing.F) {
	for _, text := range []string{"id,label\na/1.png,cat\n", "id;label\na/1.png;cat\n", `{"id":"a","label":"cat"}`, "\ufeffcat\r\ndog\n", "id,label\n\"a"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		for _, name := range []string{"x.csv", "x.jsonl"} {
			path := filepath.Join(dir, name)
			fatal.If(t, os.WriteFile(path, data, 0o666))
			list, err := labelsOf(path)
			for _, l := range list {
				if l.ID == "" || ValidClass(l.Class) != nil || !strings.HasPrefix(l.Where, path) {
					t.Errorf("%+v", l)
				}
			}
			if err != nil && !strings.Contains(err.Error(), path) {
				t.Errorf("%v does not name the file", err)
			}
			if names, err := ReadClasses(path); err == nil && ValidClasses(names) != nil {
				t.Errorf("classes %q", names)
			}
		}
	})
}

// A single site has no column of totals beside its own.
func TestReportOfOneSite(t *testing.T) {
	r := &Report{Name: "folder", Domains: []string{oneDomain}, Classes: []string{"cat", "dog"}, Counts: [][]Count{{{Train: 2, Val: 1}, {}}}, Unlabelled: []int{4}}
	want := "folder: 7 images in 1 site of 2 classes (3 labelled: 2 train, 1 val; 4 unlabelled)\n\n" +
		"            all\ncat         2+1\ndog           -\nlabelled    2+1\nunlabelled    4\n"
	if got := r.String(); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
