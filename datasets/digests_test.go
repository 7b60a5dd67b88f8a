package datasets

import (
	"bytes"
	"crypto/sha256"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func TestPrepareNoticesChanges(t *testing.T) {
	fsys, _ := twelve(t)
	root, dir := onDisk(t, fsys), t.TempDir()
	load := func() *Dataset {
		d, _ := fatal.Get2(Open("folder", root, Options{}))(t)
		return d
	}
	im, n := mustPrepare(t, load(), dir)
	first := im.Path()
	if n != 12 {
		t.Errorf("%d images decoded", n)
	}
	index, err := os.ReadFile(indexPath(dir, "folder", root))
	if err != nil || bytes.Count(index, []byte("\n")) != 13 {
		t.Errorf("index %q, %v", index, err)
	}
	// New content with another time.
	path := filepath.Join(root, "d0/c0/00.png")
	writeFile(t, path, pngFile(t, noise(77, 6, 6)).Data, time.Now().Add(-50*time.Second))
	im, n = mustPrepare(t, load(), dir)
	if n != 12 || im.Path() == first {
		t.Errorf("after a change %d images were decoded, to %s", n, im.Path())
	}
	wantPixels(t, im, load())
	// The old content again, under the old cache's name.
	writeFile(t, path, fsys["d0/c0/00.png"].Data, time.Now().Add(-40*time.Second))
	im, n = mustPrepare(t, load(), dir)
	if n != 0 || im.Path() != first {
		t.Errorf("with the old content %d images were decoded, to %s", n, im.Path())
	}
	// A file only touched, or copied elsewhere, is the same content.
	other := onDisk(t, fsys)
	d, _ := fatal.Get2(Open("folder", other, Options{}))(t)
	if im, n := mustPrepare(t, d, dir); n != 0 || im.Path() != first {
		t.Errorf("for a copy %d images were decoded, to %s", n, im.Path())
	}
	// Other content of the same size and time is noticed when it is decoded.
	a, b := uncompressed(t, 1), uncompressed(t, 2)
	when := time.Now().Add(-time.Hour)
	writeFile(t, path, a, when)
	mustPrepare(t, load(), dir)
	writeFile(t, path, b, when)
	for _, f := range cacheFiles(t, dir) {
		os.Remove(f)
	}
	im = fatal.Get(Prepare(t.Context(), load(), 8, dir, nil))(t)
	defer im.Close()
	wantPixels(t, im, load())
	// A damaged index is done without.
	fatal.If(t, os.WriteFile(indexPath(dir, "folder", root), []byte(indexHead+"\nnonsense\n"), 0o666))
	if _, n := mustPrepare(t, load(), dir); n != 0 {
		t.Errorf("with a damaged index %d images were decoded", n)
	}
}

// What was seen to be an image is not opened again unless it changes.
func TestOpenRemembersImages(t *testing.T) {
	fsys, _ := twelve(t)
	root, dir := onDisk(t, fsys), t.TempDir()
	note := filepath.Join(root, "d0/c0/note.txt")
	old := time.Now().Add(-time.Hour)
	writeFile(t, note, []byte("a note"), old)
	load := func() *Dataset {
		t.Helper()
		d, _ := fatal.Get2(Open("folder", root, Options{CacheDir: dir}))(t)
		return d
	}
	mustPrepare(t, load(), dir)
	known := filepath.Join(root, "d0/c0/00.png")
	info := fatal.Get(os.Stat(known))(t)
	// Of the same size and time: it passes for the image that it was.
	writeFile(t, known, bytes.Repeat([]byte("x"), int(info.Size())), info.ModTime())
	if d := load(); d.Len() != 12 || len(d.Skipped) != 1 {
		t.Errorf("%d images, skipped %v; want 12, and the note skipped", d.Len(), d.Skipped)
	}
	// Of another time: it is looked into.
	fatal.If(t, os.Chtimes(known, old, old))
	if d := load(); d.Len() != 11 || len(d.Skipped) != 2 {
		t.Errorf("%d images, skipped %v; want 11, and two skipped", d.Len(), d.Skipped)
	}
	// What was skipped is looked into every time.
	writeFile(t, note, pngFile(t, noise(3, 6, 6)).Data, old)
	if d := load(); d.Len() != 12 {
		t.Errorf("%d images, want 12", d.Len())
	}
}

// uncompressed is a PNG whose size does not depend on its content.
func uncompressed(t testing.TB, n uint64) []byte {
	t.Helper()
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.NoCompression}
	fatal.If(t, encoder.Encode(&b, noise(n, 6, 6).ToImage()))
	return b.Bytes()
}

func TestIndexLines(t *testing.T) {
	for _, id := range []string{"a/b/c.png", "a b/\"c\"\n/é.png", ""} {
		want := remembered{stamp{123, -45}, digest{1, 2, 255}}
		line := indexLine(id, want)
		got, r, ok := parseIndexLine(line)
		if !ok || got != id || r != want || strings.Contains(line, "\n") {
			t.Errorf("%q came back as %q, %v, %v", line, got, r, ok)
		}
	}
	good := indexLine("a", remembered{})
	for _, bad := range []string{"", "x", good[1:], good[:len(good)-1], strings.Replace(good, " 0", " z", 1)} {
		if _, _, ok := parseIndexLine(bad); ok {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// Runs and cached images of before a change in decoding are distinguished from later ones, but
// only where pixels have changed.
func TestDigestNamesDecoding(t *testing.T) {
	m := noise(1, 4, 4)
	if data := pngFile(t, m).Data; contentDigest("", data) != sha256.Sum256(data) {
		t.Error("a PNG, decoded as ever, has a new digest")
	}
	if data := jpegFile(t, m).Data; contentDigest("", data) == sha256.Sum256(data) {
		t.Error("a JPEG, decoded otherwise than before, has its old digest")
	}
}
