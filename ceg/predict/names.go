package predict

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"

	heads "github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
	"github.com/ledg-go/ledg/ceg/rundir/scaler"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/seed"
)

// byNames is the head of a predictor that was given names alone, with a sample of its probabilities.
type byNames struct {
	head   *heads.Embeddings
	sample [][]float64
	seen   int
	draw   *rand.Rand
}

// sampled is how many images' probabilities the label-free estimate uses, as on a site.
const sampled = 300

// OpenNames returns a predictor without a run, by class names alone: logits are 100 times the cosine
// similarity of an image to the class embeddings, which is CLIP's scale. Exported towers do not say their own;
// SigLIP's is near, and its bias is the same for all classes. It runs on the backend that spec names. from is the network of
// the images, whose features must be of the embeddings' length; known are files of features as in
// Predictor.Known.
func OpenNames(from datasets.Origin, names *datasets.ClassEmbeddings, spec string, known []string) (*Predictor, error) {
	rows, err := names.Of(names.Classes)
	if err != nil {
		return nil, err
	}
	classes, dim := len(names.Classes), len(names.Values[0])
	h, err := heads.ZeroShot(heads.Matrix{Rows: classes, Cols: dim, Stride: dim, Data: rows})
	if err != nil {
		return nil, err
	}
	read, err := json.Marshal([]any{from.Decoding, from.Fit(), from.ONNX}) // in the digest, as another is another predictor
	if err != nil {
		return nil, err
	}
	p := &Predictor{Temperature: 1, spec: spec, Known: known, fit: from.Fit(), batch: frontBatch * runtime.GOMAXPROCS(0), names: &byNames{head: h, draw: seed.New(1, "names")}}
	p.Model = &model.Model{
		Data: &datasets.Dataset{Name: "names", Classes: names.Classes}, Features: dim, Backbone: nets.Backbone{Name: from.Network, Vector: dim}, Scaler: &scaler.Scaler{Origin: &from},
		Params: []nets.Param{{Name: fmt.Sprintf("names %q by %s of %s", names.Classes, from.WeightsDigest, read), Shape: []int{classes, dim}}}, Values: [][]float32{rows},
	}
	if err := p.look(); err != nil {
		return nil, err
	}
	return p, nil
}

// note adds an image's probabilities to the sample.
func (b *byNames) note(probs []float64) {
	if b.seen++; len(b.sample) < sampled {
		b.sample = append(b.sample, probs)
	} else if i := b.draw.IntN(b.seen); i < sampled {
		b.sample[i] = probs
	}
}

// Estimate is the label-free accuracy estimate of a predictor by names, from the given number of images
// that it has predicted: [audit.Transport] to the class shares that its probabilities say. It is 0 for
// no images.
func (p *Predictor) Estimate() (accuracy float64, images int, err error) {
	if p.names == nil || len(p.names.sample) == 0 {
		return 0, 0, nil
	}
	prior := make([]float64, p.classes())
	for _, probs := range p.names.sample {
		for c, v := range probs {
			prior[c] += v / float64(len(p.names.sample))
		}
	}
	accuracy, err = audit.Transport(p.names.sample, prior)
	return accuracy, len(p.names.sample), err
}

// namesLogits are features [n, D] with the logits of names.
func (p *Predictor) namesLogits(x []float32) (features, logits []float32, err error) {
	dim := p.Model.Features
	z := p.names.head.Logits(heads.Matrix{Rows: len(x) / dim, Cols: dim, Stride: dim, Data: x})
	for i := range z.Rows {
		p.names.note(calibration.Softmax(row(z.Data, i, z.Cols), p.Temperature))
	}
	return x, z.Data, nil
}

// NamesLogits returns the logits [n, C] of the run's class names alone for inputs of its class head [n, D]. It
// has no rows for features without names. why says what keeps names that are there from being compared.
func (p *Predictor) NamesLogits(features heads.Matrix) (logits heads.Matrix, why string, err error) {
	f, on := p.Model.Data.Features()
	if !on || f.Names() == nil {
		return logits, "", nil
	}
	s := p.Model.Scaler
	if s == nil || len(s.Mean) != features.Cols || p.Model.Config.Network.Name != config.Linear {
		return logits, fmt.Sprintf("network %s changes the features that names are compared with; want %s", p.Model.Config.Network.Name, config.Linear), nil
	}
	rows, err := f.Names().Of(p.Model.Data.Classes)
	if err != nil { // a class of the labels alone
		return logits, err.Error(), nil
	}
	h, err := heads.ZeroShot(heads.Matrix{Rows: p.classes(), Cols: features.Cols, Stride: features.Cols, Data: rows})
	if err != nil {
		return logits, "", err
	}
	raw := heads.Matrix{Rows: features.Rows, Cols: features.Cols, Stride: features.Cols}
	for i := range features.Rows {
		for j, v := range features.Data[i*features.Stride : i*features.Stride+features.Cols] {
			raw.Data = append(raw.Data, v/s.Scale+s.Mean[j])
		}
		scaler.Undo(s.Normal, raw.Data[i*features.Cols:])
	}
	return h.Logits(raw), "", nil
}
