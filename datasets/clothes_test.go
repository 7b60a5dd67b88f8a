package datasets

import (
	"path"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/clothes"
)

// Every site has images to train on and to validate with, and no person of the others is in both.
func TestClothesAreSplitByPerson(t *testing.T) {
	d, truth := fatal.Get2(Open("clothes", "", Options{Seed: 3}))(t)
	if d.Len() != 3023 || len(d.Domains) != 15 || len(d.Classes) != 15 || d.Groups != nil {
		t.Fatalf("%d images, domains %v, classes %v, groups %v", d.Len(), d.Domains, d.Classes, d.Groups)
	}
	of, all, val := map[string]Split{}, make([]int, len(d.Domains)), make([]int, len(d.Domains))
	for i, e := range d.Examples {
		site := d.Domains[e.Domain]
		if want := site + "/" + d.Classes[truth.Class(i)]; path.Dir(e.ID) != want {
			t.Errorf("%s is of %s", e.ID, want)
		}
		if all[e.Domain]++; e.Split == Val {
			val[e.Domain]++
		}
		person, _, _ := strings.Cut(path.Base(e.ID), "_")
		if split, seen := of[person]; seen && site == clothes.Others && split != e.Split {
			t.Errorf("person %s is in %v and %v", person, split, e.Split)
		}
		of[person] = e.Split
	}
	for k, n := range all {
		if 20*val[k] < n || 7*val[k] > n {
			t.Errorf("%s has %d validation images of %d, want about a tenth", d.Domains[k], val[k], n)
		}
	}
}

// No two photos are the same, and the longest side of every one is 96 px.
func TestClothesImages(t *testing.T) {
	d, _ := fatal.Get2(Clothes(Options{}))(t)
	seen := map[string]string{}
	for i, e := range d.Examples {
		m := fatal.Get(d.Image(i))(t)
		if max(m.Width, m.Height) != clothes.Size {
			t.Errorf("%s is %d x %d", e.ID, m.Width, m.Height)
		}
		if other, ok := seen[string(m.Pix)]; ok {
			t.Errorf("%s equals %s", e.ID, other)
		}
		seen[string(m.Pix)] = e.ID
	}
}

// Groups by person are the user's to ask for.
func TestClothesByPerson(t *testing.T) {
	d, _ := fatal.Get2(Open("clothes", "", Options{Group: `/(\d+)_[^/]+$`}))(t)
	if len(d.GroupNames) != 288 || d.Ungrouped != 0 {
		t.Errorf("%d groups, %d images without", len(d.GroupNames), d.Ungrouped)
	}
}
