package predict_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/predict/shard"
)

// merge merges what lies beside a table.
func merge(out string, paths ...string) (s predict.Summary, err error) {
	if len(paths) == 0 {
		if paths, err = shard.Find(out); err != nil {
			return s, err
		}
	}
	files, err := shard.Together(paths)
	if err != nil {
		return s, err
	}
	return predict.Merge(out, files)
}

// Parts, of which one is stopped in the middle of a line, are merged to the bytes of a call
// for everything, in every format; what does not belong together is not merged.
func TestParts(t *testing.T) {
	p := open(t, copied(t))
	dir, bad := gallery(t, 300)
	out := t.TempDir()
	at := func(name string) string { return filepath.Join(out, name) }
	for _, ext := range []string{".csv", ".jsonl", ".parquet"} {
		if _, err := p.Files(t.Context(), predict.FilesOptions{Images: []string{dir}, Out: at("whole" + ext), Embeddings: at("whole.npz")}); err != nil {
			t.Fatal(err)
		}
	}
	o := predict.FilesOptions{Images: []string{dir}, Out: at("p.csv"), Embeddings: at("p.npz")}
	enough := errors.New("enough")
	for _, i := range []int{2, 0, 1} { // in any order
		o.Part = shard.Part{Index: i, Count: 3}
		if i == 1 {
			ctx, stop := context.WithCancelCause(t.Context())
			o.Progress = func(done, total int) {
				if total != 102 && total != 101 {
					t.Errorf("part 1/3 has %d files", total)
				}
				stop(enough)
			}
			if _, err := p.Files(ctx, o); err != nil && !errors.Is(err, enough) {
				t.Fatal(err)
			}
			o.Progress = nil
			whole := content(t, o.Part.File(o.Out))
			put(t, o.Part.File(o.Out), []byte(whole[:len(whole)-30]))
			if _, err := merge(o.Out); err == nil || !strings.Contains(err.Error(), "part 1/3 is not complete: ") {
				t.Errorf("half a part is merged: %v", err)
			}
		}
		if _, err := p.Files(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if _, err := merge(o.Out); err == nil || !strings.Contains(err.Error(), "part 1/3 is missing") {
				t.Errorf("a part is missing: %v", err)
			}
		}
		s, err := p.Files(t.Context(), o) // which has nothing to do
		if err != nil || s.Resumed != s.Predicted || s.Predicted < 90 {
			t.Errorf("a part that is complete: %+v, %v", s, err)
		}
	}
	if _, err := os.Stat(o.Out); err == nil {
		t.Error("a part or a failed merge has written the table")
	}
	for _, ext := range []string{".csv", ".jsonl", ".parquet"} {
		out := at("p" + ext)
		names, err := shard.Find(at("p.csv"))
		if err != nil {
			t.Fatal(err)
		}
		s, err := merge(out, names...)
		if err != nil || s.Predicted != 300 || s.Failed != len(bad) || s.Embeddings != at("p.npz") {
			t.Fatalf("%+v, %v", s, err)
		}
		for got, want := range map[string]string{"p" + ext: "whole" + ext, "p.failed.csv": "whole.failed.csv", "p.npz": "whole.npz"} {
			if content(t, at(got)) != content(t, at(want)) {
				t.Errorf("%s differs from what one call makes", got)
			}
		}
	}

	// What does not belong together.
	os.Remove(at("p.csv"))
	zero, one, two := shard.Part{Index: 0, Count: 3}.File(o.Out), shard.Part{Index: 1, Count: 3}.File(o.Out), shard.Part{Index: 2, Count: 3}.File(o.Out)
	make := func(name string, index, count int, images ...string) string {
		o := predict.FilesOptions{Images: images, Out: at(name), Part: shard.Part{Index: index, Count: count}, Embeddings: at("p.npz")}
		if _, err := p.Files(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		return o.Part.File(o.Out)
	}
	four := make("four.csv", 2, 4, dir)
	elsewhere := make("elsewhere.csv", 2, 3, filepath.Join(dir, "d0"))
	save(t, filepath.Join(dir, "z.png"), noise(1, 12, 12))
	more := make("more.csv", 2, 3, dir)
	cut := at("cut.csv.2-of-3")
	put(t, cut, []byte(content(t, two)))
	put(t, cut+".features", []byte(content(t, two+".features")[4:]))
	for name, c := range map[string]struct {
		paths []string
		want  string
	}{
		"other n":        {[]string{zero, one, four}, zero + " and " + four + " do not belong together: parts 0/3 and 2/4"},
		"other images":   {[]string{zero, one, elsewhere}, "images is ["},
		"more files":     {[]string{zero, one, more}, `listing is "304, `},
		"twice":          {[]string{zero, one, two, one}, "part 1/3 is there twice"},
		"no part":        {[]string{zero, one, at("whole.csv")}, "whole.csv: is not a part"},
		"features short": {[]string{zero, one, cut}, "cut.csv.2-of-3.features has "},
		"none":           {[]string{zero, one, at("none")}, "none: no such file"},
	} {
		if _, err := merge(at("p.csv"), c.paths...); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one line with %q", name, err, c.want)
		}
		if _, err := os.Stat(at("p.csv")); err == nil {
			t.Fatalf("%s: a refused merge has written", name)
		}
	}
	if _, err := p.Files(t.Context(), predict.FilesOptions{Images: []string{dir}, Out: o.Out, Embeddings: o.Embeddings, Part: shard.Part{Index: 2, Count: 3}}); err == nil || !strings.Contains(err.Error(), "of other files") {
		t.Errorf("a part goes on with other files: %v", err)
	}
}
