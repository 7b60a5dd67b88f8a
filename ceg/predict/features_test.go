package predict_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/learner/embedding/embeddingtest"
	"github.com/ledg-go/ledg/ceg/nets/onnx"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/predict/photos"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

// onFeatures is a run on features of glyphs.
func onFeatures(t *testing.T, file string, set map[string]any) string {
	t.Helper()
	spec := config.Spec{Dataset: "features", Target: "photo", Method: "uniform-ce", Preset: config.Authors, Epochs: 2, Set: set}
	c := fatal.Get(config.Resolve(spec))(t)
	dir := filepath.Join(t.TempDir(), "run")
	fatal.Get(run.Run(t.Context(), c, run.Options{Dir: dir, Root: file, Backend: "go"}))(t)
	return dir
}

// A run on features says of the images that they were made of, shown anew, what it says
// of the features: the network in front, the standardisation and the head are those of
// training. Runs of before, which do not have it in their folder, compute it again.
func TestFeaturesRun(t *testing.T) {
	for name, set := range map[string]map[string]any{
		"linear": {"data.normalise": "root", "network.name": "linear"},
		"mlp":    {"data.normalise": "root-unit", "network.name": "mlp", "network.width": 8},
	} {
		t.Run(name, func(t *testing.T) {
			dir := onFeatures(t, embeddingtest.Glyphs(t, 2), set)
			p := open(t, dir)
			d, m := p.Model.Data, p.Model
			f, _ := d.Features()
			v := fatal.Get(f.Open(t.Context(), t.TempDir()))(t)
			mean := make([]float64, v.Dim)
			n := 0
			x, scratch := make([]float32, v.Dim), []byte(nil)
			normal := func(i int) []float32 {
				fatal.If(t, v.Read(i, 0, x, &scratch))
				square := 0.0
				for j := range x {
					x[j] = float32(math.Copysign(math.Sqrt(math.Abs(float64(x[j]))), float64(x[j])))
					square += float64(x[j]) * float64(x[j])
				}
				if name == "mlp" {
					for j := range x {
						x[j] /= float32(math.Sqrt(square))
					}
				}
				return x
			}
			for i, e := range d.Examples {
				if e.Split == datasets.Train && d.Domains[e.Domain] != "photo" {
					n++
					for j, v := range normal(i) {
						mean[j] += float64(v)
					}
				}
			}
			for j := range mean {
				if got, want := m.Scaler.Mean[j], mean[j]/float64(n); math.Abs(float64(got)-want) > 1e-5 {
					t.Fatalf("mean %d is %v, want %v", j, got, want)
				}
			}
			values := map[string][]float32{}
			for i, p := range m.Params {
				values[p.Name] = m.Values[i]
			}
			for i := 0; i < d.Len(); i += 41 {
				picture := fatal.Get(d.Image(i))(t)
				list := fatal.Get(p.Images(picture.ToImage()))(t)
				z := normal(i)
				for j := range z {
					z[j] = float32(float64(z[j])-mean[j]/float64(n)) * m.Scaler.Scale
				}
				if name == "mlp" {
					z = dense(z, values["hidden.weight"], values["hidden.bias"])
					for j := range z {
						z[j] = max(z[j], 0)
					}
				}
				for k, want := range dense(z, values["fc.weight"], values["fc.bias"]) {
					if got := list[0].Logits[k]; math.Abs(float64(got-want)) > 1e-4*max(1, math.Abs(float64(want))) {
						t.Fatalf("%s, class %d: logit %v, want %v", d.Examples[i].ID, k, got, want)
					}
				}
			}
			if _, err := p.Calibrate(t.Context()); err == nil || !strings.Contains(err.Error(), "have 30 labelled validation images and 0 cross-validated labels, and a temperature needs at least 50") ||
				!strings.Contains(err.Error(), "ledg train --labels FILE.csv") || !strings.Contains(err.Error(), "--images FOLDER --ask") || strings.Contains(err.Error(), "--budget 50 --target none gives at least 50 cross-validated labels") != (name == config.Linear) {
				t.Errorf("calibrated on 30 images: %v", err)
			}
			if _, err := predict.ExportONNX(run.Options{Dir: dir, Backend: "go"}, filepath.Join(t.TempDir(), "n.onnx"), onnx.Uint8); err != nil {
				t.Error(err)
			}
			fatal.If(t, os.Remove(filepath.Join(dir, "standard.safetensors")))
			fatal.Says(t, fatal.Err(predict.OpenWith(run.Options{Dir: dir, Backend: "go"})), "standard.safetensors")
		})
	}
}

func dense(x, w, b []float32) []float32 {
	y := make([]float32, len(b))
	for o := range y {
		sum := float64(b[o])
		for j, v := range x {
			sum += float64(v) * float64(w[o*len(x)+j])
		}
		y[o] = float32(sum)
	}
	return y
}

// Features of unknown origin have only a head, and predicting images reports that.
func TestForeignFeatures(t *testing.T) {
	file := filepath.Join(t.TempDir(), "foreign.safetensors")
	data := fatal.Get(os.ReadFile(embeddingtest.Glyphs(t, 1)))(t)
	put(t, file, []byte(strings.Replace(string(data), `"origin"`, `"0rigin"`, 1)))
	dir := onFeatures(t, file, nil)
	p := open(t, dir)
	for want, err := range map[string]error{
		"does not say what made them": func() error { _, err := p.Images(noise(1, 8, 8)); return err }(),
		"does not say what images":    func() error { _, err := p.Model.Data.Image(0); return err }(),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	fatal.Says(t, fatal.Err(predict.ExportONNX(run.Options{Dir: dir}, filepath.Join(t.TempDir(), "n.onnx"), onnx.Uint8)), "does not say what made them")
}

// Features that the run's own file or another has are not computed again, and the table
// is the same bytes. New images are computed.
func TestFilesReuseFeatures(t *testing.T) {
	root := t.TempDir()
	for i := range 60 {
		domain, class := []string{"photo", "sketch", "north"}[i%3], []string{"cat", "dog"}[i/3%2]
		save(t, filepath.Join(root, domain, class, fmt.Sprintf("%02d.png", i)), noise(uint64(i), 20, 20))
	}
	o := photos.Options{By: datasets.Origin{Network: "smallcnn", Width: 4, Pooling: "mean", Size: 16, Weights: "none"}, CacheDir: t.TempDir(), Backend: "go"}
	file := fatal.Get(photos.Embed(t.Context(), root, o))(t)
	dir := onFeatures(t, file, map[string]any{"exploration.budget": "8"})
	save(t, filepath.Join(root, "new.png"), noise(100, 20, 20))
	save(t, filepath.Join(root, "copy.png"), noise(7, 20, 20))
	put(t, filepath.Join(root, "cut.png"), []byte(content(t, filepath.Join(root, "new.png")))[:300])
	copied := filepath.Join(t.TempDir(), "copied.safetensors")
	put(t, copied, []byte(content(t, file)))
	var first string
	for _, c := range []struct {
		foreign bool // the file no longer says by what the features were made
		known   []string
		reused  int
	}{{reused: 61}, {foreign: true}, {foreign: true, known: []string{copied}, reused: 61}} {
		if c.foreign {
			put(t, file, []byte(strings.Replace(content(t, file), `"made_by"`, `"0ade_by"`, 1)))
		}
		p := open(t, dir)
		p.Known = c.known
		out := t.TempDir()
		files := predict.FilesOptions{Images: []string{root}, Out: filepath.Join(out, "p.csv")}
		s, err := p.Files(t.Context(), files)
		if err != nil || s.Reused != c.reused || s.Predicted != 62 || s.Failed != 1 {
			t.Fatalf("%+v: %+v, %v", c, s, err)
		}
		got := content(t, files.Out)
		if first == "" {
			first = got
		}
		if got != first {
			t.Errorf("%+v: other bytes", c)
		}
	}
}
