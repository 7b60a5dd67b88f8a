package datasets

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// smallPACS has one train and one crossval image per cell, and the lists, in
// the given folders.
func smallPACS(t testing.TB, images, lists string) fstest.MapFS {
	t.Helper()
	fsys := fstest.MapFS{}
	n := uint64(0)
	for _, domain := range pacsDomains {
		for s, file := range map[Split]string{Train: "t 1.jpg", Val: "v.jpg"} {
			var text strings.Builder
			for c, class := range pacsClasses {
				id := path.Join(domain, class, file)
				fsys[path.Join(images, id)] = jpegFile(t, noise(n, 5, 5))
				n++
				fmt.Fprintf(&text, "%s %d\r\n", id, c+1)
			}
			fsys[path.Join(lists, listName(domain, s))] = &fstest.MapFile{Data: []byte(text.String() + "\n")}
		}
	}
	return fsys
}

func TestPACSLayouts(t *testing.T) {
	for _, c := range []struct{ images, lists string }{
		{".", "."}, {".", "splits"}, {".", "pacs_kfolds"}, {"pacs128", "pacs_splits"}, {"kfold", "."},
		{"images", "images/splits"}, {"kfold", "Train val splits and h5py files pre-read"},
	} {
		t.Run(c.images+" "+c.lists, func(t *testing.T) {
			d, truth := fatal.Get2(PACS(smallPACS(t, c.images, c.lists), nil, nil))(t)
			lines := describe(d, truth)
			if len(lines) != 56 || lines[0] != "art_painting/dog/t 1.jpg art_painting dog train" || lines[55] != "sketch/person/v.jpg sketch person val" {
				t.Errorf("%d examples: %q ... %q", len(lines), lines[0], lines[len(lines)-1])
			}
			if len(d.Differences) != 28 || d.Differences[0] != "art_painting/dog has 1 train and 1 val images, published are 341 and 38" {
				t.Errorf("%d differences: %q", len(d.Differences), d.Differences)
			}
		})
	}
}

func TestPACSSplitsOption(t *testing.T) {
	all := smallPACS(t, "images", "elsewhere")
	_, _, err := PACS(all, nil, nil)
	wantError(t, err, "data set pacs", "lists are missing", "art_painting_train_kfold.txt", "pacs_kfolds")
	lists := fatal.Get(all.Sub("elsewhere"))(t)
	if _, _, err := PACS(all, lists, nil); err != nil {
		t.Error(err)
	}
}

func TestPACSSkips(t *testing.T) {
	fsys := smallPACS(t, ".", ".")
	fsys[pacsBadFile] = &fstest.MapFile{Data: []byte("bad")}
	list := fsys["sketch_train_kfold.txt"]
	list.Data = append(list.Data, (pacsBadFile + " 1\n")...)
	fsys["photo/dog/extra.jpg"] = &fstest.MapFile{Data: []byte("unlisted")}
	fsys["photo/note.txt"] = &fstest.MapFile{Data: []byte("unlisted")}
	// Part of the data set: horses are missing from the sketches.
	for _, s := range []Split{Train, Val} {
		f := fsys[listName("sketch", s)]
		var lines []string
		for line := range strings.Lines(string(f.Data)) {
			if !strings.Contains(line, "/horse/") {
				lines = append(lines, line)
			}
		}
		f.Data = []byte(strings.Join(lines, ""))
	}
	fsys["sketch_test_kfold.txt"] = &fstest.MapFile{Data: []byte("sketch/dog/v.jpg 1\n")}
	d, truth := fatal.Get2(PACS(fsys, nil, []string{"cartoon/guitar/v.jpg"}))(t)
	want := []Skipped{
		{"cartoon/guitar/v.jpg", "excluded by request"},
		{"photo/dog/extra.jpg", "not in the official lists"},
		{"photo/note.txt", "not in the official lists"},
		{pacsBadFile, "the known bad file of PACS; the published code leaves it out, too"},
		{"sketch/horse/t 1.jpg", "not in the official lists"},
		{"sketch/horse/v.jpg", "not in the official lists"},
	}
	if !slices.Equal(d.Skipped, want) {
		t.Errorf("skipped %q, want %q", d.Skipped, want)
	}
	if len(d.Classes) != 7 || d.Len() != 53 || truth.Len() != 53 {
		t.Errorf("%d classes, %d examples, %d true classes", len(d.Classes), d.Len(), truth.Len())
	}
	if last := d.Differences[len(d.Differences)-1]; !strings.Contains(last, "sketch_test_kfold.txt has 1 images, but not the 13") {
		t.Errorf("last difference is %q", last)
	}
}

func TestPACSErrors(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		want             []string
	}{
		{"missing image", "photo_train_kfold.txt", "photo/dog/t 1.jpg 1\n\nphoto/dog/gone.jpg 1\n", []string{"1 listed", "photo_train_kfold.txt:3: photo/dog/gone.jpg"}},
		{"wrong label", "photo_train_kfold.txt", "photo/dog/t 1.jpg 2\n", []string{"photo_train_kfold.txt:1", "label 2 means elephant", "is dog"}},
		{"zero label", "photo_train_kfold.txt", "photo/dog/t 1.jpg 0\n", []string{"photo_train_kfold.txt:1", `"0"`, "1..7"}},
		{"no label", "photo_train_kfold.txt", "photo/dog/t.jpg\n", []string{"photo_train_kfold.txt:1", "a path and a label"}},
		{"wrong domain", "photo_train_kfold.txt", "sketch/dog/t 1.jpg 1\n", []string{"photo_train_kfold.txt:1", "another domain"}},
		{"strange path", "photo_train_kfold.txt", "photo/dog/../t.jpg 1\n", []string{"photo_train_kfold.txt:1", "DOMAIN/CLASS/FILE"}},
		{"train is val", "photo_train_kfold.txt", "photo/dog/v.jpg 1\n", []string{"photo_crossval_kfold.txt:1", "photo/dog/v.jpg", "listed already at photo_train_kfold.txt:1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := smallPACS(t, ".", ".")
			fsys[c.file].Data = []byte(c.text)
			_, _, err := PACS(fsys, nil, nil)
			wantError(t, err, c.want...)
		})
	}
	fsys := smallPACS(t, ".", "splits")
	delete(fsys, "splits/cartoon_crossval_kfold.txt")
	_, _, err := PACS(fsys, nil, nil)
	wantError(t, err, "cartoon_crossval_kfold.txt", "does not exist")
	_, _, err = PACS(fstest.MapFS{"a/b": {}}, nil, nil)
	wantError(t, err, "art_painting", "pacs128")
	_, _, err = PACS(smallPACS(t, ".", "."), nil, []string{"x.png"})
	wantError(t, err, "x.png")
}

func FuzzPACSList(f *testing.F) {
	f.Add([]byte("photo/dog/a.jpg 1\nphoto/person/b c.png 7\r\n\n"))
	f.Add([]byte("photo/dog/a.jpg 8"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := parsePACSList("f", data, 2, Val)
		if err != nil {
			return
		}
		for _, e := range list {
			if e.Domain != 2 || e.Split != Val || !strings.HasPrefix(e.ID, "photo/"+pacsClasses[e.class]+"/") || e.line < 1 {
				t.Fatalf("got %+v", e)
			}
		}
	})
}

func TestRealPACS(t *testing.T) {
	d, truth := fatal.Get2(Open("pacs", pacsRoot(t), Options{}))(t)
	if len(d.Differences) != 0 {
		t.Errorf("differences: %q", d.Differences)
	}
	if d.Len() != 9990 || len(d.Skipped) != 1 || d.Skipped[0].ID != pacsBadFile {
		t.Errorf("%d examples, skipped %v", d.Len(), d.Skipped)
	}
	splits := map[Split]int{}
	for i, e := range d.Examples {
		splits[e.Split]++
		if want := d.Domains[e.Domain] + "/" + d.Classes[truth.Class(i)] + "/"; !strings.HasPrefix(e.ID, want) {
			t.Fatalf("%s is said to be in %s", e.ID, want)
		}
	}
	if splits[Train] != 8976 || splits[Val] != 1014 {
		t.Errorf("%d train and %d val", splits[Train], splits[Val])
	}
	// The same files as a plain folder: the bad file is an image like the others.
	dir := fatal.Get(pacsImages(os.DirFS(pacsRoot(t))))(t)
	f, _ := fatal.Get2(Open("folder", path.Join(pacsRoot(t), dir), Options{}))(t)
	if f.Len() != 9991 || !slices.Equal(f.Classes, pacsClasses) || !slices.Equal(f.Domains, pacsDomains) {
		t.Errorf("as a folder: %d examples, %v, %v", f.Len(), f.Domains, f.Classes)
	}
}

// pacsRoot returns the folder of real PACS images, or skips the test.
func pacsRoot(t *testing.T) string {
	t.Helper()
	root := os.Getenv("LEDG_DATA")
	if root == "" {
		t.Skip("set LEDG_DATA to a folder with the images and lists of PACS to run this test")
	}
	return root
}
