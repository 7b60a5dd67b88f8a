package nb

import (
	"context"
	"errors"
	"io/fs"

	"github.com/janpfeifer/gonb/gonbui"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
)

// Confusion is a confusion matrix, [classes][classes]: rows are true classes, columns predictions.
type Confusion = result.Confusion

// By is the metric of a cell's [Compare], [LearningCurves], [PerTarget], [Dots], [Sweep], [Ablate] and [Frame]: nb.By = nb.MacroF1.
// Empty means accuracy. A metric of [Metric] is known at the last epoch alone, and so is ECE: not in curves over epochs.
var By string

// The built-in values of [By]. BalancedAccuracy is the mean over classes of their recalls. WorstDomain is the lowest
// accuracy of a domain: the target, or a source's validation images. ECE is the expected calibration error on the
// target, in 15 bins; it calibrates runs that have no calibration, from their weights.
const (
	MacroF1          = "macro-f1"
	BalancedAccuracy = "mean-recall"
	WorstDomain      = "worst-domain"
	ECE              = "ece"
)

var own []string // metrics of the notebook

// Metric registers a metric and returns its name, for [By]. of returns a number, 1 for 100%, from the confusion matrix of the
// target domain at the last epoch. Declare it in a variable, outside of %%:
//
//	var Recall0 = nb.Metric("recall-0", func(c nb.Confusion) float64 {
//		all := 0
//		for _, n := range c[0] {
//			all += n
//		}
//		return float64(c[0][0]) / float64(all)
//	})
func Metric(name string, of func(Confusion) float64) string {
	own = append(own, name)
	return registered(name, report.RegisterMeasure(name, of), gonbui.IsNotebook)
}

// metric is [By]. For ECE, runs without a calibration get one.
func metric(dirs []string) string {
	if err := broken[By]; err != nil {
		Check(err)
	}
	if By != ECE {
		return By
	}
	for _, run := range Must(result.OpenAll(dirs...)) {
		if _, err := calibration.Of(run); !errors.Is(err, fs.ErrNotExist) {
			Check(err)
			continue
		}
		p := Must(predict.OpenUncalibrated(ceg.Options{Dir: run.Path}))
		_, err := p.Calibrate(context.Background())
		p.Close()
		Check(err)
	}
	return By
}
