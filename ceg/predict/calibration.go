package predict

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
)

// CalibrationFile is the name of the calibration in a run's directory.
const CalibrationFile = "calibration.json"

// calibrationFormat is the number of that file's format.
const calibrationFormat = 1

// Calibration says how far the probabilities of a run can be believed. All
// temperatures are fitted on source images that nothing was trained on, never on
// the target; the target's numbers only say how well that went.
type Calibration struct {
	Format int `json:"format"`
	// Model is the Digest of the weights.
	Model string `json:"model"`
	// Source is fitted on the validation splits of the source domains. They look
	// like what the network was trained on, so on a new domain it is optimistic: the
	// error there is larger than the error here.
	Source Fit `json:"source"`
	// LeftOut is fitted on source domains that networks were not trained on: each
	// is predicted by a network that was trained like this one, but without it. Nil
	// if that has not been done.
	LeftOut *Fit `json:"left_out,omitempty"`
	// Extra is the number of labels that the networks of LeftOut asked for.
	Extra int `json:"extra_labels,omitempty"`
	// Best is the temperature that the target's labels would have given: a bound,
	// and no result.
	Best float64 `json:"best_target_temperature"`

	path string
}

// Fit is a temperature with what it does.
type Fit struct {
	// Temperature divides the logits, Images is the number of images it was fitted
	// on.
	Temperature float64 `json:"temperature"`
	Images      int     `json:"images"`
	// Source and Target are the reliabilities on the source validation splits and on
	// the target domain, before (at temperature 1) and after.
	Source Change `json:"source"`
	Target Change `json:"target"`
}

// Change is a reliability before and after calibration.
type Change struct {
	Before Reliability `json:"before"`
	After  Reliability `json:"after"`
}

// Labelled are logits with the true classes of their images.
type Labelled struct {
	// Logits is a row of logits per image.
	Logits [][]float32
	// Class has their true classes.
	Class []int
}

// Calibrate fits the temperature of an opened run on the validation splits of its
// source domains, measures it there and on the target, and keeps the outcome in the
// run's directory, from where Open takes it. A run without validation images is an
// error.
func (p *Predictor) Calibrate(ctx context.Context) (*Calibration, error) {
	source, target, err := p.heldOut(ctx)
	if err != nil {
		return nil, err
	}
	c := &Calibration{Format: calibrationFormat, Model: Digest(p.Model), Best: FitTemperature(target), path: filepath.Join(p.dir, CalibrationFile)}
	c.Source = newFit(FitTemperature(source), len(source.Class), source, target)
	if err := c.write(); err != nil {
		return nil, err
	}
	p.Temperature, p.Calibrated = c.Source.Temperature, true
	return c, nil
}

func newFit(temperature float64, images int, source, target Labelled) Fit {
	change := func(l Labelled) Change { return Change{Measure(l, 1), Measure(l, temperature)} }
	return Fit{Temperature: temperature, Images: images, Source: change(source), Target: change(target)}
}

// heldOut computes the logits of the source validation splits and of the target.
func (p *Predictor) heldOut(ctx context.Context) (source, target Labelled, err error) {
	m := p.Model
	test, err := m.Data.Domain(m.Config.Data.Target)
	if err != nil {
		return source, target, err
	}
	var val, all []int
	for i, e := range m.Data.Examples {
		switch {
		case e.Domain == test:
			all = append(all, i)
		case e.Split == datasets.Val:
			val = append(val, i)
		}
	}
	if len(val) == 0 {
		return source, target, fmt.Errorf("%s: its source domains have no validation images to calibrate on", p.dir)
	}
	if source, err = p.logits(ctx, val); err == nil {
		target, err = p.logits(ctx, all)
	}
	return source, target, err
}

// logits computes those of images of the data set.
func (p *Predictor) logits(ctx context.Context, examples []int) (l Labelled, err error) {
	for start := 0; start < len(examples) && err == nil; start += p.batch {
		if err := ctx.Err(); err != nil {
			return l, context.Cause(ctx)
		}
		err = p.examples(examples[start:min(start+p.batch, len(examples))], func(i int, _, logits []float32) {
			l.Logits, l.Class = append(l.Logits, logits), append(l.Class, p.truth.Class(i))
		})
	}
	return l, err
}

// The temperatures that are considered: beyond them probabilities are the same for
// all classes, or 0 and 1.
const minTemperature, maxTemperature = 0.05, 20

// FitTemperature returns the temperature with the smallest mean negative
// log-likelihood of the true classes (Guo et al., "On Calibration of Modern Neural
// Networks", ICML 2017), in 0.05..20. The likelihood is convex in its inverse, whose
// derivative is followed to zero. Without images it is 1.
func FitTemperature(l Labelled) float64 {
	if len(l.Class) == 0 {
		return 1
	}
	// slope is the derivative by the inverse temperature: by how much the expected
	// logit is above that of the true class.
	var probs []float64
	slope := func(inverse float64) float64 {
		sum := 0.0
		for i, z := range l.Logits {
			probs = probs[:0]
			for _, v := range z {
				probs = append(probs, float64(v)*inverse)
			}
			active.Softmax(probs, probs)
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

// Bins is the number of bins of a Reliability.
const Bins = 15

// Reliability compares what a network believes with how often it is right.
type Reliability struct {
	Images   int     `json:"images"`
	Accuracy float64 `json:"accuracy"`
	// Confidence is the mean probability of the predicted class.
	Confidence float64 `json:"confidence"`
	// NLL is the mean negative log-likelihood of the true class, in nats.
	NLL float64 `json:"nll"`
	// ECE is the expected calibration error: the distance between accuracy and
	// confidence, averaged over the bins with their numbers of images as weights.
	ECE float64 `json:"ece"`
	// Bins are Bins intervals of equal width of the confidence, (i/n, (i+1)/n].
	Bins []Bin `json:"bins"`
}

// Bin is an interval of a Reliability.
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
		probs := softmax(z, temperature)
		best := 0
		for k, v := range probs {
			if v > probs[best] {
				best = k
			}
		}
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

// ReadCalibration reads the calibration of the run in a directory. The error is
// fs.ErrNotExist if it has none.
func ReadCalibration(dir string) (*Calibration, error) {
	c := &Calibration{path: filepath.Join(dir, CalibrationFile)}
	data, err := os.ReadFile(c.path)
	if err != nil {
		return nil, err
	}
	if err := result.Decode(data, c); err != nil {
		return nil, fmt.Errorf("%s: %w", c.path, err)
	}
	fits := []*Fit{&c.Source}
	if c.LeftOut != nil {
		fits = append(fits, c.LeftOut)
	}
	for _, f := range fits {
		if !(f.Temperature >= minTemperature && f.Temperature <= maxTemperature) {
			return nil, fmt.Errorf("%s: temperature %v, want %v to %v", c.path, f.Temperature, minTemperature, maxTemperature)
		}
	}
	if c.Format != calibrationFormat {
		return nil, fmt.Errorf("%s: format %d, want %d", c.path, c.Format, calibrationFormat)
	}
	return c, nil
}

func (c *Calibration) write() error {
	data, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return err
	}
	return result.WriteFile(c.path, func(w io.Writer) error {
		_, err := w.Write(append(data, '\n'))
		return err
	})
}
