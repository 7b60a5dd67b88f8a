package datasets

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// A name stands for an image only if no folder of it contradicts the image's.
func TestFinder(t *testing.T) {
	ids := []string{"north/1.png", "north/2.png", "north/deer/5.png", "north/a b.png", "south/1.png", "south/B\u00e4r.png", "south/x%20y.png", "=s/1.png", "'=s/1.png", "-t/7.png", "flat.png", "2023/cam/9.jpg", "2023/cam/9.png", "south/odd\\name.png"}
	f := newFinder("/data/all/photos", ids, "south/2.png", "north/card")
	for name, want := range map[string]string{
		"north/1.png":      "north/1.png",
		`.\north\1.png`:    "north/1.png",
		" ./north//1.png ": "north/1.png",
		// folders of the root, or others
		"photos/north/1.png":               "north/1.png",
		"all/photos/north/1.png":           "north/1.png",
		"/data/all/photos/north/1.png":     "north/1.png",
		"x/data/all/photos/north/1.png":    "north/1.png",
		"2022/photos/north/1.png":          "",
		"2022/north/1.png":                 "",
		"east/1.png":                       "",
		"east/flat.png":                    "",
		"photos/flat.png":                  "flat.png",
		"images/north/1.png":               "north/1.png",
		"/home/ann/photos/north/1.png":     "north/1.png",
		`D:\old\north\1.png`:               "north/1.png",
		`\\nas\old\north\1.png`:            "north/1.png",
		"file:///old/north/%31.png":        "north/1.png",
		"https://a.org/north/1.png?size=2": "north/1.png",
		"/home/ann/east/1.png":             "",
		"/home/ann/east/flat.png":          "",
		"/home/ann/photos/flat.png":        "flat.png",
		"/data/all/photos/x/north/1.png":   "", // inside the root, where it is another file
		"../north/1.png":                   "",
		// the end of the path
		"cam/9.jpg":    "2023/cam/9.jpg",
		"9.jpg":        "2023/cam/9.jpg",
		"./9.jpg":      "",
		"deer/5.png":   "north/deer/5.png",
		"fox/5.png":    "",
		"north/5.png":  "",
		"1.png":        "4 images",
		"2.png":        "2 images", // one is left out
		"south/2.png":  "left out",
		"north/card/3": "left out",
		// without extension
		"north/2":  "north/2.png",
		"a b":      "north/a b.png",
		"cam/9":    "2 images",
		"east/a b": "",
		// spellings
		"south/Ba\u0308r.png":      "south/B\u00e4r.png",
		"north/a%20b.png":          "north/a b.png",
		"south/x%20y.png":          "south/x%20y.png",
		"south/x%2520y.png":        "south/x%20y.png",
		"'-t/7.png":                "-t/7.png",
		"'=s/1.png":                "2 images",
		"=s/1.png":                 "=s/1.png",
		"''=s/1.png":               "'=s/1.png",
		`south/odd\name.png`:       `south/odd\name.png`,
		"":                         "",
		strings.Repeat("a/", 4000): "",
	} {
		got := f.Find(name)
		switch {
		case (got.Index >= 0) != (got.Err == nil):
			t.Errorf("%q: %+v", name, got)
		case got.Err == nil && ids[got.Index] != want, got.Err != nil && (!strings.Contains(got.Err.Error(), want) || slices.Contains(ids, want)), want == "" && len(got.Fits) > 0, got.LeftOut != (want == "left out"):
			t.Errorf("%.100q: %+v, want %q", name, got, want)
		}
	}
}

// What the names of one file stand for has to agree.
func TestSettle(t *testing.T) {
	here := t.TempDir()
	root := filepath.Join(here, "photos")
	other := filepath.Join(here, "other", "north", "1.png") // a file here, which is none of the data set
	fatal.If(t, os.MkdirAll(filepath.Dir(other), 0o777))
	fatal.If(t, os.WriteFile(other, nil, 0o666))
	ids := []string{"north/1.png", "north/2.png", "south/3.png"}
	for _, c := range []struct {
		names string
		want  string // indices, - for none
		notes int
	}{
		{"/a/b/north/1.png /a/b/south/3.png north/2.png", "0 2 1", 1},
		{"/a/east/north/1.png /a/photos/north/2.png /a/photos/south/3.png", "- 1 2", 1},
		{"/a/east/north/1.png /a/west/north/2.png", "- -", 0},
		{`/a/east/north/1.png D:\west\north\2.png`, "0 1", 2},
		{"/a/north/1.png /a/north/1.png", "0 0", 1},
		{root + "/north/1.png /a/b/north/2.png", "0 -", 0},
		{other, "-", 0},
		{"1.png north/1.png ./north/1.png", "- 0 0", 0},
		{"3.png 3 3.png", "2 - 2", 0},
		{"photos/north/1.png 1.png", "0 -", 0},
		{"data/north/1.png images/north/1.png", "- -", 0},
	} {
		f := newFinder(root, ids)
		var list []Found
		for _, name := range strings.Fields(c.names) {
			list = append(list, f.Find(name))
		}
		notes := f.Settle(list)
		var got []string
		for _, m := range list {
			if m.Err != nil {
				got = append(got, "-")
				continue
			}
			got = append(got, string(rune('0'+m.Index)))
		}
		if strings.Join(got, " ") != c.want || len(notes) != c.notes {
			t.Errorf("%s: %s, %q, want %s and %d", c.names, got, notes, c.want, c.notes)
		}
	}
}
