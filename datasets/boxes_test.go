package datasets

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// boxFolder has two photos of 40 x 20 pixels at two sites, and a detector's file, whose boxes are fractions.
func boxFolder(t *testing.T, detections string) (root, file string) {
	t.Helper()
	root = t.TempDir()
	for _, name := range []string{"north/a.png", "north/b.png", "south/c.png"} {
		m := rgb.New(40, 20)
		for i := range m.Pix {
			m.Pix[i] = uint8(i)
		}
		fatal.If(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o777))
		fatal.If(t, os.WriteFile(filepath.Join(root, name), pngFile(t, m).Data, 0o666))
	}
	file = filepath.Join(t.TempDir(), "md.json")
	fatal.If(t, os.WriteFile(file, []byte(detections), 0o666))
	return root, file
}

const twoBoxes = `{"images": [
 {"file": "C:\\cards\\north\\a.png", "detections": [{"category": 1, "conf": 0.9, "bbox": [0.5, 0.25, 0.25, 0.5]}, {"category": "1", "conf": 0.5, "bbox": [0, 0, 0.1, 0.2]},
  {"category": "1", "conf": 0.1, "bbox": [0, 0, 1, 1]}, {"category": "2", "conf": 0.9, "bbox": [0, 0, 1, 1]}]},
 {"file": "C:\\cards\\north\\b.png", "failure": "Failure image access", "detections": null},
 {"file": "C:\\cards\\south\\c.png", "detections": [{"category": "1", "conf": 0.8, "bbox": [0.9, 0.5, 0.1, 0.5]}]}],
 "detection_categories": {"1": "animal", "2": "person"}, "info": {"format_version": "1.3"}}`

func TestBoxes(t *testing.T) {
	root, file := boxFolder(t, twoBoxes)
	labels := []Label{{ID: "north/a.png#0,0,0.1,0.2", Class: "boar"}, {ID: "north/a.png", Class: "deer"}, {ID: "south/c.png", Class: "deer"}}
	d, truth := fatal.Get2(Open("folder", root, Options{Boxes: &Boxes{File: file, Score: 0.2}, Labels: labels, Layout: WithoutClasses, Decoding: rgb.Photo}))(t)
	var got []string
	for i, e := range d.Examples {
		got = append(got, fmt.Sprint(e.ID, " ", d.Classes[truth.Class(i)], " ", d.GroupNames[d.Groups[i]]))
	}
	want := []string{"north/a.png#0,0,0.1,0.2 boar north/a.png", "north/a.png#0.5,0.25,0.25,0.5 deer north/a.png", "south/c.png#0.9,0.5,0.1,0.5 deer south/c.png"}
	if !slices.Equal(got, want) {
		t.Errorf("items %q, want %q", got, want)
	}
	if len(d.Skipped) != 1 || !strings.Contains(d.Skipped[0].Reason, "Failure image access") || !strings.Contains(strings.Join(d.Notes, "\n"), "3 boxes of animal") {
		t.Errorf("skipped %v, notes %q", d.Skipped, d.Notes)
	}
	// A crop is square: 1.3 times the longer side of 10 x 10 pixels, around the box's centre (25, 10).
	m := fatal.Get(d.Image(1))(t)
	whole := fatal.Get(os.ReadFile(filepath.Join(root, "north", "a.png")))(t)
	stored := fatal.Get(rgb.Photo.Decode(t.Context(), whole))(t)
	if m.Width != 13 || m.Height != 13 || m.Pix[0] != stored.Pix[3*(4*40+19)] {
		t.Errorf("crop of %d x %d that begins with %d, want 13 x 13 and %d", m.Width, m.Height, m.Pix[0], stored.Pix[3*(4*40+19)])
	}
	// Two boxes of a file have digests of their own.
	if a, b := fatal.Get(d.Digest(0))(t), fatal.Get(d.Digest(1))(t); a == b {
		t.Error("two boxes have one digest")
	}
	for _, c := range []struct {
		b    Boxes
		want int
	}{{Boxes{Score: 0.85}, 1}, {Boxes{Score: 0.2, Most: 1}, 2}, {Boxes{Score: 0.2, Side: 5}, 2}, {Boxes{Score: 0.05, Classes: []string{"animal", "person"}}, 4}} {
		c.b.File = file
		d, _ := fatal.Get2(Open("folder", root, Options{Boxes: &c.b, Layout: WithoutClasses}))(t)
		if d.Len() != c.want {
			t.Errorf("%+v: %d items, want %d", c.b, d.Len(), c.want)
		}
	}
	for want, b := range map[string]Boxes{"no boxes of class": {File: file, Classes: []string{"fox"}}, "no image has a box": {File: file, Score: 0.99}} {
		if _, _, err := Open("folder", root, Options{Boxes: &b, Layout: WithoutClasses}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q", b, err, want)
		}
	}
	// Of a file without animals nothing else counts, and no image is no error.
	persons := Boxes{File: filepath.Join(t.TempDir(), "persons.json"), Score: 0.2}
	fatal.If(t, os.WriteFile(persons.File, []byte(strings.ReplaceAll(strings.ReplaceAll(twoBoxes, `"category": 1,`, `"category": 2,`), `"category": "1"`, `"category": "2"`)), 0o666))
	if of := fatal.Get(persons.Find(os.DirFS(root), root, []string{"south/c.png"}))(t); of.Items[0] != nil || !strings.Contains(of.Note, "0 boxes of animal") {
		t.Errorf("persons are items: %v, %s", of.Items, of.Note)
	}
	fatal.Get(persons.Find(os.DirFS(root), root, nil))(t)
	if _, err := rgb.New(20_000, 10).Crop(rgb.Box{W: 1, H: 1}); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("a crop of 26,000 x 26,000 pixels: %v", err)
	}
	// People's boxes have classes that are labels, all of them.
	drawn := filepath.Join(t.TempDir(), "cvat.xml")
	fatal.If(t, os.WriteFile(drawn, []byte(`<annotations><image id="0" name="north/a.png" width="40" height="20"><box label="deer" xtl="1" ytl="2" xbr="9" ybr="9"/><box label="animal" xtl="20" ytl="2" xbr="30" ybr="9"/></image>
		<image id="1" name="south/c.png" width="40" height="20"><box label="" xtl="1" ytl="2" xbr="9" ybr="9"/></image></annotations>`), 0o666))
	d, truth = fatal.Get2(Open("folder", root, Options{Boxes: &Boxes{File: drawn, Labels: true}, Layout: WithoutClasses}))(t)
	if !slices.Equal(d.Classes, []string{"animal", "deer"}) || d.Len() != 3 || truth.Class(0) != 1 || truth.Class(1) != 0 || truth.Knows(2) {
		t.Errorf("%q, %v, %d known", d.Classes, d.Examples, truth.Known())
	}
	fatal.If(t, os.WriteFile(drawn, []byte(`<annotations><image id="0" name="north/a.png" width="80" height="40"><box label="deer" xtl="1" ytl="2" xbr="9" ybr="9"/></image></annotations>`), 0o666))
	if _, _, err := Open("folder", root, Options{Boxes: &Boxes{File: drawn}, Layout: WithoutClasses}); err == nil || !strings.Contains(err.Error(), "has 80 x 40 there, and upright 40 x 20 here") {
		t.Errorf("boxes of larger images: %v", err)
	}
	other := filepath.Join(t.TempDir(), "boxes.csv")
	fatal.If(t, os.WriteFile(other, []byte("path,x,y,w,h\nelsewhere/z.png,0,0,1,1\n"), 0o666))
	if _, _, err := Open("folder", root, Options{Boxes: &Boxes{File: other}, Layout: WithoutClasses}); err == nil || !strings.Contains(err.Error(), "elsewhere/z.png") {
		t.Errorf("boxes of other images: %v", err)
	}
}

func TestEvents(t *testing.T) {
	at := func(text string) time.Time {
		v, ok := ParseTime(text)
		if !ok {
			t.Fatalf("no time in %q", text)
		}
		return v
	}
	ids := []string{"a/1.jpg", "a/2.jpg", "a/3.jpg", "b/1.jpg", "b/2.jpg", "b/3.jpg"}
	times := []time.Time{at("2026:05:01 10:00:00"), at("2026-05-01 10:01:00"), at("2026-05-01T10:02:01+02:00"), at("2026-05-01 10:00:00"), at("1970-01-01 00:00:00"), {}}
	events, notes := Events(ids, times, time.Minute)
	if events[0] != "a/2026-05-01T10-00-00" || events[0] != events[1] || events[1] == events[2] || events[3] == events[0] || events[5] != "" {
		t.Errorf("events %q", events)
	}
	text := strings.Join(notes, "\n")
	for _, want := range []string{"4 events of 5 images", "1 image without a time", "the clock of b was not set: 1 of 2", "the clock of b jumps 1 time"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
	// A camera begins a new folder when one is full; other cameras' folders are others.
	ids = []string{"c/100RECNX/9999.jpg", "c/101RECNX/1.jpg", "c/100EK113/2.jpg", "20260501/3.jpg", "20160501/4.jpg"}
	events, _ = Events(ids, slices.Repeat(times[:1], 5), time.Minute)
	if events[0] != "c/100RECNX/2026-05-01T10-00-00" || events[1] != events[0] || events[2] == events[0] || events[3] == events[4] {
		t.Errorf("events of numbered folders %q", events)
	}
	for name, want := range map[string]string{"IMG_20260501_101112.jpg": "2026-05-01 10:11:12", "cam1 2026-05-01 10-11-12.JPG": "2026-05-01 10:11:12", "DSC_12345678901234.jpg": "", "IMG_0001.JPG": ""} {
		v, ok := timeOfName(name)
		if ok != (want != "") || ok && v.Format(time.DateTime) != want {
			t.Errorf("%s: %v %v, want %q", name, v, ok, want)
		}
	}
}
