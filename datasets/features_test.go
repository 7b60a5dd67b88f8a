package datasets

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
)

func float32Entry(name string, shape []int, v ...float32) safetensors.Entry {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return safetensors.Entry{Name: name, DType: safetensors.Float32, Shape: shape, Data: b}
}

func intEntry(name string, v ...int64) safetensors.Entry {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return safetensors.Entry{Name: name, DType: safetensors.Int64, Shape: []int{len(v)}, Data: b}
}

func textEntry(name, text string) safetensors.Entry {
	return safetensors.Entry{Name: name, DType: safetensors.Uint8, Shape: []int{len(text)}, Data: []byte(text)}
}

func writeFeatures(t *testing.T, metadata map[string]string, entries ...safetensors.Entry) string {
	t.Helper()
	var b bytes.Buffer
	if err := safetensors.Write(&b, entries, metadata); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "f.safetensors")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

var fourVectors = float32Entry("features", []int{4, 2}, 1, 2, 3, 4, 5, 6, 7, 8)

func vectorOf(t *testing.T, d *Dataset, id string, view int) []float32 {
	t.Helper()
	f, ok := d.Features()
	if !ok {
		t.Fatal("no features")
	}
	v, err := f.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	i, ok := d.Index(id)
	if !ok {
		t.Fatalf("no %s", id)
	}
	x := make([]float32, f.Dim)
	var scratch []byte
	if err := v.Read(i, view, x, &scratch); err != nil {
		t.Fatal(err)
	}
	return x
}

// Examples are sorted by domain and ID, with their rows, classes and splits.
func TestFeatures(t *testing.T) {
	path := writeFeatures(t, map[string]string{"views": "clean,strong"},
		float32Entry("features", []int{4, 2, 1}, 1, 2, 3, 4, 5, 6, 7, 8),
		intEntry("labels", 1, -1, 0, 1), intEntry("domains", 1, 0, 0, 1), intEntry("splits", 0, 1, 1, 0),
		textEntry("ids", "\"d\"\n\"c\"\n\"a b\"\n\"b\"\n"), textEntry("class_names", "\"cat\"\n\"dog\"\n"), textEntry("domain_names", "\"photo\"\n\"sketch\"\n"))
	d, truth, err := Open("features", path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []Example{{"a b", 0, Val}, {"c", 0, Test}, {"b", 1, Train}, {"d", 1, Train}}
	if !slices.Equal(d.Examples, want) {
		t.Errorf("got %v, want %v", d.Examples, want)
	}
	if !slices.Equal(truth.classes, []int{0, Unknown, 1, 1}) || !slices.Equal(d.Classes, []string{"cat", "dog"}) || !slices.Equal(d.Domains, []string{"photo", "sketch"}) {
		t.Errorf("classes %v of %v, domains %v", truth.classes, d.Classes, d.Domains)
	}
	if x := vectorOf(t, d, "b", 1); !slices.Equal(x, []float32{8}) {
		t.Errorf("strong view of b is %v", x)
	}
	f, _ := d.Features()
	if !slices.Equal(f.Views, []ViewKind{CleanView, StrongView}) {
		t.Errorf("views %v", f.Views)
	}
	if _, err := d.Image(0); err == nil {
		t.Error("features have an image")
	}
	if r, err := Check(t.Context(), d, truth, nil); err != nil || len(r.Unreadable) > 0 || r.Unlabelled[0] != 1 {
		t.Errorf("check: %+v, %v", r, err)
	}
	d, truth, err = Open("features", path, Options{Labels: []Label{{ID: "d", Class: "None of these"}, {ID: "c", Class: "cat"}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := d.Index("d"); ok || len(d.Examples) != 3 || truth.Known() != 3 || len(d.Classes) != 2 || !slices.Equal(d.Skipped, []Skipped{{"d", isNone}}) {
		t.Errorf("labelled none of these: %+v", d)
	}
	if x := vectorOf(t, d, "b", 1); !slices.Equal(x, []float32{8}) {
		t.Errorf("without d, the strong view of b is %v", x)
	}
}

// A file with features alone is a data set of one domain and no classes; what pandas
// writes has names for numbers.
func TestFeaturesOfOthers(t *testing.T) {
	d, truth, err := Open("features", writeFeatures(t, nil, fourVectors), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if truth.Known() != 0 || len(d.Classes) != 0 || !slices.Equal(d.Domains, []string{"all"}) || d.Examples[2].ID != "2" {
		t.Errorf("got %+v", d)
	}
	d, truth, err = Open("features", filepath.Join("arrays", "testdata", "views.parquet"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.Domains, []string{"a", "b"}) || !slices.Equal(d.Classes, []string{"0", "1", "2"}) || truth.Known() != 5 {
		t.Errorf("domains %v, classes %v, %d known", d.Domains, d.Classes, truth.Known())
	}
	if x := vectorOf(t, d, "3", 1); !slices.Equal(x, []float32{3, -1, 0.5}) {
		t.Errorf("view 1 of row 3 is %v", x)
	}
	d, _, err = Open("features", filepath.Join("arrays", "testdata", "pandas.parquet"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := d.Index("Zeichnung/ö3.png"); !ok || len(d.Domains) != 1 { // its column is called domain
		t.Errorf("examples %v, domains %v", d.Examples, d.Domains)
	}
}

// Features beyond the memory are read from their file.
func TestFeaturesFromFile(t *testing.T) {
	d, _, err := Open("features", writeFeatures(t, nil, fourVectors), Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, _ := d.Features()
	x := make([]float32, 2)
	var scratch []byte
	if err := (&Vectors{Features: f, array: f.array}).Read(3, 0, x, &scratch); err != nil || !slices.Equal(x, []float32{7, 8}) {
		t.Errorf("row 3 is %v, %v", x, err)
	}
	// Compressed ones are unpacked first.
	d, _, err = Open("features", filepath.Join("arrays", "testdata", "views.parquet"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, _ = d.Features()
	v, dir := &Vectors{Features: f, array: f.array}, t.TempDir()
	if err := v.unpack(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	x = make([]float32, 3)
	i, _ := d.Index("4")
	if err := v.Read(i, 1, x, &scratch); err != nil || !slices.Equal(x, []float32{4, -1, 0.5}) {
		t.Errorf("view 1 of row 4 is %v, %v", x, err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%d files have a name", len(left))
	}
	if err := v.Close(); err != nil {
		t.Error(err)
	}
}

// Errors name the file, the array and the row.
func TestFeaturesErrors(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		want    string
		meta    map[string]string
		entries []safetensors.Entry
	}{
		{`no array "features"`, nil, []safetensors.Entry{intEntry("labels", 1)}},
		{"features: shape [4], want [N, D] or [N, V, D]", nil, []safetensors.Entry{float32Entry("features", []int{4}, 1, 2, 3, 4)}},
		{"features: type int64", nil, []safetensors.Entry{intEntry("features", 1)}},
		{"labels: 3 elements, but features has 4 rows", nil, []safetensors.Entry{fourVectors, intEntry("labels", 1, 2, 3)}},
		{`domain_names: "a\nb" has a newline`, nil, []safetensors.Entry{fourVectors, intEntry("domains", 0, 0, 0, 0), textEntry("domain_names", "\"a\\nb\"\n")}},
		{"labels: row 1: -2, want 0 or more, or -1 for unknown", nil, []safetensors.Entry{fourVectors, intEntry("labels", 1, -2, 3, 0)}},
		{"labels: row 2: 2, but class_names has 2 names", nil, []safetensors.Entry{fourVectors, intEntry("labels", 1, 0, 2, 0), textEntry("class_names", "a\nb\n")}},
		{"labels: row 2: 1000, want 0 to 999 in a file of 4 rows, or names in class_names", nil, []safetensors.Entry{fourVectors, intEntry("labels", 1, 999, 1000, 0)}},
		{"domains: row 3: 1000000000, want 0 to 999 in a file of 4 rows, or names in domain_names", nil, []safetensors.Entry{fourVectors, intEntry("domains", 0, 0, 0, 1e9)}},
		{"domains: row 0: -1, want 0 or more", nil, []safetensors.Entry{fourVectors, intEntry("domains", -1, 0, 0, 0)}},
		{"ids: 2 strings, but features has 4 rows", nil, []safetensors.Entry{fourVectors, textEntry("ids", "a\nb\n")}},
		{"two examples are called a", nil, []safetensors.Entry{fourVectors, textEntry("ids", "a\nb\na\nc\n")}},
		{"splits: row 3: 3, want 0 (train), 1 (val) or 2 (test)", nil, []safetensors.Entry{fourVectors, intEntry("splits", 0, 1, 0, 3)}},
		{`the metadata name the views clean,weak, but features has 1`, map[string]string{"views": "clean,weak"}, []safetensors.Entry{fourVectors}},
		{`the metadata call view 0 "weak"`, map[string]string{"views": "weak"}, []safetensors.Entry{fourVectors}},
	} {
		path := writeFeatures(t, c.meta, c.entries...)
		_, _, err := Open("features", path, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("got %v, want %q of %s", err, c.want, path)
		}
	}
	d, _, err := Open("features", writeFeatures(t, nil, float32Entry("features", []int{2, 2}, 1, 2, 3, nan)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, _ := d.Features()
	if _, err := f.Open(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "features: 1 (row 1): feature 1 is NaN") {
		t.Errorf("got %v", err)
	}
	for root, want := range map[string]string{"": "give its path as the root", t.TempDir(): "is a folder", "nowhere.npz": "no such file"} {
		if _, _, err := Open("features", root, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", root, err, want)
		}
	}
}
