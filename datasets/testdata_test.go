package datasets

import (
	"bytes"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// noise is an image of w by h pixels drawn from n.
func noise(n uint64, w, h int) *rgb.Image {
	r := rand.New(rand.NewPCG(n, 0))
	m := rgb.New(w, h)
	for i := range m.Pix {
		m.Pix[i] = uint8(r.Uint32())
	}
	return m
}

func pngFile(t testing.TB, m *rgb.Image) *fstest.MapFile {
	t.Helper()
	var b bytes.Buffer
	fatal.If(t, png.Encode(&b, m.ToImage()))
	return &fstest.MapFile{Data: b.Bytes()}
}

func jpegFile(t testing.TB, m *rgb.Image) *fstest.MapFile {
	t.Helper()
	var b bytes.Buffer
	fatal.If(t, jpeg.Encode(&b, m.ToImage(), nil))
	return &fstest.MapFile{Data: b.Bytes()}
}

// pictures is a file system with a different small PNG at every path.
func pictures(t testing.TB, paths ...string) fstest.MapFS {
	t.Helper()
	fsys := fstest.MapFS{}
	for i, p := range paths {
		fsys[p] = pngFile(t, noise(uint64(i), 6, 4))
	}
	return fsys
}

// describe lists a data set's examples as "id domain/class split".
func describe(d *Dataset, t Truth) []string {
	var lines []string
	for i, e := range d.Examples {
		class := "?"
		if t.Knows(i) {
			class = d.Classes[t.Class(i)]
		}
		lines = append(lines, strings.Join([]string{e.ID, d.Domains[e.Domain], class, e.Split.String()}, " "))
	}
	return lines
}

// wantError checks that err has all of the parts.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not name %q", err, p)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q has more than one line", err)
	}
}
