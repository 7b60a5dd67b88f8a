package foreign

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func zipped(names ...string) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range names {
		z.Create(name)
	}
	z.Close()
	return b.String()
}

func tarred(names ...string) string {
	var b bytes.Buffer
	z := tar.NewWriter(&b)
	for _, name := range names {
		z.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Typeflag: tar.TypeReg})
	}
	z.Close()
	return b.String()
}

// Formats are recognised by content, whatever the name, and each has advice.
func TestOf(t *testing.T) {
	dir := t.TempDir()
	seen := map[Format]bool{}
	for _, c := range []struct {
		name, text string
		want       Format
	}{
		{"a.json", `{"info":{"format_version":"1.4"},"detection_categories":{"1":"animal"},"images":[]}`, MegaDetector},
		{"a.csv", `{"images":[{"file":"a.jpg","max_detection_conf":0.9,"detections":[]}],"info":{}}`, MegaDetector},
		{"a.json", `{"images":[{"file":"a.jpg","failure":"x","detections":null}` + strings.Repeat(" ", sniffed), MegaDetector},
		{"a.json", `{"predictions":[{"filepath":"a.jpg","prediction":"u;m;c;o;g;s;fox"}]}`, SpeciesNet},
		{"a.json", "\ufeff" + `{"images":[{"file_name":"a.jpg","id":1}],"annotations":[{"category_id":1}],"categories":[]}`, COCO},
		{"datapackage.json", `{"profile":"x/camtrap-dp-profile.json","resources":[{"name":"media"}]}`, Camtrap},
		{"a.json", `[{"id":1,"data":{},"annotations":[]}]`, LabelStudio}, {"a.json", `{"items":[{"id":"a","annotations":[]}]}`, Datumaro},
		{"a.json", `{"classes":["a"],"labels":{"x":0}}`, FiftyOne}, {"a.xml", "<?xml version=\"1.0\"?>\n<annotations><version>1.1", CVAT},
		{"a.xml", "<annotation><object>", VOC}, {"a.xlsx", zipped("[Content_Types].xml", "xl/workbook.xml"), Excel}, {"a.xls", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Excel},
		{"a.ods", zipped("mimetype", "content.xml"), OpenDocument}, {"a.zip", zipped("a.jpg"), Zip}, {"a.npz", zipped("x.npy"), NumPy}, {"a.pt", zipped("data.pkl"), PyTorch},
		{"a.tar", tarred("a.jpg"), Tar}, {"a.tar", tarred("0.jpg", "0.cls"), WebDataset}, {"a.tgz", "\x1f\x8b\x08", Compressed}, {"a.7z", "7z\xbc\xaf\x27\x1c", SevenZip},
		{"a.rar", "Rar!\x1a\x07\x00", RAR}, {"a.ddb", "SQLite format 3\x00", SQLite}, {"a.parquet", "PAR1", Parquet}, {"a.h5", "\x89HDF\r\n\x1a\n", HDF5},
		{"a.feather", "ARROW1\x00\x00", Arrow}, {"data-00000-of-00001.arrow", "\xff\xff\xff\xff\x10\x00\x00\x00", Arrow}, {"a.pkl", "\x80\x04\x95\x01", Pickle},
		{"a.mat", "MATLAB 5.0 MAT-file, Platform", MATLAB}, {"a.mdb", "\x00\x01\x00\x00Standard Jet DB\x00", Access},
		{"a.csv", "image_path,max_confidence,detections\na.jpg,0.9,[]\n", MegaDetector}, {"a.csv", "file,category,conf,bbox\n", MegaDetector},
		{"a.csv", "path,label,confidence\n", ""}, {"a.csv", "path,label\n", ""}, {"a.jsonl", `{"id":"a","labels":1,"classes":2}`, ""}, {"a.json", strings.Repeat("[", 1<<16), ""}, {"empty", "", ""}, {"a.json", `{"a":1}`, ""},
	} {
		path := filepath.Join(dir, c.name)
		fatal.If(t, os.WriteFile(path, []byte(c.text), 0o666))
		got := Of(path)
		if got != c.want {
			t.Errorf("%s %.40q: %q, want %q", c.name, c.text, got, c.want)
		}
		if seen[got] = true; got != "" && (Check(path) == nil || Check(path, got) != nil || advice[got] == "") {
			t.Errorf("%s: %v", got, Check(path))
		}
		os.Remove(path)
	}
	for f := range advice {
		if !seen[f] {
			t.Errorf("%s has advice and no test", f)
		}
	}
	if Of(dir) != "" || Of(filepath.Join(dir, "none")) != "" {
		t.Error("a folder is of no format")
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	os.MkdirAll(filepath.Join(dir, "data"), 0o777)
	os.WriteFile(filepath.Join(dir, "data", "notes.tar"), []byte("no archive"), 0o666)
	if err := Folder(dir); err != nil {
		t.Error(err)
	}
	shard := filepath.Join(dir, "data", "train-0.tar")
	os.WriteFile(shard, []byte(tarred("0.jpg", "0.cls")), 0o666)
	if err := (*Error)(nil); !errors.As(Folder(dir), &err) || err.Path != shard || err.Format != WebDataset {
		t.Errorf("%v", Folder(dir))
	}
}
