package predict

import (
	"image"
	"math"
	"path/filepath"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// Blank images are computed if a threshold needs them, and not otherwise.
func TestBlanksForAThreshold(t *testing.T) {
	enginetest.Open(t)
	c := fatal.Get(config.Resolve(config.Spec{Dataset: "glyphs", Target: "photo", Method: "uniform-ce", Epochs: 1,
		Set: map[string]any{"network.name": "smallcnn", "network.width": 4, "data.image_size": 16}}))(t)
	o := run.Options{Dir: filepath.Join(t.TempDir(), "run"), Backend: "go"}
	fatal.Get(run.Run(t.Context(), c, o))(t)
	p := fatal.Get(OpenWith(o))(t)
	defer p.Close()
	fatal.If(t, p.look())
	fatal.If(t, p.loadLabelled())
	for _, threshold := range []*audit.Novelty{nil, {Threshold: 0.5}} {
		p.Novelty = threshold
		if list, err := p.Images(image.NewGray(image.Rect(0, 0, 16, 16))); err != nil || p.blank != nil != (threshold != nil) || list[0].LooksNew != nil != (threshold != nil) {
			t.Errorf("threshold %v: %d numbers of blank images, %+v, %v", threshold, len(p.blank), list, err)
		}
	}
}

// A photo that was taken out of the labels has a row of zeros. It is the nearest of nothing, even of
// an image that points away from every labelled one.
func TestNearestSkipsZeros(t *testing.T) {
	p := &Predictor{directions: []float32{0, 0, 1, 0, 0.6, 0.8}}
	if at, cosine := p.nearest([]float32{-1, 0}); at != 2 || math.Abs(cosine+0.6) > 1e-6 {
		t.Errorf("row %d, cosine %v; want row 2, -0.6", at, cosine)
	}
}
