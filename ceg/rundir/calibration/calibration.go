// Package calibration measures and improves the calibration of a network's probabilities:
// temperature scaling, the expected calibration error, and the file in a run's folder that
// stores both.
//
//	t := calibration.FitTemperature(heldOut)
//	before, after := calibration.Measure(heldOut, 1), calibration.Measure(heldOut, t)
//
// It works on logits and true classes, without a network, so reports can read its file without
// an engine.
package calibration

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"

	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/evaluate"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets/regular"
)

// File is the name of the calibration file in a run's folder.
const File = result.CalibrationFile

// format is the number of that file's form.
const format = 1

// Calibration is the calibration of a run. All temperatures are fitted on held-out source
// images, never on the target; the target's numbers only evaluate them.
type Calibration struct {
	Format int `json:"format"`
	// Model is the digest of the weights, model.Model.Digest.
	Model string `json:"model"`
	// Source is fitted on the validation splits of the source domains. These come from the
	// training distribution, so it is optimistic on a new domain: the calibration error there is
	// larger than here.
	Source Fit `json:"source"`
	// CrossValidated is true if there were too few validation images. Source is then fitted and
	// evaluated on the training labels, each predicted by a network that was trained without it.
	CrossValidated bool `json:"cross_validated,omitempty"`
	// LeftOut is fitted by leave-one-domain-out, for comparison: each source domain is predicted by
	// a network that was trained like this one without it. Nil if not computed.
	LeftOut *Fit `json:"left_out,omitempty"`
	// Extra is the number of labels that those networks had and this one lacks, in records where
	// they were runs of their own.
	Extra int `json:"extra_labels,omitempty"`
	// Classes are the names of the classes. Confusion is the confusion matrix, rows are true
	// classes and columns predictions: on the target, or on the source validation splits if no
	// label of a target is known.
	Classes   []string         `json:"classes"`
	Confusion result.Confusion `json:"confusion"`
	// Best is the temperature fitted on the target's labels: a bound, not a result.
	Best float64 `json:"best_target_temperature"`
}

// HasTarget reports whether the target has labelled images.
func (c *Calibration) HasTarget() bool { return c.Source.Target.Before.Images > 0 }

// On names the images that the temperature was fitted on.
func (c *Calibration) On() string {
	if c.CrossValidated {
		return "cross-validated labels"
	}
	return "source validation"
}

// Images is [Calibration.On] in the plural.
func (c *Calibration) Images() string {
	if c.CrossValidated {
		return c.On()
	}
	return "source validation images"
}

// Fit is a temperature with its calibration results.
type Fit struct {
	// Temperature divides the logits; Images is the number of images that it was fitted on.
	Temperature float64 `json:"temperature"`
	Images      int     `json:"images"`
	// Source and Target are the results on the source validation splits and on the target
	// domain, before (temperature 1) and after. Target has no images if none of its labels are
	// known.
	Source Change `json:"source"`
	Target Change `json:"target"`
}

// Change is a reliability before and after calibration.
type Change struct {
	Before Reliability `json:"before"`
	After  Reliability `json:"after"`
}

// Labelled are logits with true classes.
type Labelled struct {
	// Logits holds a row of logits for each image.
	Logits [][]float32
	// Class holds the true classes.
	Class []int
}

// NewFit evaluates a temperature that was fitted on the given number of images.
func NewFit(temperature float64, images int, source, target Labelled) Fit {
	change := func(l Labelled) Change { return Change{Measure(l, 1), Measure(l, temperature)} }
	return Fit{Temperature: temperature, Images: images, Source: change(source), Target: change(target)}
}

// The temperatures that are considered: beyond them probabilities are the same for
// all classes, or 0 and 1.
const minTemperature, maxTemperature = 0.05, 20

// FitTemperature returns the temperature in 0.05..20 with the smallest mean negative
// log-likelihood of the true classes (Guo et al., "On Calibration of Modern Neural Networks",
// ICML 2017). The likelihood is convex in the inverse temperature, so the root of its derivative
// is found. Without images it is 1.
func FitTemperature(l Labelled) float64 {
	if len(l.Class) == 0 {
		return 1
	}
	// slope is the derivative by the inverse temperature: by how much the expected
	// logit is above the true class's.
	var probs []float64
	slope := func(inverse float64) float64 {
		sum := 0.0
		for i, z := range l.Logits {
			probs = probs[:0]
			for _, v := range z {
				probs = append(probs, float64(v)*inverse)
			}
			head.Softmax(probs, probs)
			for k, p := range probs {
				sum += p * float64(z[k])
			}
			sum -= float64(z[l.Class[i]])
		}
		return sum
	}
	low, high := 1/float64(maxTemperature), 1/float64(minTemperature)
	for range 45 {
		if mid := math.Sqrt(low * high); slope(mid) < 0 {
			low = mid
		} else {
			high = mid
		}
	}
	// Both ends are within the last digits by now.
	return min(max(1/math.Sqrt(low*high), minTemperature), maxTemperature)
}

// Softmax returns the softmax of logits / temperature, in float64.
func Softmax(logits []float32, temperature float64) []float64 {
	probs := make([]float64, len(logits))
	for k, z := range logits {
		probs[k] = float64(z) / temperature
	}
	head.Softmax(probs, probs)
	return probs
}

// TopTwo returns the most probable class and the second, the first of equals; second is -1 of one
// class.
func TopTwo(probs []float64) (first, second int) {
	first, second = 0, -1
	for k, v := range probs {
		switch {
		case v > probs[first]:
			first, second = k, first
		case k != first && (second < 0 || v > probs[second]):
			second = k
		}
	}
	return first, second
}

// Bins is the number of bins of a Reliability.
const Bins = 15

// Reliability compares a network's confidence with its accuracy.
type Reliability struct {
	Images   int     `json:"images"`
	Accuracy float64 `json:"accuracy"`
	// Confidence is the mean probability of the predicted class.
	Confidence float64 `json:"confidence"`
	// NLL is the mean negative log-likelihood of the true class, in nats.
	NLL float64 `json:"nll"`
	// ECE is the expected calibration error: |accuracy - confidence|, averaged over the bins
	// weighted by their numbers of images.
	ECE float64 `json:"ece"`
	// Bins divide the confidence into intervals of equal width, (i/n, (i+1)/n].
	Bins []Bin `json:"bins"`
}

// Bin is one confidence interval of a Reliability.
type Bin struct {
	Images     int     `json:"images"`
	Confidence float64 `json:"confidence"`
	Accuracy   float64 `json:"accuracy"`
}

// Measure returns the reliability of the predictions at a temperature, with [Bins]
// bins.
func Measure(l Labelled, temperature float64) Reliability {
	r := Reliability{Images: len(l.Class), Bins: make([]Bin, Bins)}
	if r.Images == 0 {
		return r
	}
	for i, z := range l.Logits {
		probs := Softmax(z, temperature)
		best, _ := TopTwo(probs)
		b := &r.Bins[min(max(int(math.Ceil(probs[best]*Bins))-1, 0), Bins-1)]
		b.Images++
		b.Confidence += probs[best]
		if best == l.Class[i] {
			b.Accuracy++
		}
		r.NLL -= math.Log(max(probs[l.Class[i]], math.SmallestNonzeroFloat64))
	}
	n := float64(r.Images)
	r.NLL /= n
	right := 0.0
	for i := range r.Bins {
		b := &r.Bins[i]
		right += b.Accuracy
		r.Confidence += b.Confidence / n
		r.ECE += math.Abs(b.Accuracy-b.Confidence) / n
		if b.Images > 0 {
			b.Accuracy /= float64(b.Images)
			b.Confidence /= float64(b.Images)
		}
	}
	r.Accuracy = right / n
	return r
}

// maxFile is the longest file that is read, in bytes: a confusion matrix of 1,000 classes
// has a few MB.
const maxFile = 256 << 20

// Read reads the calibration in a run's folder. The error is fs.ErrNotExist if there is none.
func Read(dir string) (*Calibration, error) {
	path := filepath.Join(dir, File)
	data, err := regular.Read(path, maxFile)
	if err != nil {
		return nil, err
	}
	return parse(path, data)
}

// Of is [Read] for a recorded run, which may be part of a collected study.
func Of(r *result.Run) (*Calibration, error) {
	data, err := r.File(File)
	if err != nil {
		return nil, err
	}
	return parse(filepath.Join(r.Path, File), data)
}

func parse(path string, data []byte) (*Calibration, error) {
	c := new(Calibration)
	if err := result.Decode(data, c); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	fits := []*Fit{&c.Source}
	if c.LeftOut != nil {
		fits = append(fits, c.LeftOut)
	}
	for _, f := range fits {
		if !(f.Temperature >= minTemperature && f.Temperature <= maxTemperature) {
			return nil, fmt.Errorf("%s: temperature %v, want %v to %v", path, f.Temperature, minTemperature, maxTemperature)
		}
	}
	if c.Format != format {
		return nil, fmt.Errorf("%s: format %d, want %d", path, c.Format, format)
	}
	if len(c.Confusion) != len(c.Classes) {
		return nil, fmt.Errorf("%s: a confusion matrix of %d rows for %d classes", path, len(c.Confusion), len(c.Classes))
	}
	if err := c.Confusion.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// Write writes the calibration to a run's folder.
func (c *Calibration) Write(dir string) error {
	c.Format = format
	data, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return err
	}
	return regular.Write(filepath.Join(dir, File), append(data, '\n'))
}

// Confuse returns the confusion matrix of the predictions.
func Confuse(l Labelled, classes int) result.Confusion {
	m := result.NewConfusion(classes)
	for i, z := range l.Logits {
		m[l.Class[i]][evaluate.ArgMax(z)]++
	}
	return m
}
