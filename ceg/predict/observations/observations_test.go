package observations

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/detections"
	"github.com/ledg-go/ledg/datasets/rgb"
)

const results = `{"images": [
 {"file": "c1\\a.jpg", "exif_metadata": {"Make": "X"}, "detections": [{"category": "1", "conf": 0.90, "bbox": [0.1, 0.2, 0.3, 0.4]}, {"category": "2", "conf": 0.8, "bbox": [0, 0, 0.1, 0.1]}, {"category": "1", "conf": 0.05, "bbox": [0, 0, 0.1, 0.1]}]},
 {"file": "c1\\b.jpg", "detections": []}, {"file": "c1\\c.jpg", "failure": "bad", "detections": null}],
 "detection_categories": {"1": "animal", "2": "person"}, "info": {"format_version": "1.3", "detector": "md"}}`

// predicted are the images of results with the class of their box, as they are read from a file.
func predicted(t *testing.T, file string) []*Unit {
	list := fatal.Get(detections.Read(file))(t)
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	return []*Unit{
		{Path: "c1/a.jpg", Class: "Vulpes vulpes", Probability: 0.75, Count: 1, Items: []Item{{Box: rgb.Box{X: 0.1, Y: 0.2, W: 0.3, H: 0.4}, Class: "Vulpes vulpes", Probability: 0.75}},
			Event: "c1/e", Time: at, Start: at, End: at.Add(time.Minute), Detected: &list.Images[0]},
		{Path: "c1/b.jpg", Class: "blank", Event: "c1/e", Time: at.Add(time.Minute), Start: at, End: at.Add(time.Minute), Detected: &list.Images[1]},
		{Path: "c1/c.jpg", Detected: &list.Images[2]},
	}
}

// MegaDetector's file keeps all that it had, and read and written again it is the same, byte for byte.
func TestMegaDetectorAgain(t *testing.T) {
	dir := t.TempDir()
	first, out, again := filepath.Join(dir, "md.json"), filepath.Join(dir, "out.json"), filepath.Join(dir, "again.json")
	fatal.If(t, os.WriteFile(first, []byte(results), 0o666))
	for _, step := range [][2]string{{first, out}, {out, again}} {
		fatal.Get(Write(MegaDetector, step[1], predicted(t, step[0]), Options{Boxes: &datasets.Boxes{File: step[0], Score: 0.2}, By: "ledg mine"}))(t)
	}
	text := string(fatal.Get(os.ReadFile(out))(t))
	if text != string(fatal.Get(os.ReadFile(again))(t)) {
		t.Error("its own export, read and written again, differs")
	}
	for _, want := range []string{`"conf": 0.90`, `"Make": "X"`, `"1": "Vulpes vulpes"`, `"failure": "bad"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	list := fatal.Get(detections.Read(out))(t)
	if said := list.Images[0].Boxes[0].Said; said != (detections.Said{Class: "Vulpes vulpes", Score: 0.75}) || list.Images[0].Boxes[1].Said.Class != "" {
		t.Errorf("the box is %v, and a person too", said)
	}
	// A table of boxes in pixels cannot be written without the images' sizes; COCO has them.
	coco := filepath.Join(dir, "coco.json")
	fatal.If(t, os.WriteFile(coco, []byte(`{"images":[{"id":1,"file_name":"c1/a.jpg","width":100,"height":50}],"annotations":[{"image_id":1,"category_id":1,"bbox":[10,10,20,20]}],"categories":[{"id":1,"name":"bird"}]}`), 0o666))
	m := []*Unit{{Path: "c1/a.jpg", Detected: &detections.Image{File: "c1/a.jpg"}, Items: []Item{{Box: rgb.Box{X: 10, Y: 10, W: 20, H: 20}, Class: "tit", Probability: 0.5}}}}
	fatal.Get(Write(MegaDetector, out, m, Options{Boxes: &datasets.Boxes{File: coco}}))(t)
	var doc struct {
		Images []struct {
			Detections []struct {
				Bbox            []float64
				Classifications [][]any
			}
		}
	}
	fatal.If(t, json.Unmarshal(fatal.Get(os.ReadFile(out))(t), &doc))
	if d := doc.Images[0].Detections[0]; d.Bbox[0] != 0.1 || d.Bbox[1] != 0.2 || len(d.Classifications) != 1 {
		t.Errorf("converted to %+v", d)
	}
}

func TestTables(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "md.json")
	fatal.If(t, os.WriteFile(file, []byte(results), 0o666))
	o := Options{Boxes: &datasets.Boxes{File: file, Score: 0.2}, By: "ledg mine"}
	rows := func(f Format, name, read string) [][]string {
		out := filepath.Join(dir, name)
		fatal.Get(Write(f, out, predicted(t, file), o))(t)
		return fatal.Get(csv.NewReader(strings.NewReader(string(fatal.Get(os.ReadFile(filepath.Join(dir, read)))(t)))).ReadAll())(t)
	}
	cells := func(table [][]string, row int, names ...string) (got []string) {
		for _, name := range names {
			for i, head := range table[0] {
				if head == name {
					got = append(got, table[row][i])
				}
			}
		}
		return got
	}
	for _, c := range []struct {
		table [][]string
		row   int
		names string
		want  string
	}{
		{rows(Camtrap, "p", "p/observations.csv"), 1, "mediaID eventID eventStart eventEnd observationType scientificName count bboxX bboxHeight classificationProbability", "c1/a.jpg c1/e 2026-05-01T10:00:00Z 2026-05-01T10:01:00Z animal Vulpes vulpes 1 0.1 0.4 0.7500"},
		{rows(Camtrap, "p", "p/observations.csv"), 2, "observationType scientificName classifiedBy", "human  detector"},
		{rows(Camtrap, "p", "p/observations.csv"), 3, "mediaID observationType count", "c1/b.jpg blank "},
		{rows(Camtrap, "p", "p/observations.csv"), 4, "mediaID observationType classifiedBy", "c1/c.jpg unclassified "},
		{rows(Camtrap, "p", "p/media.csv"), 1, "deploymentID timestamp filePath fileMediatype", "c1 2026-05-01T10:00:00Z c1/a.jpg image/jpeg"},
		{rows(Timelapse, "t.csv", "t.csv"), 1, "File RelativePath Class Count Classes", "a.jpg c1 Vulpes vulpes 1 Vulpes vulpes 1"},
		{rows(Wildlife, "w.csv", "w.csv"), 1, "deployment_id is_blank genus species number_of_objects cv_confidence", "c1 0 Vulpes vulpes 1 0.7500"},
		{rows(Wildlife, "w.csv", "w.csv"), 2, "is_blank common_name", "1 Blank"},
	} {
		if got := strings.Join(cells(c.table, c.row, strings.Fields(c.names)...), " "); got != c.want {
			t.Errorf("row %d: %q, want %q", c.row, got, c.want)
		}
	}
	// Camtrap DP is read as labels: the images, their class and their event.
	table := fatal.Get(datasets.ReadTable(filepath.Join(dir, "p", "observations.csv"), datasets.ColumnNames{}))(t)
	if l := table.Labels[1]; l.Class != "blank" || l.Group != "c1/e" || l.Site != "c1" {
		t.Errorf("read as %+v", l)
	}
	if _, err := Write("excel", dir, nil, o); err == nil {
		t.Error("an unknown format is written")
	}
}
