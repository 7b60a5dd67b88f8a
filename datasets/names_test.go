package datasets

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// Names that are canonically equivalent are one: of sites, classes, images and labels, and those
// that are given.
func TestEquivalentNames(t *testing.T) {
	const composed, decomposed = "B\u00e4r", "Ba\u0308r"
	fsys := fstest.MapFS{}
	for i, p := range []string{"H\u00f6he/" + composed + "/0.png", "Ho\u0308he/" + decomposed + "/1.png", "S/" + decomposed + "/" + decomposed + ".png", "S/Fuchs/0.png"} {
		fsys[p] = pngFile(t, noise(uint64(i), 4, 4))
	}
	for name, o := range map[string]Options{
		"folders": {},
		"given":   {Classes: []string{decomposed, "Fuchs"}},
		"layout":  {Layout: "{site}/{class}/{name}"},
		"labels":  {Labels: []Label{{ID: "S/" + composed + "/" + composed + ".png", Class: decomposed}}},
	} {
		d, truth, err := Folder(fsys, o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.Equal(d.Domains, []string{"H\u00f6he", "S"}) || !slices.Equal(d.Classes, []string{composed, "Fuchs"}) || truth.Known() != 4 {
			t.Errorf("%s: sites %+q, classes %+q", name, d.Domains, d.Classes)
		}
		if len(d.Overruled) > 0 {
			t.Errorf("%s: overruled %v", name, d.Overruled)
		}
		i, ok := d.Index("S/" + composed + "/" + composed + ".png")
		if !ok || d.Examples[i].ID != "S/"+decomposed+"/"+decomposed+".png" {
			t.Errorf("%s: the image is not found by its other name", name)
		}
		if k, err := d.Domain("Ho\u0308he"); err != nil || k != 0 {
			t.Errorf("%s: %d, %v", name, k, err)
		}
	}
}

func TestNearClasses(t *testing.T) {
	d := &Dataset{Classes: []string{"Dog", "cat", "class1", "class2", "dog", "horse", "hosre", "mouse", "rat", "zebra", "zebras"}}
	got := strings.Join(d.NearClasses(), "\n")
	for _, want := range []string{"Dog and dog", "horse and hosre", "zebra and zebras"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s are not found", want)
		}
	}
	if n := strings.Count(got, "\n") + 1; n != 3 {
		t.Errorf("%d pairs:\n%s", n, got)
	}
}

// A table that names images by absolute paths is one of paths in the folder.
func TestAbsolutePaths(t *testing.T) {
	root := sideways(t)
	d, truth, err := Open("folder", root, Options{Labels: []Label{{ID: root + "/north/cat/1.jpg", Class: "dog"}}})
	if err != nil {
		t.Fatal(err)
	}
	if i, _ := d.Index("north/cat/1.jpg"); d.Classes[truth.Class(i)] != "dog" {
		t.Errorf("%q, %d", d.Classes, truth.Class(i))
	}
	for _, id := range []string{"/home/ann/old/north/cat/1.jpg", `D:\photos\north\cat\1.jpg`, "file://" + root + "/north/cat/1.jpg", "file:///old/north/c%61t/1.jpg"} {
		d, truth, err := Open("folder", root, Options{Labels: []Label{{ID: id, Class: "dog"}, {ID: id, Class: "dog"}}})
		if err != nil {
			t.Error(err)
		} else if i, _ := d.Index("north/cat/1.jpg"); d.Classes[truth.Class(i)] != "dog" {
			t.Errorf("%s: %q, %d", id, d.Classes, truth.Class(i))
		}
	}
	_, _, err = Open("folder", root, Options{Labels: []Label{{ID: "/a/north/cat/1.jpg", Class: "dog"}, {ID: "/b/north/cat/1.jpg", Class: "dog"}}})
	wantError(t, err, `"/a/north/cat/1.jpg": paths in /a; /b all look like`)
	_, _, err = Open("folder", root, Options{Labels: []Label{{ID: "/elsewhere/1.jpg", Class: "dog"}}})
	wantError(t, err, `"/elsewhere/1.jpg" is no image`)
	_, _, err = Open("folder", root, Options{Labels: []Label{{ID: "/elsewhere/north/cat", Class: "dog"}}})
	wantError(t, err, `"/elsewhere/north/cat" is no image`) // a folder is none
}
