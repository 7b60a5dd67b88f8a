package datasets

import (
	"fmt"
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func TestFolder(t *testing.T) {
	fsys := pictures(t, "web/cat/10.png", "web/cat/9.png", "web/Zebra/a.png", "Own/cat/x y.JPG", "Own/dog/1.png")
	fsys["Own/dog/really a jpeg.png"] = jpegFile(t, noise(99, 5, 5))
	fsys["Own/dog/.hidden.png"] = &fstest.MapFile{Data: []byte("x")}
	fsys["Own/.cache/y/z.png"] = &fstest.MapFile{Data: []byte("x")}
	fsys["__MACOSX/Own/dog/1.png"] = &fstest.MapFile{Data: []byte("x")}
	fsys["README"] = &fstest.MapFile{Data: []byte("hello")}
	fsys["web/list.txt"] = &fstest.MapFile{Data: []byte("hello")}
	fsys["web/cat/empty.png"] = &fstest.MapFile{}
	fsys["web/cat/sound.webp"] = &fstest.MapFile{Data: []byte("RIFF\x00\x00\x00\x00WAVE")}
	fsys["web/cat/deeper/11.png"] = fsys["web/cat/10.png"]
	d, truth, err := Folder(fsys, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"Own", "web"}; !slices.Equal(d.Domains, want) {
		t.Errorf("domains %v, want %v", d.Domains, want)
	}
	if want := []string{"Zebra", "cat", "dog"}; !slices.Equal(d.Classes, want) {
		t.Errorf("classes %v, want %v", d.Classes, want)
	}
	want := []string{ // one of two is train, and the only one; which is the seed's doing
		"Own/cat/x y.JPG Own cat train",
		"Own/dog/1.png Own dog val",
		"Own/dog/really a jpeg.png Own dog train",
		"web/Zebra/a.png web Zebra train",
		"web/cat/10.png web cat val",
		"web/cat/9.png web cat train",
	}
	got := describe(d, truth)
	if !slices.Equal(got, want) {
		t.Errorf("examples:\n%q\nwant:\n%q", got, want)
	}
	wantSkipped := []Skipped{
		{"README", "a file beside the site folders"},
		{"web/cat/deeper", "a folder inside a class folder"},
		{"web/cat/empty.png", "the file is empty: download or copy it again"},
		{"web/cat/sound.webp", `none of JPEG, PNG, GIF, BMP, TIFF, WebP: it starts with "RIFF\x00\x00\x00\x00"`},
		{"web/list.txt", `none of JPEG, PNG, GIF, BMP, TIFF, WebP: it starts with "hello"`},
	}
	if !slices.Equal(d.Skipped, wantSkipped) {
		t.Errorf("skipped:\n%q\nwant:\n%q", d.Skipped, wantSkipped)
	}
	for i, e := range d.Examples {
		if j, ok := d.Index(e.ID); !ok || j != i {
			t.Errorf("Index(%q) is %d, %v; want %d", e.ID, j, ok, i)
		}
		if m, err := d.Image(i); err != nil || m.Width < 5 {
			t.Errorf("Image(%d): %v", i, err)
		}
	}
	if _, ok := d.Index("web/cat/deeper"); ok {
		t.Error("a skipped file has an index")
	}
	if k, err := d.Domain("web"); k != 1 || err != nil {
		t.Errorf("Domain(web) is %d, %v", k, err)
	}
	_, err = d.Domain("wbe")
	wantError(t, err, `"wbe"`, "Own, web")
}

func TestFolderErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		fsys fstest.MapFS
		opts Options
		want []string
	}{
		{"nothing", fstest.MapFS{"a.txt": {}}, Options{}, []string{"data set folder", "site/class/image"}},
		{"flat", pictures(t, "a.png", "b.png"), Options{}, []string{"data set folder", "no folders", "site/image", "a.png"}},
		{"empty domain", func() fstest.MapFS {
			m := pictures(t, "d/c/a.png")
			m["e/c/a.txt"] = &fstest.MapFile{Data: []byte("text")}
			return m
		}(), Options{}, []string{"site e has no images"}},
		{"empty class", func() fstest.MapFS {
			m := pictures(t, "d/c/a.png", "e/c/a.png")
			m["e/f"] = &fstest.MapFile{Mode: fs.ModeDir}
			m["d/b/note.txt"] = &fstest.MapFile{Data: []byte("text")}
			return m
		}(), Options{}, []string{"class b, f"}},
		{"exclude", pictures(t, "d/c/a.png", "d/c/b.png"), Options{Exclude: []string{"d/c/b.png", "d/c/x.png"}},
			[]string{"no image d/c/x.png to exclude"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := Folder(c.fsys, c.opts)
			wantError(t, err, c.want...)
		})
	}
}

func TestFolderExclude(t *testing.T) {
	d, _ := fatal.Get2(Folder(pictures(t, "d/c/a.png", "d/c/b.png"), Options{Exclude: []string{"d/c/b.png"}}))(t)
	if d.Len() != 1 || !slices.Equal(d.Skipped, []Skipped{{"d/c/b.png", "excluded by request"}}) {
		t.Errorf("%d examples, skipped %v", d.Len(), d.Skipped)
	}
}

func TestSplit(t *testing.T) {
	var paths []string
	sizes := map[string]int{"d/a": 1, "d/b": 9, "d/c": 10, "e/a": 11, "e/b": 39}
	for cell, n := range sizes {
		for i := range n {
			paths = append(paths, fmt.Sprintf("%s/%02d.png", cell, i))
		}
	}
	slices.Sort(paths)
	fsys := pictures(t, paths...)
	split := func(seed uint64, fsys fs.FS) map[string]Split {
		d, _ := fatal.Get2(Folder(fsys, Options{Seed: seed}))(t)
		m := make(map[string]Split)
		for _, e := range d.Examples {
			m[e.ID] = e.Split
		}
		return m
	}
	a := split(1, fsys)
	for cell, want := range map[string]int{"d/a": 1, "d/b": 8, "d/c": 9, "e/a": 9, "e/b": 35} {
		got := 0
		for i := range sizes[cell] {
			if a[fmt.Sprintf("%s/%02d.png", cell, i)] == Train {
				got++
			}
		}
		if got != want {
			t.Errorf("%s has %d train images of %d, want %d", cell, got, sizes[cell], want)
		}
	}
	different := 0
	b := split(2, fsys)
	for id, s := range split(1, fsys) {
		if a[id] != s {
			t.Errorf("%s moved between two loads", id)
		}
		if b[id] != s {
			different++
		}
	}
	if different == 0 {
		t.Error("another seed gives the same split")
	}
	delete(fsys, "e/a/03.png") // changes e/a alone
	for id, s := range split(1, fsys) {
		if a[id] != s && id[:3] != "e/a" {
			t.Errorf("%s moved when an image of another class was removed", id)
		}
	}
}

func ExampleFolder() {
	fsys := fstest.MapFS{}
	for _, domain := range []string{"paintings", "photos"} {
		for i := range 10 {
			fsys[fmt.Sprintf("%s/cat/%d.jpg", domain, i)] = &fstest.MapFile{Data: []byte("\xff\xd8\xff...")}
			fsys[fmt.Sprintf("%s/dog/%d.jpg", domain, i)] = &fstest.MapFile{Data: []byte("\xff\xd8\xff...")}
		}
	}
	// On disk: os.DirFS("my/images")
	d, truth, err := Folder(fsys, Options{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Domains, d.Classes, d.Len())
	e := d.Examples[25]
	fmt.Println(e.ID, d.Domains[e.Domain], e.Split, d.Classes[truth.Class(25)])
	// Output:
	// [paintings photos] [cat dog] 40
	// photos/cat/5.jpg photos train cat
}
