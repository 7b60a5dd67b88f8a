package nb

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/result"
)

// A run on saved images classifies files.
func TestFiles(t *testing.T) {
	t.Setenv("LEDG_QUICK", "1")
	t.Setenv("LEDG_RUNS", t.TempDir())
	root := Dir("images")
	place := func(domain, class string) string {
		if class > "1" {
			return ""
		}
		return filepath.Join(root, domain, class)
	}
	class := SaveImages("glyphs", 3, place)
	files := Must(filepath.Glob(filepath.Join(root, "photo", "*", "*.png")))
	if len(files) != 6 {
		t.Fatalf("%d files of the photo domain, want 3 of each of two classes", len(files))
	}
	for _, f := range files {
		if got, want := class(f), filepath.Base(filepath.Dir(f)); got != want {
			t.Errorf("%s is of class %s, want %s", f, got, want)
		}
	}
	Check(os.WriteFile(files[0], []byte("mine"), 0o666))
	SaveImages("glyphs", 3, place)
	if data := Must(os.ReadFile(files[0])); string(data) != "mine" {
		t.Error("an existing file was written again")
	}
	Check(os.Remove(files[0]))
	SaveImages("glyphs", 3, place)

	dir := Train("saved", "uniform-ce", func(r *Run) {
		r.Dataset, r.Root, r.Target, r.Budget = "folder", root, "photo", "6"
	})
	LabelCounts(dir)
	classes := Classify(dir, files...)
	if len(classes) != 6 {
		t.Fatalf("%d classes of 6 files", len(classes))
	}
	table := Dir("table.csv")
	Predict(dir, filepath.Join(root, "photo"), table)
	text := string(Must(os.ReadFile(table)))
	for i, f := range files {
		line := text[strings.Index(text, filepath.Base(f)):]
		if line, _, _ = strings.Cut(line, "\n"); !strings.Contains(line, ","+classes[i]+",") {
			t.Errorf("%s is %s, and in the table %q", f, classes[i], line)
		}
	}
	Contact(table, 2)
	if text := panics(t, func() { Classify(dir, filepath.Join(root, "nothing.png")) }); !strings.Contains(text, "nothing.png") {
		t.Errorf("a missing file: %s", text)
	}
}

// A sample has a row for each domain and a column for each class; images of unknown class fill a row.
func TestSample(t *testing.T) {
	t.Setenv("LEDG_RUNS", t.TempDir())
	root := Dir("images")
	SaveImages("glyphs", 2, func(domain, class string) string {
		switch {
		case class > "2", domain == "sketch" && class != "1":
			return ""
		case domain == "photo":
			return filepath.Join(root, domain)
		}
		return filepath.Join(root, domain, class)
	})
	data, truth := Data("folder", root)
	got := map[string][]string{}
	sheet := sample(data, truth)
	for i, tile := range sheet.Tiles {
		domain := data.Domains[i/sheet.Columns]
		got[domain] = append(got[domain], tile.Class)
		if named := tile.Class != "no image"; named != (tile.Domain == domain) || named != (tile.Image.Bounds().Dx() > 1) {
			t.Errorf("tile %d, %q, is of domain %q and %v large, in the row of %s", i, tile.Class, tile.Domain, tile.Image.Bounds(), domain)
		}
	}
	want := map[string][]string{
		"print": {"0", "1", "2"}, "cartoon": {"0", "1", "2"}, "sketch": {"no image", "1", "no image"},
		"photo": {"class unknown", "class unknown", "class unknown"},
	}
	if !maps.EqualFunc(got, want, slices.Equal[[]string]) {
		t.Errorf("the rows are %q, want %q", got, want)
	}
	if one := sample(data, truth, "sketch"); len(one.Tiles) != 3 || one.Tiles[1].Domain != "sketch" {
		t.Errorf("of the domain sketch alone the tiles are %v", one.Tiles)
	}
	if all := sample(Data("glyphs", "")); all.Columns != 8 || len(all.Tiles) != 8*4 {
		t.Errorf("of ten classes in four domains %d images are shown in %d columns, want 32 in 8", len(all.Tiles), all.Columns)
	}
}

// A run that people label waits for the labels of photos without class folders.
func TestTrainAsks(t *testing.T) {
	t.Setenv("LEDG_QUICK", "1")
	t.Setenv("LEDG_RUNS", t.TempDir())
	root := Dir("images")
	SaveImages("glyphs", 3, func(domain, class string) string {
		switch {
		case class > "1":
			return ""
		case domain == "photo":
			return filepath.Join(root, domain, class)
		}
		return filepath.Join(root, domain)
	})
	train := func() string {
		return Train("asked", "uniform-ce", Set("exploration.oracle", "ask"), func(r *Run) {
			r.Dataset, r.Root, r.Target, r.Budget = "features", Extract(root, "0", "1"), "photo", "6"
		})
	}
	dir := train()
	if _, err := os.Stat(filepath.Join(dir, labels.File)); err != nil {
		t.Errorf("the run has asked for no label: %v", err)
	}
	if Must(result.OpenRuns(filepath.Dir(dir)).State(filepath.Base(dir))) == result.Complete {
		t.Error("the run is finished without labels")
	}
	if again := train(); again != dir {
		t.Errorf("the second call's run is %s, want %s", again, dir)
	}
}

// Wilson's interval of 30 of 50 is 46.2 to 72.4%.
func TestWilson(t *testing.T) {
	if w := Wilson(30, 50); w.String() != "60%, 46 to 72" {
		t.Errorf("30 of 50: %v", w)
	}
}
