package predict_test

import (
	"image"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
	"github.com/ledg-go/ledg/ceg/nets/onnx"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// A run whose objective has a test head or pixels of its own is predicted as the run
// itself does it, and exported so.
func TestObjectiveSaysHowToPredict(t *testing.T) {
	for method, mean := range map[string]string{"dael": `[0.485, 0.456, 0.406]`, "ddaig": `[0, 0, 0]`, "stylematch-rgb": `[0.485, 0.456, 0.406]`} {
		t.Run(method, func(t *testing.T) { predictsAsItRan(t, method, mean) })
	}
}

func predictsAsItRan(t *testing.T, method, mean string) {
	c := configtest.New(t, "glyphs", "photo", method, config.Paper, "schedule.epochs", 2)
	c.Schedule.EpochOf = config.OverLabelled
	c.Data.ImageSize, c.Network.Width = 16, 4
	o := run.Options{Dir: filepath.Join(t.TempDir(), "run"), Backend: "go"}
	fatal.Get(run.Run(t.Context(), c, o))(t)
	want := fatal.Get(run.Embed(t.Context(), o))(t)
	p := open(t, o.Dir)
	var images []image.Image
	for _, id := range want.IDs[:20] {
		i, _ := p.Model.Data.Index(id)
		m := fatal.Get(p.Model.Data.Image(i))(t)
		images = append(images, m.ToImage())
	}
	got := fatal.Get(p.Images(images...))(t)
	for i, v := range got {
		for class, q := range v.Probs {
			if w := float64(want.ClassProbs.Data[i*len(v.Probs)+class]); !(math.Abs(q-w) <= 1e-6) {
				t.Fatalf("%s: probability of class %d is %v, in the run %v", want.IDs[i], class, q, w)
			}
		}
	}
	// Package onnx's tests hold what such files compute against GoMLX.
	to := filepath.Join(t.TempDir(), "model.onnx")
	fatal.Get(predict.ExportONNX(o, to, onnx.Float32))(t)
	data := fatal.Get(os.ReadFile(to))(t)
	if text := string(data); !strings.Contains(text, mean) && !strings.Contains(text, strings.ReplaceAll(mean, " ", "")) {
		t.Errorf("the metadata do not have the mean %s", mean)
	}
}
