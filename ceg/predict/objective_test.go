package predict_test

import (
	"image"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/onnx"
	"github.com/ledg-go/ledg/ceg/predict"
)

// A run whose objective has a test head of its own is predicted by that head, as
// the run itself does, and is not exported with another one.
func TestObjectiveSaysHowToPredict(t *testing.T) {
	c, err := ceg.NewConfig("glyphs", "photo", "dael", ceg.Paper)
	if err != nil {
		t.Fatal(err)
	}
	c.SetEpochs(2)
	c.Data.ImageSize, c.Network.Width = 16, 4
	o := ceg.Options{Dir: filepath.Join(t.TempDir(), "run"), Backend: "go"}
	if _, err := ceg.Run(t.Context(), c, o); err != nil {
		t.Fatal(err)
	}
	want, err := ceg.Embed(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	p := open(t, o.Dir)
	var images []image.Image
	for _, id := range want.IDs[:20] {
		i, _ := p.Model.Data.Index(id)
		m, err := p.Model.Data.Image(i)
		if err != nil {
			t.Fatal(err)
		}
		images = append(images, m.ToImage())
	}
	got, err := p.Images(images...)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		for class, q := range v.Probs {
			if w := float64(want.ClassProbs.Data[i*len(v.Probs)+class]); !(math.Abs(q-w) <= 1e-6) {
				t.Fatalf("%s: probability of class %d is %v, in the run %v", want.IDs[i], class, q, w)
			}
		}
	}
	to := filepath.Join(t.TempDir(), "model.onnx")
	if _, err := predict.ExportONNX(o, to, onnx.Float32); err == nil || !strings.Contains(err.Error(), "dael") {
		t.Errorf("export of a mean of experts: %v", err)
	}
}
