package nb

import (
	"errors"
	"math"
	"slices"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/plots"
)

// history is what a run has come to so far, as a figure shows it.
type history struct {
	plots.TrainingData
	labels int     // of the epoch that is on
	epoch  int     // that is on
	losses float64 // of its steps, their sum
	steps  int
}

// newHistory is the history of a run that has come as far as its records.
func newHistory(epochs int, records []result.Record) *history {
	h := &history{TrainingData: plots.TrainingData{Epochs: float64(epochs)}}
	for _, rec := range records {
		h.labelled(rec.Epoch, rec.Labels)
		target, source := math.NaN(), math.NaN()
		if t := rec.Target(); t.Total > 0 {
			target = t.Share()
		}
		if t := rec.SourceVal(); t.Total > 0 {
			source = t.Share()
		}
		h.trained(rec.Epoch+1, descended(rec.Loss), target, source)
	}
	return h
}

// descended is the loss that the steps descend first.
func descended(terms result.Losses) float64 {
	for _, name := range []string{"ss", "total", "g", "f"} {
		for _, t := range terms {
			if t.Name == name {
				return t.Value
			}
		}
	}
	return math.NaN()
}

// add includes an event.
func (h *history) add(e ceg.Event) {
	if e.Message != "" || e.Epochs == 0 || e.Step == 0 {
		return
	}
	h.Epochs = float64(e.Epochs)
	h.labelled(e.Epoch, e.Labelled)
	if e.Done {
		h.trained(e.Epoch+1, e.Loss, e.TargetAcc, e.ValAcc)
		return
	}
	if e.Epoch != h.epoch {
		h.epoch, h.losses, h.steps = e.Epoch, 0, 0
	}
	h.losses, h.steps = h.losses+e.Loss, h.steps+1
}

// labelled notes how many labels an epoch, counted from 0, trains with.
func (h *history) labelled(epoch, labels int) {
	if h.labels > 0 && labels > h.labels {
		h.Queried = append(h.Queried, float64(epoch))
	}
	h.labels = labels
}

// trained records the results after a number of epochs: the mean loss, and accuracies in [0, 1],
// NaN where they are unknown.
func (h *history) trained(epochs int, loss, target, source float64) {
	h.steps = 0
	add := func(list []plots.Point, y float64) []plots.Point {
		x := float64(epochs)
		if math.IsNaN(y) || math.IsInf(y, 0) || len(list) > 0 && list[len(list)-1].X >= x {
			return list
		}
		return append(list, plots.Point{X: x, Values: []float64{y}})
	}
	h.Loss, h.Target, h.Source = add(h.Loss, loss), add(h.Target, 100*target), add(h.Source, 100*source)
}

// errAtOnce is the error of a figure of a run that has no curves: its head is fitted at once, and no
// loss descends over epochs.
var errAtOnce = errors.New("the head is fitted at once")

// figure draws the history, with the mean loss of the current epoch at its position, in epochs
// since the start.
func (h *history) figure(over float64) (*plots.Grid, error) {
	d := h.TrainingData
	if n := len(d.Loss); n > 0 && (n > 1 || d.Loss[0].Values[0] == 0) &&
		!slices.ContainsFunc(d.Loss, func(p plots.Point) bool { return p.Values[0] != d.Loss[0].Values[0] }) {
		return nil, errAtOnce
	}
	if y := h.losses / float64(h.steps); h.steps > 0 && !math.IsNaN(y) && !math.IsInf(y, 0) {
		d.Loss = append(d.Loss[:len(d.Loss):len(d.Loss)], plots.Point{X: over, Values: []float64{y}})
	}
	return plots.Training(Theme(), d)
}
