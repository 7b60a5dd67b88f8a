package predict_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// trained is the directory of one run, in which the tests must not write.
var trained = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "ledg-predict-*")
	if err != nil {
		return "", err
	}
	return dir, train(dir, "smallcnn", 16)
})

func train(dir, network string, size int) error {
	c, err := config.Resolve(config.Spec{Dataset: "glyphs", Target: "photo", Method: "uniform-ce", Preset: config.Authors, Epochs: 2})
	if err != nil {
		return err
	}
	c.Data.ImageSize, c.Network.Name, c.Network.Width = size, network, 4
	_, err = run.Run(context.Background(), c, run.Options{Dir: filepath.Join(dir, "run"), Backend: "go"})
	return err
}

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := trained(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// copied is a run of the test's own.
func copied(t testing.TB) string {
	t.Helper()
	dir := fatal.Get(trained())(t)
	to := filepath.Join(t.TempDir(), "run")
	fatal.If(t, os.CopyFS(to, os.DirFS(filepath.Join(dir, "run"))))
	return to
}

func open(t testing.TB, dir string) *predict.Predictor {
	t.Helper()
	enginetest.Open(t)
	p := fatal.Get(predict.OpenWith(run.Options{Dir: dir, Backend: "go"}))(t)
	t.Cleanup(p.Close)
	return p
}

// noise is an image of random bytes.
func noise(seed uint64, w, h int) image.Image {
	r := rand.New(rand.NewPCG(seed, 1))
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range m.Pix {
		if m.Pix[i] = uint8(r.Uint32()); i%4 == 3 {
			m.Pix[i] = 255
		}
	}
	return m
}

func save(t testing.TB, path string, m image.Image) {
	t.Helper()
	var b bytes.Buffer
	fatal.If(t, png.Encode(&b, m))
	put(t, path, b.Bytes())
}

func put(t testing.TB, path string, data []byte) {
	t.Helper()
	fatal.If(t, os.MkdirAll(filepath.Dir(path), 0o777))
	fatal.If(t, os.WriteFile(path, data, 0o666))
}

// A prediction depends on the image alone: its neighbours and its place in the batch do not move a
// bit of it.
func TestNeighboursDoNotMatter(t *testing.T) {
	for _, network := range []string{"smallcnn", "resnet18"} {
		t.Run(network, func(t *testing.T) {
			dir := copied(t)
			if network != "smallcnn" {
				parent := t.TempDir()
				dir = filepath.Join(parent, "run")
				fatal.If(t, train(parent, network, 32))
			}
			p := open(t, dir)
			var images []image.Image
			for i := range 131 { // more than a batch
				images = append(images, noise(uint64(i), 20+i%7, 24))
			}
			together := fatal.Get(p.Images(images...))(t)
			for _, i := range []int{0, 1, 63, 64, 127, 128, 130} {
				alone := fatal.Get(p.Images(images[i]))(t)
				if !reflect.DeepEqual(alone[0], together[i]) {
					t.Errorf("image %d: alone %v %v, among others %v %v", i, alone[0].Class, alone[0].Logits, together[i].Class, together[i].Logits)
				}
			}
		})
	}
}

func TestPredictionFollowsFromItsNumbers(t *testing.T) {
	p := open(t, copied(t))
	list := fatal.Get(p.Images(noise(1, 30, 20), noise(2, 16, 16)))(t)
	for _, v := range list {
		if len(v.Probs) != 10 || len(v.Features) != p.Model.Features || v.Class == v.Second {
			t.Fatalf("%d probabilities, %d features, class %s before %s", len(v.Probs), len(v.Features), v.Class, v.Second)
		}
		first, second, sum, entropy := 0.0, 0.0, 0.0, 0.0
		for _, q := range v.Probs {
			sum += q
			entropy -= q * math.Log(q)
			if q > first {
				first, second = q, first
			} else if q > second {
				second = q
			}
		}
		near := func(got float32, want float64) bool { return math.Abs(float64(got)-want) < 1e-6 }
		if !near(v.Probability, first) || !near(v.Margin, first-second) || !near(v.Entropy, entropy) || math.Abs(sum-1) > 1e-12 {
			t.Errorf("%+v", v)
		}
		if v.Distance < 0 || v.Nearest == "" {
			t.Errorf("distance %v to %q", v.Distance, v.Nearest)
		}
	}
	// A queried image is at distance 0 from itself.
	i, ok := p.Model.Data.Index(list[0].Nearest)
	if !ok {
		t.Fatalf("there is no image %q", list[0].Nearest)
	}
	m := fatal.Get(p.Model.Data.Image(i))(t)
	self := fatal.Get(p.Images(m.ToImage()))(t)
	if self[0].Nearest != list[0].Nearest || math.Abs(float64(self[0].Distance)) > 1e-6 {
		t.Errorf("%s is at distance %v from %s", list[0].Nearest, self[0].Distance, self[0].Nearest)
	}
	if _, err := p.Images(nil); err == nil {
		t.Error("no error for a nil image")
	}
}

// gallery is a folder with good images, and what else is found in folders.
func gallery(t testing.TB, good int) (dir string, bad []string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "images")
	for i := range good {
		save(t, filepath.Join(dir, fmt.Sprintf("d%d", i%3), fmt.Sprintf("%03d.png", i)), noise(uint64(i), 12+i%5, 12))
	}
	var b bytes.Buffer
	fatal.If(t, png.Encode(&b, noise(1, 40, 40)))
	put(t, filepath.Join(dir, "cut.png"), b.Bytes()[:900])
	put(t, filepath.Join(dir, "empty.jpg"), nil)
	put(t, filepath.Join(dir, "notes.txt"), []byte("not an image"))
	// A PNG that claims 60,000 x 60,000 pixels.
	huge := bytes.Clone(b.Bytes())
	copy(huge[16:], []byte{0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60})
	put(t, filepath.Join(dir, "huge.png"), huge)
	put(t, filepath.Join(dir, ".hidden.png"), b.Bytes())
	put(t, filepath.Join(dir, "Thumbs.db"), []byte("of a system"))
	if err := os.Symlink(dir, filepath.Join(dir, "loop")); err != nil {
		t.Log(err)
	}
	return dir, []string{"cut.png", "empty.jpg", "huge.png", "notes.txt"}
}

func table(t testing.TB, path string) (list []predict.Prediction) {
	t.Helper()
	fatal.If(t, predict.ReadTable(path, func(p predict.Prediction) error { list = append(list, p); return nil }))
	return list
}

func content(t testing.TB, path string) string {
	t.Helper()
	b := fatal.Get(os.ReadFile(path))(t)
	return string(b)
}

func TestFiles(t *testing.T) {
	p := open(t, copied(t))
	dir, bad := gallery(t, 40)
	if err := os.WriteFile(filepath.Join(dir, labels.File), []byte("{}\n"), 0o666); err != nil { // is no failed image
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "notes.png~"), []byte(content(t, filepath.Join(dir, "d0", "000.png")))) // a backup, which is not read
	bad = append(bad[:3:3], "notes.png~", bad[3])
	out := t.TempDir()
	var want []predict.Prediction
	for _, ext := range []string{".csv", ".jsonl", ".parquet"} {
		o := predict.FilesOptions{Images: []string{dir}, Out: filepath.Join(out, "p"+ext)}
		s := fatal.Get(p.Files(t.Context(), o))(t)
		if s.Predicted != 40 || s.Failed != len(bad) || s.Resumed != 0 {
			t.Fatalf("%s: %+v", ext, s)
		}
		got := table(t, o.Out)
		if want == nil {
			want = got
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s has other rows than .csv", ext)
		}
	}
	threshold := p.Novelty
	for _, ext := range []string{".csv", ".jsonl", ".parquet"} {
		o := predict.FilesOptions{Images: []string{dir}, Out: filepath.Join(out, "p"+ext)}
		for _, known := range []bool{true, false} {
			if p.Novelty = nil; known {
				p.Novelty = &audit.Novelty{}
			}
			fatal.Get(p.Files(t.Context(), o))(t)
			for _, row := range table(t, o.Out) {
				if row.LooksNew != nil != known {
					t.Fatalf("%s with a threshold %v: %+v", ext, known, row)
				}
			}
		}
	}
	p.Novelty = threshold
	for i, v := range want {
		m := fatal.Get(predict.Picture(v.Path))(t)
		alone := fatal.Get(p.Images(m.ToImage()))(t)
		alone[0].Path, alone[0].Probs, alone[0].Logits, alone[0].Features = v.Path, nil, nil, nil
		if !reflect.DeepEqual(alone[0], v) {
			t.Errorf("%s: %+v in the table, %+v alone", v.Path, v, alone[0])
		}
		if i > 0 && want[i-1].Path >= v.Path {
			t.Errorf("%s comes after %s", v.Path, want[i-1].Path)
		}
	}
	lines := strings.Split(strings.TrimSpace(content(t, filepath.Join(out, "p.failed.csv"))), "\n")
	for i, name := range bad {
		if !strings.HasPrefix(lines[i+1], filepath.Join(dir, name)+",") {
			t.Errorf("line %q of the failed files, want %s", lines[i+1], name)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(out, "*.part*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A call that is stopped and made again ends with the bytes of one that is not.
func TestFilesGoesOn(t *testing.T) {
	p := open(t, copied(t))
	dir, _ := gallery(t, 300)
	out := t.TempDir()
	o := predict.FilesOptions{Images: []string{dir}, Out: filepath.Join(out, "whole.csv")}
	fatal.Get(p.Files(t.Context(), o))(t)
	o.Out = filepath.Join(out, "again.csv")
	enough := errors.New("enough")
	ctx, stop := context.WithCancelCause(t.Context())
	o.Progress = func(done, total int) {
		if total != 304 {
			t.Errorf("%d files in all", total)
		}
		stop(enough)
	}
	if _, err := p.Files(ctx, o); !errors.Is(err, enough) {
		t.Fatalf("error %v", err)
	}
	if _, err := os.Stat(o.Out); err == nil {
		t.Error("half a table is there")
	}
	// The process was killed in the middle of a line.
	part := o.Out + ".part"
	put(t, part, []byte(content(t, part)+`{"path":"`))
	o.Progress = nil
	other := o
	other.Images = []string{filepath.Join(dir, "d0")}
	fatal.Says(t, fatal.Err(p.Files(t.Context(), other)), "interrupted call")
	s := fatal.Get(p.Files(t.Context(), o))(t)
	if s.Resumed == 0 || s.Predicted != 300 || s.Failed != 4 || s.Changed {
		t.Errorf("%+v", s)
	}
	for _, name := range []string{".csv", ".failed.csv"} {
		if content(t, filepath.Join(out, "again"+name)) != content(t, filepath.Join(out, "whole"+name)) {
			t.Errorf("%s differs from that of a call that was not stopped", name)
		}
	}
}

// A folder may change while it is predicted: what has gone is listed, and what a call
// that goes on cannot take in any more is said.
func TestFilesOfAFolderThatChanges(t *testing.T) {
	p := open(t, copied(t))
	dir, _ := gallery(t, 700)
	first := filepath.Join(dir, "a0.png")
	o := predict.FilesOptions{Images: []string{dir}, Out: filepath.Join(t.TempDir(), "p.csv")}
	enough := errors.New("enough")
	ctx, stop := context.WithCancelCause(t.Context())
	o.Progress = func(done, _ int) { stop(enough) }
	if _, err := p.Files(ctx, o); !errors.Is(err, enough) {
		t.Fatalf("error %v", err)
	}
	save(t, first, noise(1, 12, 12))
	o.Progress = func(done, total int) {
		if done < total {
			os.RemoveAll(dir)
		}
	}
	s := fatal.Get(p.Files(t.Context(), o))(t)
	if !s.Changed || s.Resumed == 0 || s.Predicted+s.Failed != 704 || s.Failed <= 4 {
		t.Errorf("%+v", s)
	}
	for _, v := range table(t, o.Out) {
		if v.Path == first {
			t.Errorf("%s is in the table", first)
		}
	}
	if list := content(t, s.FailedFile); !strings.Contains(list, "no such file") {
		t.Errorf("what has gone is not listed: %.200s", list)
	}
}

func TestFilesRefuses(t *testing.T) {
	p := open(t, copied(t))
	dir := t.TempDir()
	for _, c := range []struct {
		o    predict.FilesOptions
		want string
	}{
		{predict.FilesOptions{Out: "x.csv"}, "no images"},
		{predict.FilesOptions{Images: []string{dir}, Out: "x.txt"}, ".csv, .parquet, .jsonl"},
		{predict.FilesOptions{Images: []string{dir}, Out: filepath.Join(dir, "x.csv")}, "no files in"},
		{predict.FilesOptions{Images: []string{filepath.Join(dir, "none")}, Out: filepath.Join(dir, "x.csv")}, "no such file"},
		{predict.FilesOptions{Images: []string{dir}, Out: filepath.Join(dir, "absent", "x.csv")}, "there is no folder " + filepath.Join(dir, "absent") + " to write x.csv into"},
	} {
		fatal.Says(t, fatal.Err(p.Files(t.Context(), c.o)), c.want)
	}
}

func ExampleOpen() {
	dir, err := trained() // holds a small run, as ledg train makes it
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := predict.Open(filepath.Join(dir, "run"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()

	white := image.NewGray(image.Rect(0, 0, 50, 50))
	for i := range white.Pix {
		white.Pix[i] = 255
	}
	list, err := p.Images(white)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(list), "prediction among", len(list[0].Probs), "classes")
	// Output: 1 prediction among 10 classes
}
