package nb

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/study/eta"
	"github.com/ledg-go/ledg/plots"
)

// bar is a line of a cell's output that changes in place and says how far the work is.
type bar struct {
	id      string // of the output
	eta     eta.Estimator
	last    time.Time // of a change
	message string    // of a run

	runs, finished int // that share the line
}

// observe shows an event of a run.
func (b *bar) observe(e ceg.Event) {
	b.message = cmp.Or(e.Message, b.message)
	share, text := e.Over()/float64(max(1, e.Epochs)), b.message
	if e.Step > 0 {
		text = fmt.Sprintf("epoch %d of %d, %d labels, loss %.3f", e.Epoch+1, e.Epochs, e.Labelled, e.Loss)
		if !math.IsNaN(e.TargetAcc) {
			text += fmt.Sprintf(", target %.1f%%", 100*e.TargetAcc)
		}
	}
	if b.runs > 1 {
		share = (float64(b.finished) + share) / float64(b.runs)
		text = fmt.Sprintf("%d of %d runs, %s", b.finished, b.runs, text)
	}
	b.show(share, text)
}

// flicker is the shortest time between two changes of a line.
const flicker = 200 * time.Millisecond

// show shows that a share in [0, 1] of the work is over.
func (b *bar) show(share float64, text string) {
	now := time.Now()
	b.eta.Begin(now, share)
	if now.Sub(b.last) < flicker {
		return
	}
	b.last = now
	text = fmt.Sprintf("%.0f%%, %s", 100*share, text)
	if left, ok := b.eta.Left(now, share, 1); ok {
		text += fmt.Sprintf(", %s left", left)
	}
	b.text(text)
}

// text replaces the line.
func (b *bar) text(text string) {
	if gonbui.IsNotebook {
		gonbui.UpdateHTML(b.place(), "<p>"+html.EscapeString(text)+"</p>")
		gonbui.Sync()
	}
}

// wait shows how many seconds something takes, until end is called.
func (b *bar) wait(what string) (end func()) {
	start, stop := time.Now(), make(chan struct{})
	var shown sync.WaitGroup
	shown.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				b.text(fmt.Sprintf("%s: %.0f s", what, time.Since(start).Seconds()))
			case <-stop:
				return
			}
		}
	})
	return func() {
		close(stop)
		shown.Wait()
	}
}

// place is the name of the output.
func (b *bar) place() string {
	if b.id == "" {
		b.id = gonbui.UniqueId()
	}
	return b.id
}

// end replaces the line by the curves of a finished run, or by its result alone if it has no curves.
func (b *bar) end(dir string) {
	run := Must(result.OpenRun(dir))
	text := fmt.Sprintf("%d labels", run.Result.Labels)
	if last := run.Result.Accuracy.LastEpoch; run.Result.Accuracy.Measured() {
		text += fmt.Sprintf(", %.1f%% on the target", 100*last.TargetAccuracy)
	}
	d, ok := trainingData(run)
	if !ok { // fitted at once
		b.text(text)
		return
	}
	text += fmt.Sprintf(" after %d epochs", run.Result.Epochs)
	d.Note = text
	showIn(b.place(), Must(plots.Training(Theme(), d)), map[protocol.MIMEType]any{protocol.MIMETextPlain: text})
}

// trainingData returns the loss and the accuracies of a finished run over its epochs; ok is false of a run
// whose head is fitted at once, as no loss descends then.
func trainingData(run *result.Run) (d plots.TrainingData, ok bool) {
	d = plots.TrainingData{Title: labelOf(run), Epochs: float64(run.Result.Epochs), Chance: report.Chance(run.Config.Data.Dataset, run)}
	for i, rec := range run.Records {
		if i > 0 && rec.Labels > run.Records[i-1].Labels {
			d.Queried = append(d.Queried, float64(rec.Epoch))
		}
		at := func(y float64) plots.Point { return plots.Point{X: float64(rec.Epoch + 1), Values: []float64{y}} }
		for _, name := range []string{"ss", "total", "g", "f"} { // what the steps descend first
			if loss := rec.Loss.Value(name); loss != 0 && !math.IsNaN(loss) && !math.IsInf(loss, 0) {
				d.Loss = append(d.Loss, at(loss))
				break
			}
		}
		if t := rec.Target(); t.Total > 0 {
			d.Target = append(d.Target, at(100*t.Share()))
		}
		if t := rec.SourceVal(); t.Total > 0 {
			d.Source = append(d.Source, at(100*t.Share()))
		}
	}
	differs := func(p plots.Point) bool { return p.Values[0] != d.Loss[0].Values[0] }
	return d, len(d.Loss) == 1 || slices.ContainsFunc(d.Loss, differs)
}
