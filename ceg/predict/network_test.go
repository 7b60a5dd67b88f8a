package predict_test

import (
	"image"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/nets/onnx"
	"github.com/ledg-go/ledg/ceg/nets/onnx/imported"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/datasets"
)

// A run that has trained the network of an ONNX file, or adapters on it, predicts, and is exported
// as one file of it and of the head, which says the same.
func TestNetworkOfAFile(t *testing.T) {
	t.Run("small.onnx", func(t *testing.T) { networkOfAFile(t, "small.onnx", 16, 0) })
	t.Run("adapters", func(t *testing.T) { networkOfAFile(t, "vit.onnx", 32, 3) })
}

func networkOfAFile(t *testing.T, name string, size, rank int) {
	on := enginetest.Open(t)
	file := filepath.Join("..", "nets", "onnx", "imported", "testdata", "train", name)
	c, err := config.Resolve(config.Spec{Dataset: "glyphs", Target: "photo", Method: "uniform-ce", Epochs: 1,
		Set: map[string]any{"network.name": file, "data.image_size": size, "network.lora_rank": rank}})
	if err != nil {
		t.Fatal(err)
	}
	o := ceg.Options{Dir: filepath.Join(t.TempDir(), "run"), Backend: "go"}
	if o.Weights, _, err = model.OpenWeights(t.Context(), &c, model.WeightArgs{Weights: file}, false, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := ceg.Run(t.Context(), c, o); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(t.TempDir(), "model.onnx")
	if _, err := predict.ExportONNX(ceg.Options{Dir: o.Dir}, at, onnx.Float32); err != nil {
		t.Fatal(err)
	}
	if card, err := os.ReadFile(strings.TrimSuffix(at, ".onnx") + ".md"); err != nil || !strings.Contains(string(card), "Network: "+name+", started from "+name+" (") {
		t.Errorf("the card says %s (%v)", card, err)
	}

	p, err := predict.OpenWith(ceg.Options{Dir: o.Dir, Backend: "go"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	picture := image.NewNRGBA(image.Rect(0, 0, size, size))
	views := make([]byte, 0, size*size*3)
	for i := range picture.Pix {
		if picture.Pix[i] = byte(i * i >> 2); i%4 == 3 {
			picture.Pix[i] = 255
			views = append(views, picture.Pix[i-3:i]...)
		}
	}
	predicted, err := p.Images(picture)
	if err != nil {
		t.Fatal(err)
	}
	n, err := imported.Open(at, onnx.ProbsOutput, "")
	if err != nil {
		t.Fatal(err)
	}
	x, err := n.Exec(on, size, datasets.Reading{Std: [3]float64{1, 1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	probs, err := x.Run(append(views, make([]byte, (x.Batch-1)*len(views))...))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range predicted[0].Probs {
		if d := math.Abs(float64(probs[i]) - want); !(d <= 1e-5) { // of sums in another order
			t.Errorf("class %d has probability %v in the file and %v in the run", i, probs[i], want)
		}
	}
}
