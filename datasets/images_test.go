package datasets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// twelve is a folder data set of twelve images of different sizes.
func twelve(t testing.TB) (fstest.MapFS, *Dataset) {
	t.Helper()
	fsys := fstest.MapFS{}
	for i := range 12 {
		fsys[fmt.Sprintf("d%d/c%d/%02d.png", i%2, i%3, i)] = pngFile(t, noise(uint64(i), 5+i, 9))
	}
	d, _ := fatal.Get2(Folder(fsys, Options{}))(t)
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
	fatal.If(t, os.MkdirAll(filepath.Dir(path), 0o777))
	fatal.If(t, os.WriteFile(path, data, 0o666))
	fatal.If(t, os.Chtimes(path, modified, modified))
}

// mustPrepare prepares d at 8 pixels and returns how many images it decoded.
func mustPrepare(t testing.TB, d *Dataset, dir string) (*Images, int) {
	t.Helper()
	decoded := 0
	im := fatal.Get(Prepare(t.Context(), d, 8, dir, func(done, total int) {
		decoded++
		if done != decoded || total != d.Len() {
			t.Errorf("progress says %d of %d, want %d of %d", done, total, decoded, d.Len())
		}
	}))(t)
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
		fatal.If(t, im.Read(i, got))
		want := fatal.Get(d.Image(i))(t)
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
	return fatal.Get(filepath.Glob(filepath.Join(dir, "*.tmp")))(t)
}

func cacheFiles(t testing.TB, dir string) []string {
	t.Helper()
	return fatal.Get(filepath.Glob(filepath.Join(dir, "*.ledgimg")))(t)
}

func TestPrepareUnreadable(t *testing.T) {
	fsys, _ := twelve(t)
	jpg := jpegFile(t, noise(1, 40, 40))
	jpg.Data = jpg.Data[:len(jpg.Data)/2]
	for i := range 7 {
		fsys[fmt.Sprintf("d0/c0/half%d.jpg", i)] = jpg
	}
	d, _, err := Folder(fsys, Options{})
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
	d, _ = fatal.Get2(Folder(fsys2, Options{Exclude: names}))(t)
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
	fatal.If(t, os.WriteFile(file, nil, 0o666))
	_, err := Prepare(t.Context(), d, 8, filepath.Join(file, "cache"), nil)
	wantError(t, err, "images of folder", file)
	if os.Getuid() != 0 { // root may write anywhere
		sealed := filepath.Join(dir, "sealed")
		fatal.If(t, os.Mkdir(sealed, 0o555))
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
	d, _ := fatal.Get2(Open("pacs", pacsRoot(t), Options{}))(t)
	dir := t.TempDir()
	start := time.Now()
	im := fatal.Get(Prepare(t.Context(), d, 64, dir, nil))(t)
	im.Close()
	built := time.Since(start)
	start = time.Now()
	im = fatal.Get(Prepare(t.Context(), d, 64, dir, nil))(t)
	defer im.Close()
	t.Logf("%d images at 64 px: made in %v, opened again in %v", im.Len(), built, time.Since(start))
	m := rgb.New(64, 64)
	for i := 0; i < d.Len(); i += 997 {
		want := fatal.Get(d.Image(i))(t)
		if err := im.Read(i, m); err != nil || !bytes.Equal(m.Pix, want.Resize(64, 64).Pix) {
			t.Errorf("%s: %v", d.Examples[i].ID, err)
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
