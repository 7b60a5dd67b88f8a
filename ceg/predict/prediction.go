package predict

import (
	"fmt"
	"image"
	"math"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/active"
	heads "github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
	"github.com/ledg-go/ledg/datasets/rgb"
	"github.com/ledg-go/ledg/datasets/seed"
)

// Prediction is the prediction of one image.
type Prediction struct {
	// Path is the image's file; empty for images that are not files.
	Path string `json:"path" parquet:"path"`
	// Class is the most probable class, followed by its probability.
	Class       string  `json:"class" parquet:"class,dict"`
	Probability float32 `json:"probability" parquet:"probability"`
	// Second is the second most probable class, and Margin the difference of the two
	// probabilities.
	Second string  `json:"second" parquet:"second,dict"`
	Margin float32 `json:"margin" parquet:"margin"`
	// Entropy is the entropy of the class probabilities, in nats, from 0 to ln(classes).
	Entropy float32 `json:"entropy" parquet:"entropy"`
	// Distance is the cosine distance to the nearest queried image, Nearest, in feature space.
	// It is divided by the median distance between queried images and their nearest other, so it
	// is comparable between networks: 1 is typical of labelled images. Without labelled images
	// Nearest is empty, and Distance says nothing.
	Distance float32 `json:"distance" parquet:"distance"`
	Nearest  string  `json:"nearest" parquet:"nearest,dict"`
	// LooksNew is true if the distance to the nearest labelled image is above that of 95% of the run's
	// images, whatever the probability is; see [audit.Novelty]. An image that is nearer to one of none
	// of the classes, to a blank image or to noise counts as farther ([audit.Strangeness]). LooksNew
	// is nil for runs without a threshold.
	LooksNew *bool `json:"looks_new" parquet:"looks_new,optional"`
	// Calibrated is true if the probabilities are at a temperature that was fitted on labels.
	// Others are mostly too high.
	Calibrated bool `json:"calibrated" parquet:"calibrated,optional"`

	// Set is the prediction set, classes separated by |, empty if not requested. Abstained is
	// true if the network abstains.
	Set       string `json:"set,omitempty" parquet:"set,optional"`
	Abstained bool   `json:"abstained,omitempty" parquet:"abstained,optional"`

	// Probs [classes], Logits [classes] and Features [dim] are the outputs of the network.
	Probs    []float64 `json:"-" parquet:"-"`
	Logits   []float32 `json:"-" parquet:"-"`
	Features []float32 `json:"-" parquet:"-"`
}

// New reports whether the image is known to look like nothing labelled.
func (p Prediction) New() bool { return p.LooksNew != nil && *p.LooksNew }

// Images predicts images of any size, resized as in training without keeping the aspect ratio.
// Predictions are in the order of the images. A nil or empty image is an error.
func (p *Predictor) Images(images ...image.Image) ([]Prediction, error) {
	if err := p.look(); err != nil {
		return nil, err
	}
	if err := p.loadKnown(); err != nil {
		return nil, err
	}
	var list []Prediction
	for start := 0; start < len(images); start += p.batch {
		part := make([]*rgb.Image, 0, p.batch)
		for i, m := range images[start:min(start+p.batch, len(images))] {
			if m == nil || m.Bounds().Empty() {
				return nil, fmt.Errorf("predict: image %d has no pixels", start+i)
			}
			part = append(part, rgb.FromImage(m))
		}
		features, logits, err := p.forward(p.views(part))
		if err != nil {
			return nil, err
		}
		for i := range part {
			list = append(list, p.prediction("", row(features, i, p.Model.Features), row(logits, i, p.classes())))
		}
	}
	return list, nil
}

// ofLogits makes the part of a Prediction that logits decide; it copies them.
func (p *Predictor) ofLogits(path string, logits []float32) Prediction {
	probs := calibration.Softmax(logits, p.Temperature)
	first, second := calibration.TopTwo(probs)
	out := Prediction{
		Path: path, Class: p.Model.Data.Classes[first], Probability: float32(probs[first]), Margin: float32(probs[first]),
		Entropy: float32(active.Entropy(probs)), Probs: probs,
		Calibrated: p.Calibrated, Logits: append([]float32{}, logits...),
	}
	if second >= 0 {
		out.Second, out.Margin = p.Model.Data.Classes[second], float32(probs[first]-probs[second])
	}
	if p.Sets != nil {
		var names []string
		for _, c := range p.Sets.Of(calibration.Softmax(logits, p.SetsTemperature)) {
			names = append(names, p.Model.Data.Classes[c])
		}
		out.Set = strings.Join(names, "|")
	}
	out.Abstained = p.Abstain != nil && probs[first] < p.Abstain.Threshold
	return out
}

// prediction makes a Prediction of one row of features and logits, which it copies.
func (p *Predictor) prediction(path string, features, logits []float32) Prediction {
	out := p.ofLogits(path, logits)
	out.Features = append([]float32{}, features...)
	if p.names != nil {
		return out
	}
	d := direction(features)
	at, cosine := p.nearest(d)
	out.Nearest, out.Distance = p.labelled[at], float32((1-cosine)/p.usual)
	if p.Novelty != nil && p.Familiar != nil {
		flag := p.Familiar.LooksNew(features)
		out.LooksNew = &flag
	} else if p.Novelty != nil {
		_, like := nearestRow(p.strangers, d, -1)
		_, likeBlank := nearestRow(p.blank, d, -1)
		flag := p.Novelty.Flags(audit.Strangeness(1-cosine, 1-max(like, likeBlank)))
		out.LooksNew = &flag
	}
	return out
}

// loadKnown loads what LooksNew compares images with: the labelled images of the run and, if there
// is a threshold, blank images and noise, which are drawn here. look must have been called.
func (p *Predictor) loadKnown() error {
	if err := p.loadLabelled(); err != nil || p.Novelty == nil {
		return err
	}
	return p.loadBlank()
}

// Blank returns the L2-normalised features [n, D] of blank images and of noise, by which LooksNew
// recognises such images.
func (p *Predictor) Blank() (heads.Matrix, error) {
	err := p.look()
	if err == nil {
		err = p.loadBlank()
	}
	d := p.Model.Features
	return heads.Matrix{Rows: len(p.blank) / d, Cols: d, Stride: d, Data: p.blank}, err
}

// loadBlank computes their features.
func (p *Predictor) loadBlank() error {
	if p.blank != nil {
		return nil
	}
	list := blanks(p.fit.Size)
	for start := 0; start < len(list); start += p.batch {
		part := list[start:min(start+p.batch, len(list))]
		features, _, err := p.forward(p.views(part))
		if err != nil {
			return err
		}
		for i := range part {
			p.blank = append(p.blank, direction(row(features, i, p.Model.Features))...)
		}
	}
	return nil
}

// blanks returns images that show nothing: of one colour, and noise.
func blanks(size int) (list []*rgb.Image) {
	r := seed.New(1, "blank images")
	add := func(pixel func() [3]uint8) {
		m := &rgb.Image{Width: size, Height: size}
		for range size * size {
			c := pixel()
			m.Pix = append(m.Pix, c[:]...)
		}
		list = append(list, m)
	}
	for _, c := range [][3]uint8{{}, {255, 255, 255}, {128, 128, 128}, {200, 30, 30}} {
		add(func() [3]uint8 { return c })
	}
	for range 2 {
		add(func() [3]uint8 { v := r.Uint32(); return [3]uint8{uint8(v), uint8(v >> 8), uint8(v >> 16)} })
	}
	add(func() [3]uint8 { v := uint8(r.Uint32()); return [3]uint8{v, v, v} })
	grey := func() uint8 { return uint8(min(max(128+4*r.NormFloat64(), 0), 255)) }
	add(func() [3]uint8 { return [3]uint8{grey(), grey(), grey()} })
	return list
}

// Strangers returns the number of images of none of the classes by which LooksNew recognises
// others, after the first prediction.
func (p *Predictor) Strangers() int { return len(p.strangers) / max(p.Model.Features, 1) }

// direction returns features at length 1; zero features stay zero.
func direction(features []float32) []float32 {
	var sum float64
	for _, v := range features {
		sum += float64(v) * float64(v)
	}
	out := make([]float32, len(features))
	if sum > 0 {
		for i, v := range features {
			out[i] = float32(float64(v) / math.Sqrt(sum))
		}
	}
	return out
}

// usualDistance returns the median of the labelled images' cosine distances to the nearest
// other one, or what takes its place: their mean where that is 0, and 1 where there are not
// two images that differ.
func (p *Predictor) usualDistance() float64 {
	dim := p.Model.Features
	var own []float64
	sum := 0.0
	for i := range p.labelled {
		if _, cosine := p.nearestBut(i, row(p.directions, i, dim)); !math.IsInf(cosine, -1) {
			own, sum = append(own, 1-cosine), sum+1-cosine
		}
	}
	const rounding = 1e-6 // of equal directions
	if slices.Sort(own); len(own) > 0 && own[len(own)/2] > rounding {
		return own[len(own)/2]
	} else if sum > rounding*float64(len(own)) {
		return sum / float64(len(own))
	}
	return 1
}

// nearest returns the labelled image whose direction is closest, the first of
// equals, and the cosine between the two.
func (p *Predictor) nearest(d []float32) (at int, cosine float64) {
	at, cosine = p.nearestBut(-1, d)
	return at, max(cosine, -1)
}

// nearestBut is nearest among all labelled images but one.
func (p *Predictor) nearestBut(but int, d []float32) (at int, cosine float64) {
	return nearestRow(p.directions, d, but)
}

// nearestRow returns the row whose direction is closest to d, except row but, and the cosine
// between the two, -Inf without rows. Rows of zeros, of photos of none of the classes, do not count.
func nearestRow(rows, d []float32, but int) (at int, cosine float64) {
	cosine = math.Inf(-1)
	for i := range len(rows) / len(d) {
		if i == but {
			continue
		}
		var sum float64
		r := row(rows, i, len(d))
		for k, v := range r {
			sum += float64(v) * float64(d[k])
		}
		if sum > cosine && slices.ContainsFunc(r, func(v float32) bool { return v != 0 }) {
			at, cosine = i, sum
		}
	}
	return at, min(cosine, 1)
}
