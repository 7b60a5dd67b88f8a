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

	"github.com/ledg-go/ledg/ceg"
)

// progress shows how a run is going: on a terminal a bar that moves with every
// step, otherwise a line per epoch.
type progress struct {
	w     io.Writer
	now   func() time.Time
	bar   *progressbar.ProgressBar // nil when w is no terminal
	width func() int               // of the terminal, in columns
	start time.Time
	begin float64 // epochs that were over when we began: a resumed run has some
	epoch time.Time
	shown bool
}

const (
	// barUnits is the number of the bar's units in an epoch.
	barUnits = 1000
	// barColumns is the length of the bar, barSpace what it takes with the share
	// before it and the spaces around it.
	barColumns = 10
	barSpace   = barColumns + 9
)

// newProgress returns the progress of a run that is shown on w.
func newProgress(w io.Writer) *progress {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return newProgressAt(w, nil, time.Now)
	}
	return newProgressAt(w, func() int {
		width, _, err := term.GetSize(int(f.Fd()))
		if err != nil || width == 0 { // some terminals do not know
			return 80
		}
		return width
	}, time.Now)
}

// newProgressAt shows lines when width is nil, else a bar on a terminal of so
// many columns.
func newProgressAt(w io.Writer, width func() int, now func() time.Time) *progress {
	p := &progress{w: w, now: now, width: width, begin: -1}
	if width != nil {
		p.bar = progressbar.NewOptions64(1,
			progressbar.OptionSetWriter(w),
			progressbar.OptionSetWidth(barColumns),
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
func (p *progress) observe(e ceg.Event) {
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
		p.bar.Describe(p.fit(p.describe(e, done)))
		units := int64(done * barUnits)
		if !e.Done { // a full bar is final, and the evaluation is still to come
			units = min(units, int64(e.Epochs)*barUnits-1)
		}
		p.bar.Set64(units)
	case e.Done:
		took := p.now().Sub(p.epoch)
		p.epoch = p.now()
		fmt.Fprintf(p.w, "epoch %s  %s\n", strings.Join(p.describe(e, done), "  "), took.Round(100*time.Millisecond))
	}
}

// describe says where the run is: epoch, loss, labels, time left, and the
// accuracies on the target and the validation splits, as far as they are known.
func (p *progress) describe(e ceg.Event, done float64) []string {
	parts := []string{
		fmt.Sprintf("%d/%d", e.Epoch+1, e.Epochs),
		fmt.Sprintf("loss %.3f", e.Loss),
		fmt.Sprintf("%d labels", e.Labelled),
	}
	if left, ok := p.left(done, float64(e.Epochs)); ok {
		parts = append(parts, "ETA "+left.String())
	}
	if !math.IsNaN(e.TargetAcc) {
		parts = append(parts, fmt.Sprintf("target %.1f%%", 100*e.TargetAcc))
	}
	if !math.IsNaN(e.ValAcc) {
		parts = append(parts, fmt.Sprintf("val %.1f%%", 100*e.ValAcc))
	}
	return parts
}

// fit joins as many of the parts as stand beside the bar on one line: a line
// that wraps cannot be drawn over.
func (p *progress) fit(parts []string) string {
	text := strings.Join(parts, "  ")
	for len(parts) > 1 && barSpace+len(text) > p.width() {
		parts = parts[:len(parts)-1]
		text = strings.Join(parts, "  ")
	}
	return text
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
