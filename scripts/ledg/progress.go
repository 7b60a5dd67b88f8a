package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// event is what a run tells about itself.
type event struct {
	Epoch, Epochs     int // Epoch counts from 0
	Step, Steps       int // Step counts from 1 within the epoch
	Loss              float64
	Labelled          int
	TargetAcc, ValAcc float64 // in [0, 1], NaN when not known
	Done              bool    // the epoch is complete
	Message           string  // a line for the user, or empty
}

// progress shows how a run is going: on a terminal a bar that moves with every
// step, otherwise a line per epoch.
type progress struct {
	w     io.Writer
	now   func() time.Time
	bar   *progressbar.ProgressBar // nil when w is no terminal
	start time.Time
	begin float64 // epochs that were over when we began: a resumed run has some
	epoch time.Time
	shown bool
}

// barUnits is the number of the bar's units in an epoch.
const barUnits = 1000

// newProgress returns the progress of a run that is shown on w.
func newProgress(w io.Writer) *progress {
	f, ok := w.(*os.File)
	return newProgressAt(w, ok && term.IsTerminal(int(f.Fd())), time.Now)
}

func newProgressAt(w io.Writer, terminal bool, now func() time.Time) *progress {
	p := &progress{w: w, now: now, begin: -1}
	if terminal {
		p.bar = progressbar.NewOptions64(1,
			progressbar.OptionSetWriter(w),
			progressbar.OptionSetWidth(20),
			progressbar.OptionSetTheme(progressbar.Theme{Saucer: "━", SaucerPadding: "─"}),
			progressbar.OptionShowDescriptionAtLineEnd(),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(false),
			progressbar.OptionSetRenderBlankState(false),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionUseANSICodes(true),
		)
	}
	return p
}

// observe shows an event.
func (p *progress) observe(e event) {
	if e.Message != "" {
		p.clear()
		fmt.Fprintln(p.w, e.Message)
		return
	}
	if e.Epochs == 0 || e.Steps == 0 {
		return
	}
	done := float64(e.Epoch) + float64(e.Step)/float64(e.Steps)
	if e.Done {
		done = float64(e.Epoch + 1)
	}
	if p.begin < 0 { // the clock starts at the end of the first step, which compiles
		p.begin, p.start, p.epoch = done, p.now(), p.now()
	}
	switch {
	case p.bar != nil:
		p.shown = true
		p.bar.ChangeMax64(int64(e.Epochs) * barUnits)
		p.bar.Describe(p.describe(e, done))
		units := int64(done * barUnits)
		if !e.Done { // a full bar is final, and the evaluation is still to come
			units = min(units, int64(e.Epochs)*barUnits-1)
		}
		p.bar.Set64(units)
	case e.Done:
		took := p.now().Sub(p.epoch)
		p.epoch = p.now()
		fmt.Fprintf(p.w, "%s  %s\n", p.describe(e, done), took.Round(100*time.Millisecond))
	}
}

// describe says in words where the run is.
func (p *progress) describe(e event, done float64) string {
	parts := []string{
		fmt.Sprintf("epoch %d of %d", e.Epoch+1, e.Epochs),
		fmt.Sprintf("loss %.3f", e.Loss),
		fmt.Sprintf("%d labels", e.Labelled),
	}
	if !math.IsNaN(e.TargetAcc) {
		parts = append(parts, fmt.Sprintf("target %.1f%%", 100*e.TargetAcc))
	}
	if !math.IsNaN(e.ValAcc) {
		parts = append(parts, fmt.Sprintf("val %.1f%%", 100*e.ValAcc))
	}
	if left, ok := p.left(done, float64(e.Epochs)); ok {
		parts = append(parts, "ETA "+left.String())
	}
	return strings.Join(parts, "  ")
}

// left estimates the time until done reaches total, in whole seconds, from the
// pace since the first event; ok is false before there is one.
func (p *progress) left(done, total float64) (left time.Duration, ok bool) {
	elapsed := p.now().Sub(p.start)
	if done <= p.begin || elapsed <= 0 {
		return 0, false
	}
	return time.Duration(float64(elapsed) * (total - done) / (done - p.begin)).Round(time.Second), true
}

// clear takes the bar off the terminal until the next event.
func (p *progress) clear() {
	if p.bar != nil && p.shown {
		fmt.Fprint(p.w, "\r\x1b[2K")
	}
}

// close leaves the bar as it is and goes to the next line.
func (p *progress) close() {
	if p.bar != nil && p.shown {
		fmt.Fprintln(p.w)
		p.shown = false
	}
}
