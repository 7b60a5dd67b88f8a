package site

import (
	"fmt"
	"slices"

	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
)

// Calibration is the temperature of the head in use, fitted on the audit.
type Calibration struct {
	// Temperature divides the logits; Images is the number of audited images of known classes that
	// it was fitted on.
	Temperature float64 `json:"temperature"`
	Images      int     `json:"images"`
	// Before is the reliability on them without it, and Crossed with cross-fitting: each half of
	// the audit at the temperature of the other half. Bins of few images make their ECE too large.
	Before  calibration.Reliability `json:"before"`
	Crossed calibration.Reliability `json:"crossed"`
}

// LeastCalibrated is the smallest number of audited images of known classes for a temperature.
const LeastCalibrated = 30

// Calibrate fits the temperature of a head, the run's if adapted is nil, on the visit's audit, in which
// base is the temperature so far. It is nil with fewer than [LeastCalibrated] images.
func (v *Visit) Calibrate(classes []string, part Part, adapted *head.Linear, base float64, label func(id string) Label) *Calibration {
	audited, named := v.labelled(part, label)
	logits := LogitsOf(audited, adapted)
	var all calibration.Labelled
	var halves [2]calibration.Labelled
	for k, name := range named {
		class := slices.Index(classes, name)
		if class < 0 {
			continue // no temperature makes it right
		}
		half := &halves[len(all.Class)%2] // the audit is in random order
		for _, l := range []*calibration.Labelled{&all, half} {
			l.Logits, l.Class = append(l.Logits, Row(logits, k)), append(l.Class, class)
		}
	}
	if len(all.Class) < LeastCalibrated {
		return nil
	}
	var crossed calibration.Labelled
	for i, l := range halves {
		t := float32(calibration.FitTemperature(halves[1-i]))
		for k, row := range l.Logits {
			at := make([]float32, len(row))
			for c, z := range row {
				at[c] = z / t
			}
			crossed.Logits, crossed.Class = append(crossed.Logits, at), append(crossed.Class, l.Class[k])
		}
	}
	return &Calibration{Temperature: calibration.FitTemperature(all), Images: len(all.Class),
		Before: calibration.Measure(all, base), Crossed: calibration.Measure(crossed, 1)}
}

// String describes the calibration in a line.
func (c *Calibration) String() string {
	return fmt.Sprintf("probabilities are calibrated on %d audited images: temperature %.2f; by cross-fitting their mean is %.0f%% for an accuracy of %.0f%% (ECE %.0f%%), before it was %.0f%%",
		c.Images, c.Temperature, 100*c.Crossed.Confidence, 100*c.Crossed.Accuracy, 100*c.Crossed.ECE, 100*c.Before.Confidence)
}
