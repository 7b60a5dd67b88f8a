package datasets

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// sixExamples are those of generatedSet: three a domain, of classes 0, 1, 0.
var (
	sixExamples = []Example{
		{"a/0", 0, Train}, {"a/1", 0, Train}, {"a/2", 0, Val},
		{"b/0", 1, Train}, {"b/1", 1, Train}, {"b/2", 1, Val},
	}
	sixClasses = []int{0, 1, 0, 0, 1, 0}
)

func drawSix(i int) (*rgb.Image, error) { return noise(uint64(i), 10, 10), nil }

func generatedSet(t testing.TB, key string) *Dataset {
	t.Helper()
	d, _ := fatal.Get2(NewGenerated("toy", []string{"a", "b"}, []string{"x", "y"}, sixExamples, sixClasses, drawSix, key))(t)
	return d
}

func TestNewGeneratedErrors(t *testing.T) {
	domains, classes := []string{"a", "b"}, []string{"x", "y"}
	edit := func(i int, e Example) []Example {
		list := slices.Clone(sixExamples)
		list[i] = e
		return list
	}
	for _, c := range []struct {
		name     string
		examples []Example
		classes  []int
		want     []string
	}{
		{"empty", nil, nil, []string{"toy is empty"}},
		{"too few classes", sixExamples, []int{0, 1}, []string{"2 classes for 6 examples"}},
		{"domain", edit(5, Example{"b/2", 2, Val}), sixClasses, []string{"b/2", "domain 2", "0..1"}},
		{"class", sixExamples, []int{0, 1, 0, 0, -2, 0}, []string{"b/1", "class -2", "0..1"}},
		{"split", edit(0, Example{"a/0", 0, 3}), sixClasses, []string{"a/0", "split 3"}},
		{"order", edit(0, Example{"a/9", 0, Train}), sixClasses, []string{"a/1 comes after a/9"}},
		{"twice", edit(3, Example{"a/0", 1, Train}), sixClasses, []string{"two examples", "a/0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := NewGenerated("toy", domains, classes, c.examples, c.classes, drawSix, "k")
			wantError(t, err, c.want...)
		})
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	fatal.If(t, os.WriteFile(file, nil, 0o666))
	for _, c := range []struct {
		name, root string
		opts       Options
		want       []string
	}{
		{"pasc", dir, Options{}, []string{`"pasc"`, strings.Join(Names(), ", ")}},
		{"pacs", "", Options{}, []string{"pacs", "give their folder as the root"}},
		{"folder", filepath.Join(dir, "gone"), Options{}, []string{"data set folder", filepath.Join(dir, "gone"), "no such file"}},
		{"officehome", file, Options{}, []string{file, "not a folder"}},
		{"officehome", dir, Options{}, []string{dir, "real_world"}},
		{"pacs", dir, Options{SplitsDir: filepath.Join(dir, "lists")}, []string{"lists", "no such file"}},
	} {
		_, _, err := Open(c.name, c.root, c.opts)
		wantError(t, err, c.want...)
	}
}

func TestOpenPACSListsBeside(t *testing.T) {
	root := onDisk(t, smallPACS(t, "images", "pacs_splits"))
	for _, c := range []struct {
		root string
		opts Options
	}{
		{root, Options{}},
		{filepath.Join(root, "images"), Options{}},
		{filepath.Join(root, "images"), Options{SplitsDir: filepath.Join(root, "pacs_splits")}},
	} {
		d, truth, err := Open("pacs", c.root, c.opts)
		if err != nil {
			t.Error(err)
			continue
		}
		if d.Len() != 56 || truth.Len() != 56 || d.Examples[0].ID != "art_painting/dog/t 1.jpg" {
			t.Errorf("%s: %d examples, first %s", c.root, d.Len(), d.Examples[0].ID)
		}
	}
}

func TestImageError(t *testing.T) {
	fsys := pictures(t, "d/c/a.png", "d/c/b.png")
	d, _, err := Folder(fsys, Options{})
	if err != nil {
		t.Fatal(err)
	}
	fsys["d/c/b.png"].Data = fsys["d/c/b.png"].Data[:50]
	_, err = d.Image(1)
	wantError(t, err, "d/c/b.png: the file is truncated")
	delete(fsys, "d/c/a.png")
	_, err = d.Image(0)
	wantError(t, err, "d/c/a.png: file does not exist")
}

func ExampleNewGenerated() {
	grey := func(i int) (*rgb.Image, error) {
		m := rgb.New(4, 4)
		for p := range m.Pix {
			m.Pix[p] = uint8(60 * i)
		}
		return m, nil
	}
	d, truth, err := NewGenerated("shades", []string{"first", "second"}, []string{"dark", "light"},
		[]Example{{"first/0", 0, Train}, {"first/1", 0, Val}, {"second/2", 1, Train}, {"second/3", 1, Val}},
		[]int{0, 0, 1, 1}, grey, "shades, version 1")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := d.Image(3)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Examples[3].ID, d.Classes[truth.Class(3)], m.Pix[0])
	// Output: second/3 light 180
}
