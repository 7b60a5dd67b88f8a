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
	"github.com/ledg-go/ledg/internal/fatal"
)

// merge merges what lies beside a table, with the features to a file beside it.
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
	return predict.Merge(out, strings.TrimSuffix(out, filepath.Ext(out))+".npz", files)
}

// One shard is stopped in the middle of a line; the shards are merged to the bytes of a call
// for everything, in every format; what does not belong together is not merged.
func TestShards(t *testing.T) {
	p := open(t, copied(t))
	dir, bad := gallery(t, 300)
	out := t.TempDir()
	at := func(name string) string { return filepath.Join(out, name) }
	for _, ext := range []string{".csv", ".jsonl", ".parquet"} {
		fatal.Get(p.Files(t.Context(), predict.FilesOptions{Images: []string{dir}, Out: at("whole" + ext), Embeddings: at("whole.npz")}))(t)
	}
	o := predict.FilesOptions{Images: []string{dir}, Out: at("p.csv"), Embeddings: at("p.npz")}
	enough := errors.New("enough")
	for _, i := range []int{2, 0, 1} { // in any order
		o.Shard = shard.Shard{Index: i, Count: 3}
		if i == 1 {
			ctx, stop := context.WithCancelCause(t.Context())
			o.Progress = func(done, total int) {
				if total != 102 && total != 101 {
					t.Errorf("shard 1/3 has %d files", total)
				}
				stop(enough)
			}
			if _, err := p.Files(ctx, o); err != nil && !errors.Is(err, enough) {
				t.Fatal(err)
			}
			o.Progress = nil
			whole := content(t, o.Shard.File(o.Out))
			put(t, o.Shard.File(o.Out), []byte(whole[:len(whole)-30]))
			fatal.Says(t, fatal.Err(merge(o.Out)), "shard 1/3 is not complete; ")
		}
		fatal.Get(p.Files(t.Context(), o))(t)
		if i == 0 {
			fatal.Says(t, fatal.Err(merge(o.Out)), "shard 1/3 is missing")
		}
		s, err := p.Files(t.Context(), o) // which has nothing to do
		if err != nil || s.Resumed != s.Predicted || s.Predicted < 90 {
			t.Errorf("a shard that is complete: %+v, %v", s, err)
		}
	}
	if _, err := os.Stat(o.Out); err == nil {
		t.Error("a shard or a failed merge has written the table")
	}
	for _, ext := range []string{".csv", ".jsonl", ".parquet"} {
		out := at("p" + ext)
		names := fatal.Get(shard.Find(at("p.csv")))(t)
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
	zero, one, two := shard.Shard{Index: 0, Count: 3}.File(o.Out), shard.Shard{Index: 1, Count: 3}.File(o.Out), shard.Shard{Index: 2, Count: 3}.File(o.Out)
	make := func(name string, index, count int, images ...string) string {
		o := predict.FilesOptions{Images: images, Out: at(name), Shard: shard.Shard{Index: index, Count: count}, Embeddings: at("p.npz")}
		fatal.Get(p.Files(t.Context(), o))(t)
		return o.Shard.File(o.Out)
	}
	four := make("four.csv", 2, 4, dir)
	elsewhere := make("elsewhere.csv", 2, 3, filepath.Join(dir, "d0"))
	save(t, filepath.Join(dir, "z.png"), noise(1, 12, 12))
	more := make("more.csv", 2, 3, dir)
	cut, flipped, renumbered, longer := at("cut"), at("flipped"), at("renumbered"), at("longer")
	whole := content(t, two)
	put(t, cut, []byte(whole[:len(whole)-4]))
	bits := []byte(whole)
	bits[len(bits)/2] ^= 1
	put(t, flipped, bits)
	put(t, renumbered, []byte(strings.Replace(content(t, one), `"shard":"1/3"`, `"shard":"2/3"`, 1)))
	put(t, longer, []byte(whole+"more"))
	for name, c := range map[string]struct {
		paths []string
		want  string
	}{
		"other n":      {[]string{zero, one, four}, zero + " and " + four + " do not belong together: shards 0/3 and 2/4"},
		"other images": {[]string{zero, one, elsewhere}, "images is ["},
		"more files":   {[]string{zero, one, more}, `listing is "304, `},
		"twice":        {[]string{zero, one, two, one}, "shard 1/3 is there twice"},
		"no shard":     {[]string{zero, one, at("whole.csv")}, "whole.csv: it is no shard"},
		"cut":          {[]string{zero, one, cut}, "cut: shard 2/3 is not complete"},
		"flipped":      {[]string{zero, one, flipped}, "flipped: damaged after byte "},
		"renumbered":   {[]string{zero, one, renumbered}, "renumbered: damaged after byte "},
		"longer":       {[]string{zero, one, longer}, "longer: damaged after byte "},
		"none":         {[]string{zero, one, at("none")}, "none: no such file"},
	} {
		if _, err := merge(at("p.csv"), c.paths...); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one line with %q", name, err, c.want)
		}
		if _, err := os.Stat(at("p.csv")); err == nil {
			t.Fatalf("%s: a refused merge has written", name)
		}
	}
	fatal.Says(t, fatal.Err(p.Files(t.Context(), predict.FilesOptions{Images: []string{dir}, Out: o.Out, Embeddings: o.Embeddings, Shard: shard.Shard{Index: 2, Count: 3}})), "p.csv.2-of-3 was left by an interrupted call of something else: listing is ")
}

// Shards before and after an image has changed, even to one of as many bytes, are not merged;
// nor does a record say where a merge writes.
func TestShardsOfChangedImages(t *testing.T) {
	p := open(t, copied(t))
	dir, _ := gallery(t, 12)
	out := filepath.Join(t.TempDir(), "p.csv")
	predictShard := func(i int) {
		t.Helper()
		o := predict.FilesOptions{Images: []string{dir}, Out: out, Shard: shard.Shard{Index: i, Count: 2}}
		fatal.Get(p.Files(t.Context(), o))(t)
	}
	predictShard(0)
	var image string
	fatal.If(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".png" && e.Type().IsRegular() {
			image = path
		}
		return err
	}))
	changed := []byte(content(t, image))
	changed[len(changed)-1] ^= 1
	put(t, image, changed)
	predictShard(1)
	names, err := shard.Find(out)
	if err != nil {
		t.Fatal(err)
	}
	_, err = shard.Together(names)
	if err == nil || !strings.Contains(err.Error(), "do not belong together: listing is ") {
		t.Errorf("an image has changed: %v", err)
	}
	for _, name := range names { // and make them again
		fatal.If(t, os.Remove(name))
	}
	predictShard(0)
	predictShard(1)
	files := fatal.Get(shard.Together(names))(t)
	fatal.Says(t, fatal.Err(predict.Merge(out, out+".npz", files)), "the shards have no features for ")
	for _, name := range names {
		if _, err := predict.Merge(name, "", files); err == nil {
			t.Errorf("a merge writes over %s", name)
		}
	}
	if _, err := predict.Merge(out, "", files); err != nil {
		t.Error(err)
	}
}

// FuzzMerge merges anything that is a well-formed shard of predictions.
func FuzzMerge(f *testing.F) {
	dir := f.TempDir()
	f.Add([]byte(`{"model":"x","features":1}`), []byte(`{"path":"a","class":"c"}`+"\n\x00\x00\x80\x3f"), 1)
	f.Add([]byte(`{"features":0}`), []byte(`{"path":"a","error":"broken"}`+"\n"), 1)
	f.Add([]byte(`{"features":-1}`), []byte("{}\n"), 1<<60)
	f.Add([]byte(`{"features":4611686018427387904}`), []byte("null\n"), 1)
	f.Fuzz(func(t *testing.T, of, item []byte, total int) {
		path := filepath.Join(dir, "p.csv.0-of-1")
		j, err := shard.Open(path, shard.Record{Kind: shard.Predictions, Shard: shard.Shard{Index: 0, Count: 1}, Total: total, Of: of}, nil)
		if err != nil {
			return // of is no JSON
		}
		defer os.Remove(path)
		defer j.Close()
		fatal.Get(j.Append(item))(t)
		fatal.If(t, j.End())
		files, err := shard.Together([]string{path})
		if err != nil {
			return
		}
		for _, embeddings := range []string{"", filepath.Join(dir, "p.npz"), filepath.Join(dir, "p.safetensors"), filepath.Join(dir, "p.parquet")} {
			_, _ = predict.Merge(filepath.Join(dir, "p.csv"), embeddings, files)
		}
	})
}
