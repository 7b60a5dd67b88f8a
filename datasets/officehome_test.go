package datasets

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// wholeOfficeHome has as many files per class as the real data set, with only
// the first bytes of a JPEG. The function dir returns the class folder of image
// i of n.
func wholeOfficeHome(dir func(domain, class, i, n int) string) fstest.MapFS {
	fsys := fstest.MapFS{}
	file := &fstest.MapFile{Data: []byte("\xff\xd8\xff\xe0....")}
	for k := range officeHomeDomains {
		for c := range officeHomeClasses {
			n := officeHomeCounts[k][c]
			for i := range n {
				fsys[path.Join(dir(k, c, i, n), fmt.Sprintf("%05d.jpg", i+1))] = file
			}
		}
	}
	return fsys
}

func TestOfficeHomeLayouts(t *testing.T) {
	if !slices.IsSorted(officeHomeClasses) || len(officeHomeClasses) != 65 {
		t.Fatal("classes are not 65 in byte order")
	}
	original := []string{"Art", "Clipart", "Product", "Real World"}
	for _, c := range []struct {
		name string
		dir  func(domain, class, i, n int) string
		id   string // of the first example
	}{
		{"office_home_dg", func(k, c, i, n int) string {
			part := "train"
			if i >= trainCount(n) {
				part = "val"
			}
			return path.Join("office_home_dg", officeHomeDomains[k], part, officeHomeClasses[c])
		}, "art/train/Alarm_Clock/00001.jpg"},
		{"original", func(k, c, i, n int) string {
			return path.Join(original[k], officeHomeClasses[c])
		}, "Art/Alarm_Clock/00001.jpg"},
		{"RealWorld and prefixes", func(k, c, i, n int) string {
			return path.Join("images", strings.ReplaceAll(original[k], " ", ""), fmt.Sprintf("%03d_%s", c, officeHomeClasses[c]))
		}, "Art/000_Alarm_Clock/00001.jpg"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, truth := fatal.Get2(OfficeHome(wholeOfficeHome(c.dir), Options{Seed: 1}))(t)
			if d.Len() != 15588 || len(d.Differences) != 0 || len(d.Skipped) != 0 {
				t.Errorf("%d examples, differences %q, skipped %q", d.Len(), d.Differences, d.Skipped)
			}
			if d.Examples[0].ID != c.id {
				t.Errorf("first example is %s, want %s", d.Examples[0].ID, c.id)
			}
			train := make([]int, 4)
			for i, e := range d.Examples {
				if e.Split == Train {
					train[e.Domain]++
				}
				if class := d.Classes[truth.Class(i)]; !strings.Contains(e.ID, class) {
					t.Fatalf("%s is said to be %s", e.ID, class)
				}
			}
			if want := []int{2162, 3909, 3969, 3892}; !slices.Equal(train, want) {
				t.Errorf("train images %v, want %v", train, want)
			}
		})
	}
}

func TestOfficeHomePart(t *testing.T) {
	fsys := pictures(t, "Art/TV/1.jpg", "Art/Table/1.jpg", "Art/Chairs/1.jpg", "clipart/train/Bed/1.jpg",
		"clipart/val/alarm clock/1.jpg", "clipart/test/Bed/2.jpg", "product/Mug/1.jpg", "real-world/Toothbrush/1.jpg")
	fsys["imagelist.txt"] = &fstest.MapFile{}
	fsys["Art/Table/x.gif"] = &fstest.MapFile{Data: []byte("GIF90a..")}
	d, truth := fatal.Get2(OfficeHome(fsys, Options{}))(t)
	want := []string{
		"Art/TV/1.jpg art TV val",
		"Art/Table/1.jpg art Table val",
		"clipart/train/Bed/1.jpg clipart Bed train",
		"clipart/val/alarm clock/1.jpg clipart Alarm_Clock val",
		"product/Mug/1.jpg product Mug val",
		"real-world/Toothbrush/1.jpg real_world ToothBrush val",
	}
	if got := describe(d, truth); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	wantSkipped := []Skipped{
		{"Art/Chairs", "not one of the 65 classes"},
		{"Art/Table/x.gif", `none of JPEG, PNG, GIF, BMP, TIFF, WebP: it starts with "GIF90a.."`},
		{"clipart/test", "a folder beside train and val"},
		{"imagelist.txt", "not one of the four domains"},
	}
	if !slices.Equal(d.Skipped, wantSkipped) {
		t.Errorf("skipped %q\nwant %q", d.Skipped, wantSkipped)
	}
	if len(d.Differences) != 260 || !slices.Contains(d.Differences, "clipart/Bed has 1 train and 0 val images, published are 88 and 10") {
		t.Errorf("%d differences", len(d.Differences))
	}
	tv, table := truth.Class(0), truth.Class(1)
	if tv != 58 || table != 59 {
		t.Errorf("TV is class %d and Table %d, want 58 and 59", tv, table)
	}
}

func TestOfficeHomeErrors(t *testing.T) {
	for _, c := range []struct {
		name  string
		paths []string
		want  []string
	}{
		{"nothing", []string{"a/b/c.png"}, []string{"art, clipart, product, real_world", "office_home_dg"}},
		{"no product", []string{"art/Bed/1.png", "clipart/Bed/1.png", "real_world/Bed/1.png"}, []string{"domain product"}},
		{"domain twice", []string{"Real World/Bed/1.png", "real_world/Bed/1.png"}, []string{`"Real World"`, `"real_world"`}},
		{"class twice", []string{"art/Bed/1.png", "art/003_Bed/1.png", "clipart/Bed/1.png"}, []string{"in art", `"003_Bed"`, "class Bed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := OfficeHome(pictures(t, c.paths...), Options{})
			wantError(t, err, append(c.want, "data set officehome")...)
		})
	}
	fsys := pictures(t, "art/Bed/1.png", "clipart/Bed/1.png", "product/Bed/1.png")
	fsys["real_world/Bed/1.txt"] = &fstest.MapFile{Data: bytes.Repeat([]byte("x"), 20)}
	_, _, err := OfficeHome(fsys, Options{})
	wantError(t, err, `"real_world" has no images`)
}
