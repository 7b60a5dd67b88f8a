package augment

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// golden is testdata/index.json.
type golden struct {
	Sources map[string]struct{ File string }
	Ops     []struct {
		Op, Src, File string
		Params        struct{ V float64 }
	}
	Hflip  []struct{ Src, File string }
	Cutout []struct {
		Src, File string
		CentreX   int `json:"centre_x"`
		CentreY   int `json:"centre_y"`
		Length    int
	}
	Shift []struct {
		Src, File            string
		Resize, X0, Y0, Size int
	}
	PolicyRanges map[string][]float64 `json:"policy_ranges"`
}

func readGolden(t testing.TB) golden {
	t.Helper()
	data := fatal.Get(os.ReadFile("testdata/index.json"))(t)
	var g golden
	fatal.If(t, json.Unmarshal(data, &g))
	return g
}

func readImage(t testing.TB, file string) *rgb.Image {
	t.Helper()
	f := fatal.Get(os.Open(filepath.Join("testdata", file)))(t)
	defer f.Close()
	m, err := rgb.Decode(f)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return m
}

// same fails the test unless got and want are equal in every bit.
func same(t *testing.T, got, want *rgb.Image) {
	t.Helper()
	if got.Width != want.Width || got.Height != want.Height || len(got.Pix) != len(want.Pix) {
		t.Fatalf("size %dx%d (%d bytes), want %dx%d (%d bytes)",
			got.Width, got.Height, len(got.Pix), want.Width, want.Height, len(want.Pix))
	}
	n, first := 0, -1
	for i := range got.Pix {
		if got.Pix[i] != want.Pix[i] {
			if n == 0 {
				first = i
			}
			n++
		}
	}
	if n > 0 {
		p := first / 3
		t.Errorf("%d of %d values differ; first at (%d, %d) channel %d: got %d, want %d",
			n, len(got.Pix), p%got.Width, p/got.Width, first%3, got.Pix[first], want.Pix[first])
	}
}

func TestOpsEqualPillow(t *testing.T) {
	g := readGolden(t)
	if len(g.Ops) != 108 {
		t.Fatalf("%d golden operations, want 108", len(g.Ops))
	}
	byName := map[string]Op{}
	for _, op := range Policy() {
		byName[op.Name] = op
	}
	for _, c := range g.Ops {
		t.Run(c.File, func(t *testing.T) {
			op, ok := byName[c.Op]
			if !ok {
				t.Fatalf("no operation %s", c.Op)
			}
			src := readImage(t, g.Sources[c.Src].File)
			before := src.Clone()
			same(t, op.Apply(src, c.Params.V), readImage(t, c.File))
			same(t, src, before)
		})
	}
}

func TestPolicyIsFixMatch(t *testing.T) {
	g := readGolden(t)
	if len(Policy()) != len(g.PolicyRanges) {
		t.Errorf("%d operations, want %d", len(Policy()), len(g.PolicyRanges))
	}
	for _, op := range Policy() {
		want, ok := g.PolicyRanges[op.Name]
		if want == nil {
			want = []float64{0, 0}
		}
		if got := []float64{op.Min, op.Max}; !ok || !slices.Equal(got, want) {
			t.Errorf("%s: range %v, want %v", op.Name, got, want)
		}
	}
}

func TestHFlipEqualsPillow(t *testing.T) {
	g := readGolden(t)
	for _, c := range g.Hflip {
		t.Run(c.File, func(t *testing.T) {
			src := readImage(t, g.Sources[c.Src].File)
			same(t, HFlip(src), readImage(t, c.File))
			same(t, HFlip(HFlip(src)), src)
		})
	}
}

func TestCutoutGolden(t *testing.T) {
	g := readGolden(t)
	for _, c := range g.Cutout {
		t.Run(c.File, func(t *testing.T) {
			src := readImage(t, g.Sources[c.Src].File)
			want := readImage(t, c.File)
			same(t, Cutout(src, c.CentreX, c.CentreY, c.Length), want)
			same(t, Cutout(src, c.CentreX, c.CentreY, c.Length+1), want) // odd: as one less
		})
	}
}

func TestShiftGolden(t *testing.T) {
	g := readGolden(t)
	for _, c := range g.Shift {
		t.Run(c.File, func(t *testing.T) {
			src := readImage(t, g.Sources[c.Src].File)
			got := Crop(src.Resize(c.Resize, c.Resize), c.X0, c.Y0, c.Size, c.Size)
			same(t, got, readImage(t, c.File))
		})
	}
}

// gradient returns an image of w by h pixels without structure in common between
// the channels.
func gradient(w, h int) *rgb.Image {
	m := rgb.New(w, h)
	for i := range m.Pix {
		m.Pix[i] = uint8(i*i/7 + 31*i)
	}
	return m
}

func TestOpsOnTinyImages(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {1, 5}, {5, 1}, {2, 2}, {2, 7}, {3, 3}} {
		for _, op := range Policy() {
			t.Run(fmt.Sprintf("%s %dx%d", op.Name, size[0], size[1]), func(t *testing.T) {
				src := gradient(size[0], size[1])
				before := src.Clone()
				for _, v := range []float64{op.Min, (op.Min + op.Max) / 2, op.Max} {
					if got := op.Apply(src, v); got.Width != size[0] || got.Height != size[1] {
						t.Errorf("size %dx%d", got.Width, got.Height)
					}
				}
				same(t, src, before)
			})
		}
	}
}
