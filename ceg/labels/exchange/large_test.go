package exchange

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
)

// large is an export of n answers about the images d/0.png and so on.
func large(t *testing.T, f Format, n int) string {
	t.Helper()
	dir := t.TempDir()
	var b bytes.Buffer
	each := func(format string) {
		for i := range n {
			if i > 0 && f != CSV && f != CVAT {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, format+"\n", i)
		}
	}
	name := map[Format]string{CSV: "a.csv", LabelStudio: "a.json", CVAT: "a.xml"}[f]
	switch f {
	case CSV:
		b.WriteString("id,label\n")
		each("d/%d.png,cat")
	case LabelStudio:
		b.WriteString("[")
		each(`{"id": 1, "data": {"ledg_id": "d/%d.png"}, "annotations": [{"completed_by": 1, "result": [{"type": "choices", "value": {"choices": ["cat"]}}]}]}`)
		b.WriteString("]")
	case CVAT:
		b.WriteString("<annotations>\n")
		each(`<image name="d/%d.png"><tag label="cat"/></image>`)
		b.WriteString("</annotations>\n")
	}
	path := filepath.Join(dir, name)
	fatal.If(t, os.WriteFile(path, b.Bytes(), 0o666))
	return path
}

// Labels of any tool come into the ledger in a time that grows with their number, and not
// with its square, and each names its place. Machines differ, and so do builds: it is an
// error to take long and to take far more than eight times as long for eight times as many.
func TestLargeExports(t *testing.T) {
	const few, many, limit, worst = 5_000, 40_000, 4 * time.Second, 24
	files := fstest.MapFS{}
	for i := range many {
		files[fmt.Sprintf("d/%d.png", i)] = &fstest.MapFile{Data: []byte("\x89PNG\r\n\x1a\n")}
	}
	d, _ := fatal.Get2(datasets.Folder(files, datasets.Options{Classes: []string{"cat", "dog"}}))(t)
	for _, f := range []Format{CSV, LabelStudio, CVAT} {
		t.Run(string(f), func(t *testing.T) {
			short, long := imports(t, d, f, few), imports(t, d, f, many)
			if long > limit && long > worst*short {
				t.Errorf("%d answers take %v, %d take %v", few, short, many, long)
			}
		})
	}
}

// imports returns the time in which n answers come into a ledger.
func imports(t *testing.T, d *datasets.Dataset, f Format, n int) time.Duration {
	t.Helper()
	name := large(t, f, n)
	begun := time.Now()
	im, err := Read(t.Context(), f, name, ReadOptions{Classes: d.Classes, Strict: true, By: "ann"})
	if err != nil || len(im.Labels) != n {
		t.Fatalf("%+v, %v", im, err)
	}
	lines := make(map[string]bool)
	for _, a := range im.Labels {
		lines[a.Where] = true
	}
	if len(lines) != n {
		t.Errorf("%d answers are at %d places", n, len(lines))
	}
	events := fatal.Get(im.Events(NewMatcher(d, nil)))(t)
	l := fatal.Get(labels.Open(t.TempDir(), d.Classes, labels.Options{}))(t)
	defer l.Close()
	fatal.Get(l.Append(events...))(t)
	return time.Since(begun)
}

// bombed is an archive whose entries inflate to size bytes each.
func bombed(t *testing.T, names []string, size int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bomb.zip")
	f := fatal.Get(os.Create(path))(t)
	z := zip.NewWriter(f)
	for _, name := range names {
		w := fatal.Get(z.Create(name))(t)
		fatal.Get(io.CopyN(w, endless{}, size))(t)
	}
	fatal.If(t, errors.Join(z.Close(), f.Close()))
	return path
}

// endless is text without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// What is small and inflates without measure is refused before it does.
func TestBombs(t *testing.T) {
	for name, c := range map[string]struct {
		path string
		want string
	}{
		"one entry":    {bombed(t, []string{"synsets.txt"}, 1<<29), "inflate to more than"},
		"many entries": {bombed(t, []string{"synsets.txt", "a.txt", "b.txt", "c.txt"}, 1<<27), "inflate to more than"},
		"annotations":  {bombed(t, []string{"annotations.xml"}, 1<<29), "inflate to more than"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Read(t.Context(), CVAT, c.path, ReadOptions{})
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
				t.Errorf("%d bytes were allocated", took)
			}
		})
	}
	sparse := filepath.Join(t.TempDir(), "large.csv")
	fatal.If(t, os.WriteFile(sparse, []byte("id,label\n"), 0o666))
	if err := os.Truncate(sparse, 200<<20); err != nil {
		t.Skip(err)
	}
	if _, err := Read(t.Context(), CSV, sparse, ReadOptions{}); !errors.Is(err, regular.ErrSize) {
		t.Errorf("a line without end: %v", err)
	}
	for _, f := range []Format{CSV, LabelStudio} {
		if _, err := os.Stat("/dev/zero"); err == nil {
			if _, err := Read(t.Context(), f, "/dev/zero", ReadOptions{}); !errors.Is(err, regular.ErrKind) {
				t.Errorf("%s: a device: %v", f, err)
			}
		}
	}
	d := &datasets.Dataset{Domains: []string{"d"}}
	if _, err := NewMatcher(d, nil).Match(Label{Path: strings.Repeat("a/", 1<<20)}); err == nil {
		t.Error("a path of a megabyte is found")
	}
}
