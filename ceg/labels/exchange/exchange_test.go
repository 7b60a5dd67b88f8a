package exchange

import (
	"archive/zip"
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

var classes = []string{"cat", `dog, "big" & <wild>`, "=cmd|calc"}

// images are the IDs of a small data set: names repeat, and some are hostile.
var images = []string{"north/1.png", "north/2.png", "north/=cmd|calc.png", "north/a b+c&d=#é%41.png", "south/1.png", "south/sub'q/2.png", "south/cat/3.png"}

// write makes the data set, whose images are all different but for the last two.
func write(t *testing.T) (root string, d *datasets.Dataset) {
	t.Helper()
	root = filepath.Join(t.TempDir(), "photos")
	for i, id := range images {
		path := filepath.Join(root, filepath.FromSlash(id))
		fatal.If(t, os.MkdirAll(filepath.Dir(path), 0o777))
		f := fatal.Get(os.Create(path))(t)
		m := image.NewGray(image.Rect(0, 0, 4, 4))
		m.SetGray(1, 1, color.Gray{Y: uint8(20 * (i + 1))})
		fatal.If(t, png.Encode(f, m))
		f.Close()
	}
	d, _ = fatal.Get2(datasets.Open("folder", root, datasets.Options{Classes: append([]string{"sub'q"}, classes...)}))(t)
	d.Classes = d.Classes[1:]
	return root, d
}

func openLedger(t *testing.T, d *datasets.Dataset) *labels.Ledger {
	t.Helper()
	l := fatal.Get(labels.Open(t.TempDir(), classes, labels.Options{Domain: labels.DomainIn(d)}))(t)
	t.Cleanup(func() { l.Close() })
	return l
}

func matcher(t *testing.T, d *datasets.Dataset) *Matcher {
	return NewMatcher(d, func() ([]string, error) { return datasets.Digests(t.Context(), d, t.TempDir()) })
}

// labelled holds the labels of the tests, by image.
var labelled = map[string]string{images[0]: classes[1], images[2]: classes[0], images[3]: classes[2], images[4]: classes[0], images[5]: classes[1]}

// queried returns a ledger with queries, and with their labels if withLabels is true.
func queried(t *testing.T, d *datasets.Dataset, withLabels bool) *labels.Ledger {
	l := openLedger(t, d)
	var list []labels.Question
	for i, id := range images[:6] {
		list = append(list, labels.Question{ID: id, QueryInfo: &labels.QueryInfo{Scores: map[string]float64{"s_u": 0.5}, Predicted: classes[i%3], Probability: 0.25, Model: "run@3"}})
	}
	fatal.Get(l.Query("run", 2, list))(t)
	for _, id := range images[:6] {
		if class := labelled[id]; class != "" && withLabels {
			fatal.Get(l.Append(labels.Event{Kind: labels.Labelled, ID: id, Class: class, By: "ann", Seconds: 1.5}))(t)
		}
	}
	return l
}

func export(t *testing.T, f Format, l *labels.Ledger, root string, d *datasets.Dataset, which Which, rest bool) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	var items []Item
	l.View(func(s *labels.State) { items = Items(d, datasets.Truth{}, s, which, rest) })
	o := Options{Data: d, Files: os.DirFS(root), Classes: classes, ImageFolder: "photos"}
	fatal.Get(Write(t.Context(), f, out, items, o))(t)
	fatal.Says(t, fatal.Err(Write(t.Context(), f, out, items, o)), "exists already")
	return out
}

// read reads a file strictly, down to its events.
func read(t *testing.T, f Format, name string, d *datasets.Dataset) ([]labels.Event, error) {
	t.Helper()
	im, err := Read(t.Context(), f, name, ReadOptions{Classes: classes, Strict: true, By: "x"})
	if err != nil {
		return nil, err
	}
	return im.Events(matcher(t, d))
}

// imported imports a file into an empty ledger and returns "ID=class" of its labels. It checks
// that a second import changes nothing.
func imported(t *testing.T, f Format, name string, d *datasets.Dataset) string {
	t.Helper()
	im := fatal.Get(Read(t.Context(), f, name, ReadOptions{Classes: classes, Strict: true, By: "somebody"}))(t)
	events := fatal.Get(im.Events(matcher(t, d)))(t)
	l := openLedger(t, d)
	for n := range 2 {
		done := fatal.Get(l.Import(events))(t)
		if n == 1 && len(done.New) > 0 {
			t.Errorf("the second import has brought %+v", done.New)
		}
	}
	var list []string
	l.View(func(s *labels.State) {
		for _, v := range s.Labels() {
			list = append(list, v.ID+"="+v.Class)
		}
		for _, v := range s.With(labels.IsSkipped) {
			list = append(list, v.ID+" skipped")
		}
		for _, v := range s.With(labels.IsBad) {
			list = append(list, v.ID+" bad")
		}
	})
	slices.Sort(list)
	return strings.Join(list, "; ")
}

// wantLabelled describes the labels.
func wantLabelled() string {
	var list []string
	for id, class := range labelled {
		list = append(list, id+"="+class)
	}
	slices.Sort(list)
	return strings.Join(list, "; ")
}

func TestRoundTrips(t *testing.T) {
	root, d := write(t)
	for _, f := range []Format{CSV, CVAT} {
		out := export(t, f, queried(t, d, true), root, d, Labelled, false)
		if f == CVAT {
			out = filepath.Join(out, "annotations.zip")
		}
		if got := imported(t, f, out, d); got != wantLabelled() {
			t.Errorf("%s: %s\nwant %s", f, got, wantLabelled())
		}
	}
}

// Class folders hold every class that a folder can be called by.
func TestFolder(t *testing.T) {
	root, d := write(t)
	out := export(t, Folder, queried(t, d, true), root, d, All, true)
	if got := imported(t, Folder, out, d); got != wantLabelled() {
		t.Errorf("%s\nwant %s", got, wantLabelled())
	}
	again, truth, err := datasets.Open("folder", out, datasets.Options{})
	if err != nil || again.Len() != len(images) || truth.Known() != len(labelled) {
		t.Fatalf("as a data set: %v, %d images, %d known", err, again.Len(), truth.Known())
	}
	// Others rename files, and put them elsewhere: the content tells.
	other := t.TempDir()
	for i, id := range images[:2] {
		data := fatal.Get(os.ReadFile(filepath.Join(root, id)))(t)
		dir := filepath.Join(other, "train", "cat")
		fatal.If(t, os.MkdirAll(dir, 0o777))
		fatal.If(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("1_png.rf.%d.png", i)), data, 0o666))
	}
	if got := imported(t, Folder, other, d); got != "north/1.png=cat; north/2.png=cat" {
		t.Error(got)
	}
}

func TestCSV(t *testing.T) {
	root, d := write(t)
	out := export(t, CSV, queried(t, d, false), root, d, Open, true)
	text := fatal.Get(os.ReadFile(out))(t)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 8 || lines[0] != strings.Join(csvColumns, ",") {
		t.Fatalf("questions:\n%s", text)
	}
	if !strings.HasPrefix(lines[3], "north/=cmd|calc.png,,,,,,north,2,") || !strings.HasSuffix(lines[3], ",'=cmd|calc,0.25") {
		t.Errorf("line %q", lines[3])
	}
	// Questions that nobody has answered are no answers; then somebody fills some in.
	fatal.Says(t, fatal.Err(read(t, CSV, out, d)), "there is no label in it; looked for rows with a class in the column label")
	file := filepath.Join(t.TempDir(), "a.csv")
	put := func(text string) {
		fatal.If(t, os.WriteFile(file, []byte(text), 0o666))
	}
	put("\ufeffid;label;flag;annotator;at\r\nnorth/1.png;'=cmd|calc;;;\r\n.\\south\\1.png;cat;unsure;bob;2026-01-02T03:04:05Z\r\nnorth/2.png;;skipped;bob;\r\nnorth/=cmd|calc.png;;bad;bob;\r\nsouth/cat/3.png;;;;\r\n")
	if got := imported(t, CSV, file, d); got != "north/1.png==cmd|calc; north/2.png skipped; north/=cmd|calc.png bad; south/1.png=cat" {
		t.Error(got)
	}
	for _, c := range []struct{ text, want string }{
		{"id,class\n", "there is no label in it"},
		{"id,kind\nnorth/1.png,cat\n", ":1: the columns are"},
		{"", "it is empty"},
		{"id,label\nnorth/1.png,cat\nnorth/1.png\n", ":3: it has 1 fields, want 2"},
		{"id,label\nnorth/1.png,cow\n", `:2: class "cow" is none of cat`},
		{"id,label\n../../etc/passwd,cat\n", `:2: "../../etc/passwd" is no image`},
		{"id,label\nnorth/9.png,cat\n", `:2: "north/9.png" is no image`},
		{"id,label,seconds\nnorth/1.png,cat,NaN\n", `:2: seconds is "NaN"`},
		{"id,label,at\nnorth/1.png,cat,yesterday\n", `:2: the time is "yesterday"`},
		{"id,label,flag\nnorth/1.png,cat,odd\n", `:2: flag "odd"`},
	} {
		put(c.text)
		_, err := read(t, CSV, file, d)
		if err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", c.text, err, c.want)
		}
	}
}

func TestMatch(t *testing.T) {
	_, d := write(t)
	m := matcher(t, d)
	sum := fatal.Get(d.Digest(1))(t)
	for _, c := range []struct {
		a    Label
		want string
	}{
		{Label{ID: "north/2.png", Digest: "ff"}, "error north/2.png has another content"},
		{Label{ID: "south/1.png", Digest: sum}, "north/2.png"},
		{Label{Path: "2.png", Digest: sum}, "north/2.png"},
		{Label{ID: "gone.png", Digest: strings.ToUpper(sum)}, "north/2.png"},
		{Label{Path: "/upload/3/photos/north/2.png"}, "north/2.png"},
		{Label{Path: "photos/north/dog/2.png", Class: "dog"}, "north/2.png"},
		{Label{Path: "photos/north/dog/2.png", Class: "cat"}, `error "photos/north/dog/2.png" is no image`},
		{Label{Path: "3.png"}, "south/cat/3.png"},
		{Label{Path: "elsewhere/3.png"}, `error "elsewhere/3.png" is no image`},
		{Label{Path: "1.png"}, `error "1.png" fits 2 images`},
		{Label{Path: "/data/upload/4/0a1b2c3d-3.png"}, "south/cat/3.png"},
		{Label{Path: "/data/upload/4/0a1b2c3d-1.png"}, `error "1.png": 2 images of the data set are called so`},
		{Label{Path: "nothing.png"}, `error "nothing.png" is no image`},
		{Label{ID: "../../etc/passwd"}, `error "../../etc/passwd" is no image`},
		{Label{Digest: "00"}, "error the image of digest 00 is no image"},
	} {
		id, err := m.Match(c.a)
		if err != nil {
			id = "error " + err.Error()
		}
		if !strings.HasPrefix(id, c.want) {
			t.Errorf("%+v is %s, want %s", c.a, id, c.want)
		}
	}
}

func TestLinkOut(t *testing.T) {
	root, d := write(t)
	dir := t.TempDir()
	fatal.If(t, os.MkdirAll(filepath.Join(dir, "cat"), 0o777))
	if err := os.Symlink(filepath.Join(root, images[0]), filepath.Join(dir, "cat", "1.png")); err != nil {
		t.Skip(err)
	}
	fatal.Says(t, fatal.Err(read(t, Folder, dir, d)), "cat/1.png")
}

// Names that CVAT cannot hold are left out of its archives alone.
func TestWritable(t *testing.T) {
	items := []Item{{Image: labels.Image{ID: "a/1.png"}}, {Image: labels.Image{ID: `site "b"/2.png`}}, {Image: labels.Image{ID: "a/3.p g"}}, {Image: labels.Image{ID: "a\n/4.png"}}}
	if fit, left := Writable(CVAT, items); len(fit) != 1 || fit[0].ID != "a/1.png" || len(left) != 3 {
		t.Errorf("%+v, %v", fit, left)
	}
	if fit, left := Writable(Folder, items); len(fit) != len(items) || left != nil {
		t.Errorf("%+v, %v", fit, left)
	}
	if _, err := Write(t.Context(), CVAT, filepath.Join(t.TempDir(), "out"), items, Options{}); err == nil {
		t.Error("written")
	}
}

func TestUsedNames(t *testing.T) {
	u := newUsed()
	var got []string
	for range 3 {
		got = append(got, u.name("a/x.png", "0123456789"))
	}
	got = append(got, u.name("a/X.png", "ffffffffff"))
	if want := []string{"a/x.png", "a/x-01234567.png", "a/x-01234567-1.png", "a/x-ffffffff.png"}; !slices.Equal(got, want) && got[3] != "a/X-ffffffff.png" {
		t.Errorf("%q, want %q", got, want)
	}
}

// FuzzRead: whatever a file holds, reading it ends with answers or an error.
func FuzzRead(f *testing.F) {
	f.Add(fatal.Get(os.ReadFile(filepath.Join("testdata", "label-studio.json")))(f))
	f.Add([]byte("id,label\nnorth/1.png,cat\n"))
	f.Add([]byte(`<annotations><image name="a"><tag label="cat"/></image></annotations>`))
	f.Add([]byte("\"a b\".jpg 0\n"))
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for name, text := range map[string]string{"synsets.txt": "cat\ndog\n", "default.txt": "a.jpg 0\n", "cat/cat_b.jpg": "\xff\xd8\xff"} {
		w := fatal.Get(z.Create(name))(f)
		io.WriteString(w, text)
	}
	fatal.If(f, z.Close())
	f.Add(archive.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		for _, name := range []string{"x.json", "annotations.xml", "default.txt", "synsets.txt", "x.csv", "x.zip"} {
			fatal.If(t, os.WriteFile(filepath.Join(dir, name), data, 0o666))
		}
		for _, in := range []struct {
			f    Format
			name string
		}{{CSV, "x.csv"}, {LabelStudio, "x.json"}, {CVAT, "annotations.xml"}, {CVAT, "x.zip"}, {Folder, "."}, {COCO, "x.json"}, {COCO, "x.zip"}} {
			im, err := Read(t.Context(), in.f, filepath.Join(dir, in.name), ReadOptions{Classes: []string{"cat"}})
			if err != nil {
				continue
			}
			for _, a := range im.Labels {
				if a.Where == "" || a.ID+a.Path+a.Digest == "" && in.f != LabelStudio && in.f != CVAT {
					t.Fatalf("%s: answer %+v", in.f, a)
				}
			}
		}
		os.Remove(filepath.Join(dir, "annotations.xml"))
		Read(t.Context(), CVAT, dir, ReadOptions{})
	})
}

// "None of these" of a spreadsheet and of Label Studio marks an image as the labelling page's key 0
// does, comes back in both formats, and is a class where it is one of the classes.
func TestNoneOfThese(t *testing.T) {
	root, d := write(t)
	put := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		fatal.If(t, os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	for f, name := range map[Format]string{
		CSV: put("a.csv", "id,label\nnorth/1.png,None of these\nsouth/1.png,cat\n"),
		LabelStudio: put("a.json", `[{"data":{"ledg_id":"north/1.png"},"annotations":[{"result":[{"from_name":"label","to_name":"image","type":"choices","value":{"choices":["None of these"]}}]}]},
			{"data":{"ledg_id":"south/1.png"},"annotations":[{"result":[{"from_name":"label","to_name":"image","type":"choices","value":{"choices":["cat"]}}]}]}]`),
	} {
		events, err := read(t, f, name, d)
		if err != nil || len(events) != 2 || events[0].Kind != labels.None || events[0].Class != "" || events[1].Class != "cat" {
			t.Fatalf("%s: %+v, %v", f, events, err)
		}
		l := openLedger(t, d)
		fatal.Get(l.Import(events))(t)
		l.View(func(s *labels.State) {
			if all, _, _ := s.Count(); all.None != 1 || all.Labelled != 1 {
				t.Errorf("%s: %+v", f, all)
			}
		})
		if again, err := read(t, CSV, export(t, CSV, l, root, d, All, false), d); err != nil || len(again) != 2 || again[0].Kind != labels.None {
			t.Errorf("%s as CSV: %+v, %v", f, again, err)
		}
		tasks, err := os.ReadFile(filepath.Join(export(t, LabelStudio, l, root, d, All, false), "tasks-001.json"))
		if err != nil || !strings.Contains(string(tasks), `"choices":["None of these"]`) {
			t.Errorf("%s as tasks: %s, %v", f, tasks, err)
		}
	}
	if kind, class := NoneOf(labels.Labelled, "None of these", []string{"cat", "none of these"}); kind != labels.Labelled || class != "none of these" {
		t.Errorf("at a site: %s %q", kind, class)
	}
	if config := StudioConfig(classes); !strings.Contains(config, `<Choice value="None of these"/>`) {
		t.Error(config)
	}
}
