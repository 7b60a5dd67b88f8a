package datasets

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// beside joins folders of images.
func together(parts ...fstest.MapFS) fstest.MapFS {
	all := fstest.MapFS{}
	for _, p := range parts {
		maps.Copy(all, p)
	}
	return all
}

// Splits that folders or a table name are captured: test is held out, and validation images are drawn from
// train only where none are named.
func TestSplits(t *testing.T) {
	table := func(rows ...string) (list []Label) {
		for _, row := range rows {
			id, split, _ := strings.Cut(row, " ")
			class, split, _ := strings.Cut(split, " ")
			list = append(list, Label{ID: id, Class: class, Split: split, Where: "labels.csv:2"})
		}
		return list
	}
	for name, c := range map[string]struct {
		fsys     fstest.MapFS
		classes  string
		labels   []Label
		template string
		counts   [4]int // train, val, test, and unlabelled test images
		sites    string
		known    string
		line     string
	}{
		"YOLO":          {crossed("train val test", "cat dog"), "", nil, "{split}/{class}/{name}", [4]int{4, 4, 4}, "all", "cat dog", "split folders: train 4, val 4, test 4 (held out)"},
		"Roboflow":      {crossed("train valid test", "images"), "", nil, "{split}/**/{name}", [4]int{2, 0, 4, 4}, "all", "", "val 2, test 2 (held out); 2 of val without a class, which are not used"},
		"Kaggle":        {together(crossed("train", "cat dog"), crossed("test")), "", nil, "{split}/{class}/{name}", [4]int{2, 2, 2, 2}, "all", "cat dog", "train 4, test 2 (held out); validation images are drawn from train; 2 of test without a class"},
		"Keras":         {together(crossed("Training", "cat dog"), crossed("Validation", "cat dog"), crossed("Testing", "unknown")), "", nil, "{split}/{class}/{name}", [4]int{4, 4, 2, 2}, "all", "cat dog", ""},
		"twice":         {together(crossed("seg_train", "seg_train", "cat dog"), crossed("seg_test", "seg_test", "cat dog"), crossed("seg_pred", "seg_pred")), "", nil, "{split}/*/{class}/{name}", [4]int{2, 2, 6, 2}, "all", "cat dog", ""},
		"Dassl":         {crossed("north south", "train val", "cat dog"), "", nil, "{site}/{split}/{class}/{name}", [4]int{8, 8}, "north south", "cat dog", "train 8, val 8"},
		"site/test":     {crossed("north south", "train test", "cat dog"), "", nil, "{site}/{split}/{class}/{name}", [4]int{4, 4, 8}, "north south", "cat dog", ""},
		"test/site":     {crossed("train_set test_set", "north south", "cat dog"), "", nil, "{split}/{site}/{class}/{name}", [4]int{4, 4, 8}, "north south", "cat dog", ""},
		"class/test":    {crossed("cat dog", "train dev holdout"), "cat dog", nil, "{class}/{split}/{name}", [4]int{4, 4, 4}, "all", "cat dog", ""},
		"last":          {crossed("north south", "cat dog", "train eval"), "", nil, "{site}/{class}/{split}/{name}", [4]int{4, 4, 8}, "north south", "cat dog", ""},
		"flat":          {crossed("train test1"), "cat dog", nil, "{split}/{name}", [4]int{2, 0, 2, 2}, "all", "", "train 2, test 2 (held out); 2 of test"},
		"STL":           {together(crossed("train test", "cat dog"), crossed("unlabeled")), "", nil, "{split}/{class}/{name}", [4]int{6, 0, 4}, "all", "cat dog", ""},
		"train alone":   {crossed("train", "cat dog"), "", nil, "{split}/{class}/{name}", [4]int{2, 2}, "all", "cat dog", ""},
		"not splits":    {crossed("train test augmented", "cat dog"), "", nil, "", [4]int{6, 6}, "augmented test train", "cat dog", "the site test has the name of a split, and is trained on"},
		"column":        {crossed("north south", "cat dog"), "", table("north/cat/0.png  Test", "south/dog/1.png  VALIDATION"), "", [4]int{6, 1, 1}, "north south", "cat dog", "column split of labels.csv: train 6, val 1, test 1 (held out)"},
		"column of all": {crossed("train val", "cat dog"), "", table("train/cat/0.png  id_test", "val/dog/1.png  train"), "{split}/{class}/{name}", [4]int{5, 2, 1}, "all", "cat dog", "column split"},
		"untrained":     {together(crossed("train val", "cat dog"), crossed("val", "boar")), "", nil, "{split}/{class}/{name}", [4]int{4, 6}, "all", "cat dog boar", "boar has no labelled training image"},
	} {
		t.Run(name, func(t *testing.T) {
			var classes []string
			if c.classes != "" {
				classes = strings.Fields(c.classes)
			}
			got, err := Recognise(c.fsys, nil, classes, c.labels)
			if err != nil || got != c.template {
				t.Fatalf("%q, %v, want %q", got, err, c.template)
			}
			d, truth := fatal.Get2(Folder(c.fsys, Options{Layout: got, Classes: classes, Labels: c.labels}))(t)
			var counts [4]int
			known := map[string]bool{}
			for i, e := range d.Examples {
				if counts[e.Split]++; truth.Knows(i) {
					known[d.Classes[truth.Class(i)]] = true
				} else if e.Split == Test {
					counts[3]++
				}
			}
			if counts != c.counts || !slices.Equal(d.Domains, strings.Fields(c.sites)) || len(d.Skipped) > 0 {
				t.Errorf("%v of %q, want %v of %s; skipped %v", counts, d.Domains, c.counts, c.sites, d.Skipped)
			}
			if want := strings.Fields(c.known); len(known) != len(want) {
				t.Errorf("classes %v, want %v", known, want)
			}
			if lines := strings.Join(d.DescribeSplits(truth), "\n"); !strings.Contains(lines, c.line) {
				t.Errorf("it says %q, want %q", lines, c.line)
			}
		})
	}
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Layout: "{split}/{class}/{name}"}, "is no split, such as train, val or test"},
		{Options{Labels: table("north/cat/0.png  fold3")}, `labels.csv:2: the split of north/cat/0.png is "fold3", want train, val or test`},
		{Options{Labels: append(table("north/cat/0.png  test"), table("north/cat/0.png  train")...)}, `of split "train" here, but of "test"`},
	} {
		_, _, err := Folder(crossed("north south", "cat dog"), c.o)
		wantError(t, err, c.want)
	}
	_, _, err := Folder(crossed("test", "cat dog"), Options{Layout: "{split}/{class}/{name}"})
	wantError(t, err, "no image is for training")
}

// Folders with the names of dates or memory cards are no classes: a table says what the classes are, or the
// layout.
func TestDatedFolders(t *testing.T) {
	table := []Label{{ID: "x", Class: "cat"}, {ID: "y", Class: "dog"}}
	for _, names := range []string{"2026-05 2026-06", "2026_05 May", "05-2026 06-2026", "20260510 20260511", "2026 2027", "100RECNX 101RECNX", "100MEDIA DCIM", "card1 card_2", "SD1 SD2", "check1 check2", "10-May-2026 2026-W19", "2026-05-10_1200 2026-5-1"} {
		for _, fsys := range []fstest.MapFS{crossed("north south", names), together(crossed("north"), crossed("north south", names)), crossed("north", names)} {
			if got, err := Recognise(fsys, nil, nil, table); err != nil || got != WithoutClasses {
				t.Errorf("%s with a table: %q, %v", names, got, err)
			}
			got, err := Recognise(fsys, nil, nil, nil)
			if unclear := (*UnclearError)(nil); got != WithoutClasses && (!errors.As(err, &unclear) || !unclear.Dated) {
				t.Errorf("%s without: %q, %v", names, got, err)
			}
		}
	}
	for _, names := range []string{"0 1 2 10", "cat dog", "maybe octopus", "card sd"} {
		if got, err := Recognise(crossed("north south", names), nil, nil, nil); err != nil || got != "" {
			t.Errorf("%s: %q, %v", names, got, err)
		}
	}
	for name, c := range map[string]struct {
		fsys   fstest.MapFS
		labels []Label
		want   string // the empty one is an error
	}{
		"deeper, table":      {crossed("north south", "2026", "05 06"), table, WithoutClasses},
		"archive, table":     {crossed("photos", "north south", "2026-05"), table, "*/" + WithoutClasses},
		"split, table":       {crossed("north south", "train test", "2026-05"), table, "{site}/{split}/**/{name}"},
		"other names, table": {crossed("north south", "left right"), table, WithoutClasses},
		"classes, table":     {crossed("2026 2027", "*", "cat dog"), table, "{site}/*/{class}/{name}"},
		"mixed":              {crossed("north south", "cat 2026-05"), table, "error"},
		"years of classes":   {crossed("north south", "2026 2027", "cat dog"), nil, "error"},
		"split":              {crossed("train test", "2026-05"), nil, "error"},
	} {
		got, err := Recognise(c.fsys, nil, nil, c.labels)
		if err != nil {
			got = "error"
		}
		if got != c.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
}

// The only image of a class in a site is for training, with and without groups.
func TestRareClass(t *testing.T) {
	fsys := crossed("north south", "cat")
	for i := range 12 {
		fsys[fmt.Sprintf("north/dog/%d.png", i)] = fsys["north/cat/0.png"]
	}
	delete(fsys, "north/cat/1.png")
	for _, rule := range []string{"", `^(north/\w+)/`, `^north/(dog/1|cat)`} {
		g := fatal.Get(newGrouper(rule, nil))(t)
		for seed := range uint64(20) {
			d, truth := fatal.Get2(Folder(fsys, Options{Seed: seed, groups: g}))(t)
			for k, cells := range countCells(d, truth) {
				for c, n := range cells {
					if n.total() > 0 && n.Train == 0 {
						t.Errorf("rule %q, seed %d: %s/%s is %v", rule, seed, d.Domains[k], d.Classes[c], n)
					}
				}
			}
		}
	}
}
