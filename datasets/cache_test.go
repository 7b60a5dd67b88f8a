package datasets

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/rgb"
)

func TestPrepareDamagedCache(t *testing.T) {
	_, d := twelve(t)
	dir := t.TempDir()
	im, _ := mustPrepare(t, d, dir)
	whole := fatal.Get(os.ReadFile(im.Path()))(t)
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
		"a wrong first byte": edit(0),
		"zeros":              make([]byte, len(whole)),
	} {
		t.Run(name, func(t *testing.T) {
			fatal.If(t, os.WriteFile(im.Path(), data, 0o666))
			leftover := im.Path() + ".123.tmp"
			fatal.If(t, os.WriteFile(leftover, nil, 0o666))
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
		f := fatal.Get(os.OpenFile(open.Path(), os.O_WRONLY, 0))(t)
		defer f.Close()
		fatal.Get(f.WriteAt([]byte{1, 2, 3}, headBytes(12)))(t)
		wantError(t, open.Read(0, rgb.New(8, 8)), open.Path(), "image 0", "damaged", "it is deleted")
		if err := open.Read(1, rgb.New(8, 8)); err != nil {
			t.Error(err)
		}
		again, n := mustPrepare(t, d, dir)
		if n != 12 {
			t.Errorf("after that %d images were decoded, want 12", n)
		}
		// What another process has made meanwhile stays.
		wantError(t, open.Read(0, rgb.New(8, 8)), "damaged")
		wantPixels(t, again, d)
		if _, n := mustPrepare(t, d, dir); n != 0 {
			t.Errorf("a good file was deleted: %d images were decoded", n)
		}
	})
}

// Several processes want the same cache at once: one makes it.
func TestPrepareProcesses(t *testing.T) {
	const variable = "LEDG_TEST_PREPARE"
	if where := os.Getenv(variable); where != "" { // this is a child
		root, dir, _ := strings.Cut(where, "|")
		d, _ := fatal.Get2(Open("folder", root, Options{}))(t)
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

func BenchmarkRead(b *testing.B) {
	_, d := twelve(b)
	im := fatal.Get(Prepare(b.Context(), d, 64, b.TempDir(), nil))(b)
	defer im.Close()
	m := rgb.New(64, 64)
	b.SetBytes(int64(len(m.Pix)))
	for b.Loop() {
		fatal.If(b, im.Read(5, m))
	}
}
