package exchange

import (
	"archive/zip"
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// What CVAT exports, as its documentation shows it.
func TestCVAT(t *testing.T) {
	root, d := write(t)
	out := export(t, CVAT, queried(t, d, false), root, d, Open, false)
	var constructor []struct{ Name, Type string }
	text, err := os.ReadFile(filepath.Join(out, "labels.json"))
	if err != nil || json.Unmarshal(text, &constructor) != nil || len(constructor) != 3 || constructor[1].Name != classes[1] || constructor[1].Type != "tag" {
		t.Errorf("%v, labels.json %s", err, text)
	}
	z, err := zip.OpenReader(filepath.Join(out, "images.zip"))
	if err != nil || len(z.File) != 6 || z.File[2].Name != images[2] {
		t.Fatalf("%v, images.zip", err)
	}
	z.Close()
	if _, err := os.Stat(filepath.Join(out, "annotations.zip")); err == nil {
		t.Error("there are annotations of nothing")
	}

	file := func(id string) string {
		data := fatal.Get(os.ReadFile(filepath.Join(root, id)))(t)
		return string(data)
	}
	archive := func(files map[string]string) string {
		name := filepath.Join(t.TempDir(), "a.zip")
		f := fatal.Get(os.Create(name))(t)
		defer f.Close()
		w := zip.NewWriter(f)
		for name, text := range files {
			e := fatal.Get(w.Create(name))(t)
			io.WriteString(e, text)
		}
		fatal.If(t, w.Close())
		return name
	}
	xmlFile := func(body string) string {
		name := filepath.Join(t.TempDir(), "annotations.xml")
		fatal.If(t, os.WriteFile(name, []byte(`<?xml version="1.0" encoding="utf-8"?>`+"\n<annotations>\n<version>1.1</version>\n"+body+"\n</annotations>\n"), 0o666))
		return name
	}
	var escaped strings.Builder
	xml.EscapeText(&escaped, []byte(classes[1]))
	for name, in := range map[string]string{
		"ImageNet with images": archive(map[string]string{"cat/cat_1.png": file("south/1.png"), "=cmd|calc/=cmd|calc_x.png": file("north/2.png")}),
		"Ultralytics":          archive(map[string]string{"train/cat/x.png": file("south/1.png"), "train/=cmd|calc/y.png": file("north/2.png"), "train/labels.json": "{}"}),
		"labels only":          archive(map[string]string{"synsets.txt": strings.Join(classes, "\n"), "train.txt": "\"south/1\".png 0\nnorth/2.png 2\n\nnorth/1.png\n"}),
		"CVAT for images": xmlFile(`<image id="0" name="south/1.png" width="4" height="4">
<tag label="cat" source="manual"></tag></image><image id="1" name="north/1.png" width="4" height="4"></image>
<image id="2" name="north/2.png" width="4" height="4"><tag label="=cmd|calc" source="manual"></tag></image>`),
	} {
		if got := imported(t, CVAT, in, d); got != "north/2.png==cmd|calc; south/1.png=cat" {
			t.Errorf("%s: %s", name, got)
		}
	}
	for want, in := range map[string]string{
		`train.txt:2: "north/2.png" has label "7"`:         archive(map[string]string{"synsets.txt": "cat\ndog", "train.txt": "north/1.png 0\nnorth/2.png 7\n"}),
		`train.txt:1: "north/2.png" has 2 labels`:          archive(map[string]string{"synsets.txt": "cat\ndog", "train.txt": "north/2.png 0 1\n"}),
		`annotations.xml:4: a.png has 2 classes, cat, dog`: xmlFile(`<image name="a.png"><tag label="cat"/><tag label="dog"/></image>`),
		`annotations.xml:4: XML syntax error`:              xmlFile(`<image name="a.png">`),
		"there is no label in it":                          archive(map[string]string{"readme.md": "x"}),
		"lies in no class folder":                          archive(map[string]string{"x.png": file("north/1.png")}),
	} {
		_, err := read(t, CVAT, in, d)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
