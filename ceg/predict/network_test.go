package predict_test

import (
	"image"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/nets/onnx"
	"github.com/ledg-go/ledg/ceg/nets/onnx/imported"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
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
	c := fatal.Get(config.Resolve(config.Spec{Dataset: "glyphs", Target: "photo", Method: "uniform-ce", Epochs: 1,
		Set: map[string]any{"network.name": file, "data.image_size": size, "network.lora_rank": rank}}))(t)
	o := run.Options{Dir: filepath.Join(t.TempDir(), "run"), Backend: "go"}
	o.Weights, _ = fatal.Get2(model.OpenWeights(t.Context(), &c, model.WeightArgs{Weights: file}, false, nil))(t)
	fatal.Get(run.Run(t.Context(), c, o))(t)
	at := filepath.Join(t.TempDir(), "model.onnx")
	fatal.Get(predict.ExportONNX(run.Options{Dir: o.Dir}, at, onnx.Float32))(t)
	if card, err := os.ReadFile(strings.TrimSuffix(at, ".onnx") + ".md"); err != nil || !strings.Contains(string(card), "Network: "+name+", started from "+name+" (") {
		t.Errorf("the card says %s (%v)", card, err)
	}

	p := fatal.Get(predict.OpenWith(run.Options{Dir: o.Dir, Backend: "go"}))(t)
	defer p.Close()
	picture := image.NewNRGBA(image.Rect(0, 0, size, size))
	views := make([]byte, 0, size*size*3)
	for i := range picture.Pix {
		if picture.Pix[i] = byte(i * i >> 2); i%4 == 3 {
			picture.Pix[i] = 255
			views = append(views, picture.Pix[i-3:i]...)
		}
	}
	predicted := fatal.Get(p.Images(picture))(t)
	n := fatal.Get(imported.Open(at, onnx.ProbsOutput, ""))(t)
	x := fatal.Get(n.Exec(on, size, datasets.Reading{Std: [3]float64{1, 1, 1}}))(t)
	defer x.Close()
	probs := fatal.Get(x.Run(append(views, make([]byte, (x.Batch-1)*len(views))...)))(t)
	for i, want := range predicted[0].Probs {
		if d := math.Abs(float64(probs[i]) - want); !(d <= 1e-5) { // of sums in another order
			t.Errorf("class %d has probability %v in the file and %v in the run", i, probs[i], want)
		}
	}
}
