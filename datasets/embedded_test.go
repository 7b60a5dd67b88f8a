package datasets

import (
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/clothes"
	"github.com/ledg-go/ledg/datasets/emoji"
)

// The features beside the embedded images are theirs: IDs, classes, domains and splits are the same, and
// each image can be shown.
func TestEmbeddedFeatures(t *testing.T) {
	for name, size := range map[string]int{"emoji": emoji.Size, "clothes": clothes.Size} {
		images, truth := fatal.Get2(Open(name, "", Options{Seed: 1}))(t)
		d, labels := fatal.Get2(Open("features", name+"/lite0.npz", Options{}))(t)
		f, _ := d.Features()
		t.Cleanup(func() { f.Close() })
		if d.Len() != images.Len() || f.Dim != 1280 || len(f.Views) != 1 {
			t.Fatalf("%s: %d vectors of %d views of %d features, want %d of one view of 1280", name, d.Len(), len(f.Views), f.Dim, images.Len())
		}
		for i, e := range d.Examples {
			k, ok := images.Index(e.ID)
			if !ok {
				t.Fatalf("%s is no image of %s", e.ID, name)
			}
			if got, want := d.Classes[labels.Class(i)], images.Classes[truth.Class(k)]; got != want {
				t.Errorf("%s: class %s, want %s", e.ID, got, want)
			}
			if got, want := d.Domains[e.Domain], images.Domains[images.Examples[k].Domain]; got != want {
				t.Errorf("%s: domain %s, want %s", e.ID, got, want)
			}
			if want := images.Examples[k].Split; name == "clothes" && e.Split != want {
				t.Errorf("%s is %v, want %v", e.ID, e.Split, want)
			}
		}
		if m := fatal.Get(d.Image(0))(t); max(m.Width, m.Height) != size {
			t.Errorf("the picture of %s is %d x %d, want %d", d.Examples[0].ID, m.Width, m.Height, size)
		}
	}
}
