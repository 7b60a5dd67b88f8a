package datasets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ledg-go/ledg/datasets/rgb"
)

// twelve is a folder data set of twelve images of different sizes.
func twelve(t testing.TB) (fstest.MapFS, *Dataset) {
	t.Helper()
	fsys := fstest.MapFS{}
	for i := range 12 {
		fsys[fmt.Sprintf("d%d/c%d/%02d.png", i%2, i%3, i)] = pngFile(t, noise(uint64(i), 5+i, 9))
	}
	d, _, err := Folder(fsys, FolderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return fsys, d
}

// onDisk writes the files below a new folder, with modification times a minute
// ago.
func onDisk(t testing.TB, fsys fstest.MapFS) string {
	t.Helper()
	root := t.TempDir()
	for name, f := range fsys {
		writeFile(t, filepath.Join(root, name), f.Data, time.Now().Add(-time.Minute))
	}
	return root
}

func writeFile(t testing.TB, path string, data []byte, modified time.Time) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, modified, modified); err != nil {
		t.Fatal(err)
	}
}

// mustPrepare prepares d at 8 pixels and returns how many images it decoded.
func mustPrepare(t testing.TB, d *Dataset, dir string) (*Images, int) {
	t.Helper()
	decoded := 0
	im, err := Prepare(t.Context(), d, 8, dir, func(done, total int) {
		decoded++
		if done != decoded || total != d.Len() {
			t.Errorf("progress says %d of %d, want %d of %d", done, total, decoded, d.Len())
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { im.Close() })
	return im, decoded
}

// wantPixels checks every image against decoding and scaling it now.
func wantPixels(t testing.TB, im *Images, d *Dataset) {
	t.Helper()
	if im.Len() != d.Len() || im.Size() != 8 {
		t.Fatalf("%d images of %d pixels, want %d of 8", im.Len(), im.Size(), d.Len())
	}
	got := rgb.New(8, 8)
	for i := range im.Len() {
		if err := im.Read(i, got); err != nil {
			t.Fatal(err)
		}
		want, err := d.Image(i)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Pix, want.Resize(8, 8).Pix) {
			t.Errorf("pixels of image %d differ", i)
		}
	}
}

func TestPrepare(t *testing.T) {
	_, d := twelve(t)
	dir := filepath.Join(t.TempDir(), "new", "cache")
	im, n := mustPrepare(t, d, dir)
	if n != 12 {
		t.Errorf("%d images decoded, want 12", n)
	}
	wantPixels(t, im, d)
	again, n := mustPrepare(t, d, dir)
	if n != 0 || again.Path() != im.Path() {
		t.Errorf("the second time %d images were decoded, in %s", n, again.Path())
	}
	wantPixels(t, again, d)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { wantPixels(t, again, d) })
	}
	wg.Wait()
	if err := again.Read(0, rgb.New(8, 7)); err == nil {
		t.Error("a destination of another size gave no error")
	}
	if files := tempFiles(t, dir); len(files) > 0 {
		t.Errorf("left over: %v", files)
	}
}

func tempFiles(t testing.TB, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.tmp"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestPrepareDamagedCache(t *testing.T) {
	_, d := twelve(t)
	dir := t.TempDir()
	im, _ := mustPrepare(t, d, dir)
	whole, err := os.ReadFile(im.Path())
	if err != nil {
		t.Fatal(err)
	}
	edit := func(at int) []byte {
		b := bytes.Clone(whole)
		b[at] ^= 0x10
		return b
	}
	for name, data := range map[string][]byte{
		"empty":              nil,
		"truncated":          whole[:len(whole)-1],
		"only the head":      whole[:headBytes(12)],
		"longer":             append(bytes.Clone(whole), 0),
		"another version":    edit(7),
		"another key":        edit(9),
		"a wrong sum":        edit(fixedBytes + 2),
		"a wrong pixel":      edit(len(whole) - 100),
		"a wrong first byte": edit(0),
		"zeros":              make([]byte, len(whole)),
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(im.Path(), data, 0o666); err != nil {
				t.Fatal(err)
			}
			leftover := im.Path() + ".123.tmp"
			if err := os.WriteFile(leftover, nil, 0o666); err != nil {
				t.Fatal(err)
			}
			again, n := mustPrepare(t, d, dir)
			if n != 12 {
				t.Errorf("%d images decoded, want 12", n)
			}
			wantPixels(t, again, d)
			if files := tempFiles(t, dir); len(files) > 0 {
				t.Errorf("left over: %v", files)
			}
		})
	}
	t.Run("while open", func(t *testing.T) {
		open, _ := mustPrepare(t, d, dir)
		f, err := os.OpenFile(open.Path(), os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteAt([]byte{1, 2, 3}, headBytes(12)); err != nil {
			t.Fatal(err)
		}
		wantError(t, open.Read(0, rgb.New(8, 8)), open.Path(), "damaged")
		if err := open.Read(1, rgb.New(8, 8)); err != nil {
			t.Error(err)
		}
	})
}

func TestPrepareNoticesChanges(t *testing.T) {
	fsys, _ := twelve(t)
	root, dir := onDisk(t, fsys), t.TempDir()
	load := func() *Dataset {
		d, _, err := Open("folder", root, Options{})
		if err != nil {
			t.Fatal(err)
		}
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
	d, _, err := Open("folder", other, Options{})
	if err != nil {
		t.Fatal(err)
	}
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
	im, err = Prepare(t.Context(), load(), 8, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer im.Close()
	wantPixels(t, im, load())
	// A damaged index is done without.
	if err := os.WriteFile(indexPath(dir, "folder", root), []byte(indexHead+"\nnonsense\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, n := mustPrepare(t, load(), dir); n != 0 {
		t.Errorf("with a damaged index %d images were decoded", n)
	}
}

func cacheFiles(t testing.TB, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.ledgimg"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// uncompressed is a PNG whose size does not depend on its content.
func uncompressed(t testing.TB, n uint64) []byte {
	t.Helper()
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.NoCompression}
	if err := encoder.Encode(&b, noise(n, 6, 6).ToImage()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPrepareUnreadable(t *testing.T) {
	fsys, _ := twelve(t)
	jpg := jpegFile(t, noise(1, 40, 40))
	jpg.Data = jpg.Data[:len(jpg.Data)/2]
	for i := range 7 {
		fsys[fmt.Sprintf("d0/c0/half%d.jpg", i)] = jpg
	}
	d, _, err := Folder(fsys, FolderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	_, err = Prepare(t.Context(), d, 8, dir, nil)
	wantError(t, err, "images of folder", "7 images cannot be decoded", "d0/c0/half0.jpg: the file is truncated", "half4.jpg", "and 2 more")
	var bad *UnreadableError
	if !errors.As(err, &bad) || len(bad.Files) != 7 || bad.Files[6].ID != "d0/c0/half6.jpg" {
		t.Errorf("the error is %#v", bad)
	}
	if files := append(tempFiles(t, dir), cacheFiles(t, dir)...); len(files) > 0 {
		t.Errorf("left over: %v", files)
	}
	delete(fsys, "d1/c1/01.png") // found by Folder, gone by now
	_, err = Prepare(t.Context(), d, 8, dir, nil)
	wantError(t, err, "an image cannot be decoded: d1/c1/01.png: file does not exist")

	var names []string
	for _, f := range bad.Files {
		names = append(names, f.ID)
	}
	fsys2, _ := twelve(t)
	for _, id := range names {
		fsys2[id] = jpg
	}
	d, _, err = Folder(fsys2, FolderOptions{Exclude: names})
	if err != nil {
		t.Fatal(err)
	}
	im, _ := mustPrepare(t, d, dir)
	wantPixels(t, im, d)
}

func TestPrepareErrors(t *testing.T) {
	_, d := twelve(t)
	dir := t.TempDir()
	for _, size := range []int{0, -1, maxSize + 1} {
		_, err := Prepare(t.Context(), d, size, dir, nil)
		wantError(t, err, fmt.Sprint("size ", size))
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := Prepare(t.Context(), d, 8, filepath.Join(file, "cache"), nil)
	wantError(t, err, "images of folder", file)
	if os.Getuid() != 0 { // root may write anywhere
		sealed := filepath.Join(dir, "sealed")
		if err := os.Mkdir(sealed, 0o555); err != nil {
			t.Fatal(err)
		}
		_, err = Prepare(t.Context(), d, 8, sealed, nil)
		wantError(t, err, sealed, "permission denied")
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = Prepare(ctx, d, 8, dir, func(done, total int) {
		if done == 3 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if files := append(tempFiles(t, dir), cacheFiles(t, dir)...); len(files) > 0 {
		t.Errorf("left over: %v", files)
	}
}

// Several processes want the same cache at once: one makes it.
func TestPrepareProcesses(t *testing.T) {
	const variable = "LEDG_TEST_PREPARE"
	if where := os.Getenv(variable); where != "" { // this is a child
		root, dir, _ := strings.Cut(where, "|")
		d, _, err := Open("folder", root, Options{})
		if err != nil {
			t.Fatal(err)
		}
		im, n := mustPrepare(t, d, dir)
		wantPixels(t, im, d)
		fmt.Printf("decoded %d\n", n)
		return
	}
	fsys, _ := twelve(t)
	root, dir := onDisk(t, fsys), t.TempDir()
	var wg sync.WaitGroup
	outputs := make([]string, 4)
	for i := range outputs {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestPrepareProcesses$", "-test.v")
			cmd.Env = append(os.Environ(), variable+"="+root+"|"+dir)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("child: %v\n%s", err, out)
			}
			outputs[i] = string(out)
		})
	}
	wg.Wait()
	builders := 0
	for _, out := range outputs {
		if strings.Contains(out, "decoded 12\n") {
			builders++
		} else if !strings.Contains(out, "decoded 0\n") {
			t.Errorf("a child said %q", out)
		}
	}
	if builders != 1 {
		t.Errorf("%d processes made the cache, want 1", builders)
	}
	if files := tempFiles(t, dir); len(files) > 0 {
		t.Errorf("left over: %v", files)
	}
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

func TestPrepareGenerated(t *testing.T) {
	d := generatedSet(t, "v1")
	dir := t.TempDir()
	im, n := mustPrepare(t, d, dir)
	if n != 6 {
		t.Errorf("%d images made", n)
	}
	wantPixels(t, im, d)
	if _, n := mustPrepare(t, generatedSet(t, "v1"), dir); n != 0 {
		t.Errorf("the second time %d images were made", n)
	}
	if other, n := mustPrepare(t, generatedSet(t, "v2"), dir); n != 6 || other.Path() == im.Path() {
		t.Errorf("with another key %d images were made, in %s", n, other.Path())
	}
	if got := slices.Compact(cacheFiles(t, dir)); len(got) != 2 {
		t.Errorf("cache files %v", got)
	}
}

func TestRealPrepare(t *testing.T) {
	d, _, err := Open("pacs", pacsRoot(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	start := time.Now()
	im, err := Prepare(t.Context(), d, 64, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	im.Close()
	built := time.Since(start)
	start = time.Now()
	im, err = Prepare(t.Context(), d, 64, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer im.Close()
	t.Logf("%d images at 64 px: made in %v, opened again in %v", im.Len(), built, time.Since(start))
	m := rgb.New(64, 64)
	for i := 0; i < d.Len(); i += 997 {
		want, err := d.Image(i)
		if err != nil {
			t.Fatal(err)
		}
		if err := im.Read(i, m); err != nil || !bytes.Equal(m.Pix, want.Resize(64, 64).Pix) {
			t.Errorf("%s: %v", d.Examples[i].ID, err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	_, d := twelve(b)
	im, err := Prepare(b.Context(), d, 64, b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer im.Close()
	m := rgb.New(64, 64)
	b.SetBytes(int64(len(m.Pix)))
	for b.Loop() {
		if err := im.Read(5, m); err != nil {
			b.Fatal(err)
		}
	}
}

func ExamplePrepare() {
	d, _, err := NewGenerated("toy", []string{"a", "b"}, []string{"x", "y"}, sixExamples, sixClasses, drawSix, "toy 1")
	if err != nil {
		fmt.Println(err)
		return
	}
	dir, err := os.MkdirTemp("", "ledg") // or "", for the user's cache folder
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	images, err := Prepare(context.Background(), d, 32, dir, func(done, total int) {
		if done == total {
			fmt.Println("decoded", total)
		}
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer images.Close()
	m := rgb.New(images.Size(), images.Size())
	if err := images.Read(3, m); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(images.Len(), m.Width, m.Height)
	// Output:
	// decoded 6
	// 6 32 32
}
