package exchange

import (
	"archive/zip"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

// peoplesPhotos are the images that the files in testdata/people are about.
func peoplesPhotos(t *testing.T) (root string, d *datasets.Dataset) {
	t.Helper()
	root = filepath.Join(t.TempDir(), "photos")
	for i, id := range []string{"north/cat/cat_0.jpg", "north/cat/cat_1.jpg", "north/cat/only here.jpg", "south/cat/cat_0.jpg", "south/dog/Bär.jpg"} {
		path := filepath.Join(root, filepath.FromSlash(id))
		fatal.If(t, os.MkdirAll(filepath.Dir(path), 0o777))
		f := fatal.Get(os.Create(path))(t)
		m := image.NewGray(image.Rect(0, 0, 4, 4))
		m.SetGray(1, 1, color.Gray{Y: uint8(20 * (i + 1))})
		fatal.If(t, png.Encode(f, m))
		f.Close()
	}
	d, _ = fatal.Get2(datasets.Open("folder", root, datasets.Options{Classes: []string{"cat", "dog"}}))(t)
	return root, d
}

// taken returns "ID=class" of the labels that are taken of a file, and what is left out.
func taken(t *testing.T, f Format, name string, d *datasets.Dataset, o ReadOptions) (labels string, left []string) {
	t.Helper()
	o.Classes = d.Classes
	im, err := Read(t.Context(), f, name, o)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	events, err := im.Events(matcher(t, d))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var list []string
	for _, e := range events {
		list = append(list, e.ID+"="+e.Class)
	}
	for _, err := range im.Left {
		left = append(left, strings.ReplaceAll(err.Error(), name, "FILE"))
	}
	slices.Sort(list)
	return strings.Join(list, "; "), left
}

// Exports of projects that ledg did not make: what fits is taken, and the rest is listed; with
// strict, it is an error.
func TestPeoplesFiles(t *testing.T) {
	t.Parallel()
	root, d := peoplesPhotos(t)
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		fatal.If(t, os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	hub := filepath.Join(root, "north", "cat", "metadata.csv")
	fatal.If(t, os.WriteFile(hub, []byte("file_name,label\ncat_1.jpg,cat\ncat_0.jpg,dog\n"), 0o666))
	const two = "north/cat/cat_0.jpg=cat; south/cat/cat_0.jpg=dog"
	people := func(name string) string { return filepath.Join("testdata", "people", name) }
	for _, c := range []struct {
		f          Format
		name       string
		want, left string
	}{
		{LabelStudio, people("uploads.json"), "north/cat/only here.jpg=cat", ""},
		{LabelStudio, people("two-questions.json"), "north/cat/cat_0.jpg=cat", ""},
		{LabelStudio, people("empty-annotation.json"), "north/cat/cat_0.jpg=cat", "FILE (task 2 of the file): the annotation of label-studio user 1 has 0 choices, want one"},
		{LabelStudio, put("quality.json", `[{"data":{"image":"north/cat/cat_0.jpg"},"annotations":[{"result":[{"type":"choices","from_name":"species","value":{"choices":["cat"]}},{"type":"choices","from_name":"quality","value":{"choices":["blurred"]}}]}]},
{"data":{"image":"north/cat/cat_1.jpg"},"annotations":[{"result":[{"type":"choices","from_name":"species","value":{"choices":["cow"]}}]}]},
{"data":{"notes":"seen at 5.30","photo":"C:\\photos\\south\\cat\\cat_0.jpg"},"annotations":[{"result":[{"type":"choices","from_name":"species","value":{"choices":["dog"]}}]}]}]`), two,
			`FILE (task 2 of the file): class "cow" is none of cat, dog`},
		{CSV, people("mac.csv"), two, ""},
		{CSV, people("tabs.csv"), "north/cat/cat_0.jpg=cat", ""},
		{CSV, people("head.csv"), "north/cat/cat_0.jpg=cat", ""},
		{CSV, hub, "north/cat/cat_0.jpg=dog; north/cat/cat_1.jpg=cat", ""},
		{CSV, put("paths.csv", "path;class\n/home/ann/photos/north/cat/cat_0.jpg;cat\nD:\\photos\\south\\cat\\cat_0.jpg;dog\ncat_0.jpg;cat\nhttps://example.org/north/cat/cat_1.jpg?size=2;cat\nnorth/gone.jpg;cat\n"),
			"north/cat/cat_0.jpg=cat; north/cat/cat_1.jpg=cat; south/cat/cat_0.jpg=dog",
			`FILE:4: "cat_0.jpg" fits 2 images, north/cat/cat_0.jpg; south/cat/cat_0.jpg: want the path from the data set's folder; FILE:6: "north/gone.jpg" is no image of the data set`},
		{CSV, put("same.csv", "path,class\na/cat_1.jpg,cat\ncat_1.jpg,dog\n/x/cat_1.jpg,cat\n"), "north/cat/cat_1.jpg=dog",
			`FILE:2: "a/cat_1.jpg" is no image of the data set; north/cat/cat_1.jpg has its name, but not its folders; FILE:4: "/x/cat_1.jpg" is no image of the data set; north/cat/cat_1.jpg has its name, but not its folders`},
		{CVAT, put("two.xml", `<annotations><image name="data/north/cat/cat_1.jpg"><tag label="cat"/></image>
<image name="images/north/cat/cat_1.jpg"><tag label="dog"/></image><image name="north/cat/cat_0.jpg"><tag label="cat"/></image></annotations>`), "north/cat/cat_0.jpg=cat",
			"FILE:1: data/north/cat/cat_1.jpg; images/north/cat/cat_1.jpg all look like north/cat/cat_1.jpg; FILE:2: data/north/cat/cat_1.jpg; images/north/cat/cat_1.jpg all look like north/cat/cat_1.jpg"},
		{CVAT, put("twice.xml", `<annotations><image name="C:\\photos\\north\\cat\\cat_0.jpg"><tag label="cat" source="manual"/><tag label="cat" source="auto"/></image></annotations>`), "north/cat/cat_0.jpg=cat", ""},
		{COCO, put("ids.json", `{"images": [{"id": "7", "file_name": "images\\2\\1a2b3c4d-only_here.jpg"}], "annotations": [{"image_id": 7, "category_id": 1}], "categories": [{"id": "1", "name": "cat"}]}`), "north/cat/only here.jpg=cat", ""},
		{COCO, put("bom.json", "\ufeff"+`{"images": [{"id": 7, "file_name": "north/cat/cat_0.jpg"}], "annotations": [{"image_id": 7, "category_id": 1}], "categories": [{"id": 1, "name": "cat"}]}`), "north/cat/cat_0.jpg=cat", ""},
		// The exact name is taken, whatever others look like; folders never contradict.
		{COCO, put("folders.json", `{"images": [{"id": 1, "file_name": "photos/north/cat/cat_0.jpg"}, {"id": 2, "file_name": "north/cat/cat_0.jpg"}, {"id": 3, "file_name": "east/cat/cat_1.jpg"}],
"annotations": [{"image_id": 1, "category_id": 1}, {"image_id": 2, "category_id": 2}, {"image_id": 3, "category_id": 1}], "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}]}`), "north/cat/cat_0.jpg=dog",
			`FILE (photos/north/cat/cat_0.jpg): "photos/north/cat/cat_0.jpg" is not taken for north/cat/cat_0.jpg, which has the name north/cat/cat_0.jpg in another line; FILE (east/cat/cat_1.jpg): "east/cat/cat_1.jpg" is no image of the data set; north/cat/cat_1.jpg has its name, but not its folders`},
		{CSV, put("several.csv", "path,class,annotator,at\nnorth/cat/cat_0.jpg,cat,,\nnorth/cat/cat_0.jpg,dog,,\nnorth/cat/cat_1.jpg,cat,ann,\nnorth/cat/cat_1.jpg,dog,bob,\nsouth/cat/cat_0.jpg,cat,ann,2026-01-01T00:00:00Z\nsouth/cat/cat_0.jpg,dog,ann,2026-01-02T00:00:00Z\n"),
			"north/cat/cat_1.jpg=cat; north/cat/cat_1.jpg=dog; south/cat/cat_0.jpg=cat; south/cat/cat_0.jpg=dog",
			"FILE:2: north/cat/cat_0.jpg has 2 classes, cat, dog, want one; FILE:3: north/cat/cat_0.jpg has 2 classes, cat, dog, want one"},
		{COCO, put("coco.json", `{"info": {}, "images": [{"id": 7, "file_name": "north/cat/cat_0.jpg"}, {"id": "s", "file_name": "south/cat/cat_0.jpg"}, {"id": 9, "file_name": "north/cat/cat_1.jpg"}],
"annotations": [{"image_id": 7, "category_id": 1, "bbox": [0,0,1,1]}, {"image_id": 7, "category_id": 1}, {"image_id": "s", "category_id": 2},
{"image_id": 9, "category_id": 1}, {"image_id": 9, "category_id": 2}, {"image_id": 9, "category_id": 5}, {"image_id": 11, "category_id": 2}],
"categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}]}`), two,
			"FILE (annotation 6): category_id 5 is none of the 2 categories; FILE (north/cat/cat_1.jpg): north/cat/cat_1.jpg has 2 classes, cat, dog, want one; FILE: 1 annotations are of an image_id that no image has"},
	} {
		got, left := taken(t, c.f, c.name, d, ReadOptions{})
		if got != c.want || strings.Join(left, "; ") != c.left {
			t.Errorf("%s: %s\nwant %s\nleft out: %s\nwant      %s", c.name, got, c.want, strings.Join(left, "; "), c.left)
		}
		im, err := Read(t.Context(), c.f, c.name, ReadOptions{Classes: d.Classes, Strict: true})
		if err == nil {
			_, err = im.Events(matcher(t, d))
		}
		if first, _, _ := strings.Cut(c.left, "; FILE"); (err != nil) != (c.left != "") || err != nil && strings.ReplaceAll(err.Error(), c.name, "FILE") != first {
			t.Errorf("%s: strict: %v, want %s", c.name, err, first)
		}
	}
}

// Which question counts is asked where two have the classes, and can be said.
func TestStudioQuestions(t *testing.T) {
	t.Parallel()
	_, d := peoplesPhotos(t)
	name := filepath.Join(t.TempDir(), "a.json")
	text := `[{"data":{"image":"north/cat/cat_0.jpg"},"annotations":[{"result":[{"type":"choices","from_name":"first","value":{"choices":["cat"]}},{"type":"choices","from_name":"second","value":{"choices":["dog"]}}]}]}]`
	fatal.If(t, os.WriteFile(name, []byte(text), 0o666))
	for question, want := range map[string]string{"first": "north/cat/cat_0.jpg=cat", "second": "north/cat/cat_0.jpg=dog"} {
		if got, _ := taken(t, LabelStudio, name, d, ReadOptions{Question: question}); got != want {
			t.Errorf("%s: %s, want %s", question, got, want)
		}
	}
	for question, want := range map[string]string{"": "the questions first, second have annotations with one of the classes: --question names", "third": `no question "third" in it, only first, second`} {
		fatal.Says(t, fatal.Err(Read(t.Context(), LabelStudio, name, ReadOptions{Classes: d.Classes, Question: question})), want)
	}
	fatal.Says(t, fatal.Err(Read(t.Context(), LabelStudio, name, ReadOptions{Classes: []string{"cow", "pig"}})), "none of first, second has an annotation with one of the classes, cow, pig")
}

// Archives that a Mac has packed again have a folder around all and files of its own.
func TestMacArchives(t *testing.T) {
	t.Parallel()
	_, d := peoplesPhotos(t)
	const junk = "\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X"
	for _, c := range []struct {
		f     Format
		files map[string]string
	}{
		{CVAT, map[string]string{"export/annotations.xml": `<annotations><image name="north/cat/cat_0.jpg"><tag label="cat"/></image></annotations>`, "__MACOSX/export/._annotations.xml": junk, "export/.DS_Store": junk}},
		{CVAT, map[string]string{"export/synsets.txt": "cat\ndog\n", "export/default.txt": "north/cat/cat_0.jpg 0\n", "export/._default.txt": junk, "__MACOSX/export/._synsets.txt": junk}},
		{CVAT, map[string]string{"._default.txt": junk, "synsets.txt": "cat\ndog\n", "default.txt": "north/cat/cat_0.jpg 0\n"}},
		{COCO, map[string]string{"x/annotations/instances.json": `{"images":[{"id":1,"file_name":"north/cat/cat_0.jpg"}],"annotations":[{"image_id":1,"category_id":1}],"categories":[{"id":1,"name":"cat"}]}`, "__MACOSX/x/annotations/._instances.json": junk, "x/annotations/._instances.json": junk}},
	} {
		name := filepath.Join(t.TempDir(), "a.zip")
		f := fatal.Get(os.Create(name))(t)
		z := zip.NewWriter(f)
		for entry, text := range c.files {
			w := fatal.Get(z.Create(entry))(t)
			fatal.Get(w.Write([]byte(text)))(t)
		}
		fatal.If(t, z.Close())
		f.Close()
		if got, left := taken(t, c.f, name, d, ReadOptions{Strict: true}); got != "north/cat/cat_0.jpg=cat" || left != nil {
			t.Errorf("%s %v: %s, %q", c.f, c.files, got, left)
		}
	}
}

// A file whose content is all ignored is an error that says what was looked for.
func TestNothingRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, c := range []struct {
		f    Format
		name string
		text string
		want string
	}{
		{CSV, "a.csv", "id,label\nnorth/1.png,\n", "looked for rows with a class"},
		{LabelStudio, "a.json", `[{"id":1,"data":{"image":"x.png"},"annotations":[]}]`, "looked for tasks with annotations"},
		{LabelStudio, "b.json", `[]`, "looked for tasks with annotations"},
		{CVAT, "a.xml", `<annotations><image name="x.png"/></annotations>`, "looked for annotations.xml with tags"},
		{COCO, "c.json", `{"images":[{"id":1,"file_name":"x.png"}]}`, "looked for annotations with image_id"},
		{COCO, "d.json", `[1]`, "it is no coco file"},
		{Folder, "tree/readme.txt", "x", "looked for images in class folders"},
	} {
		path := filepath.Join(dir, filepath.FromSlash(c.name))
		fatal.If(t, os.MkdirAll(filepath.Dir(path), 0o777))
		fatal.If(t, os.WriteFile(path, []byte(c.text), 0o666))
		if c.f == Folder {
			path = filepath.Dir(path)
		}
		if _, err := Read(t.Context(), c.f, path, ReadOptions{Classes: []string{"cat", "dog"}}); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}
