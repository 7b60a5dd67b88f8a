package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/study/eta"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// progress shows how a run is going: on a terminal a bar that moves with every
// step, otherwise a line per epoch.
type progress struct {
	w     io.Writer
	now   func() time.Time
	bar   *progressbar.ProgressBar // nil when w is no terminal
	width func() int               // of the terminal, in columns
	eta   eta.Estimator            // in epochs
	epoch time.Time                // when it began
	shown bool
	first string // line before all others, if any
}

const (
	// barUnits is the number of the bar's units in an epoch.
	barUnits = 1000
	// barColumns is the length of the bar, barSpace what it takes with the share
	// before it and the spaces around it.
	barColumns = 10
	barSpace   = barColumns + 9
)

// terminalWidth returns a function for the number of columns of the terminal w, or nil if w
// is not a terminal.
func terminalWidth(w io.Writer) func() int {
	f, ok := cli.Codes(w).(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return func() int {
		width, _, err := term.GetSize(int(f.Fd()))
		if err != nil || width <= 0 { // some terminals do not know
			return 80
		}
		return width
	}
}

// newBar returns a bar with words behind it.
func newBar(w io.Writer, most int, options ...progressbar.Option) *progressbar.ProgressBar {
	return progressbar.NewOptions(most, append(options,
		progressbar.OptionSetWriter(cli.Codes(w)),
		progressbar.OptionSetWidth(barColumns),
		progressbar.OptionSetTheme(progressbar.Theme{Saucer: "━", SaucerPadding: "─"}),
		progressbar.OptionShowDescriptionAtLineEnd(),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionSetRenderBlankState(false),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionUseANSICodes(true),
	)...)
}

// fit joins as many of the parts as fit beside a bar on a line of the given width: a line that
// wraps cannot be drawn over.
func fit(columns int, parts []string) string {
	text := strings.Join(parts, "  ")
	for len(parts) > 1 && barSpace+len(text) > columns {
		parts = parts[:len(parts)-1]
		text = strings.Join(parts, "  ")
	}
	return text
}

// newProgress returns the progress of a run that is shown on w.
func newProgress(w io.Writer) *progress { return newProgressAt(w, terminalWidth(w), time.Now) }

// newProgressAt shows lines when width is nil, else a bar on a terminal of that width.
func newProgressAt(w io.Writer, width func() int, now func() time.Time) *progress {
	p := &progress{w: w, now: now, width: width}
	if width != nil {
		p.bar = newBar(w, 1)
	}
	return p
}

func (p *progress) observe(e ceg.Event) {
	if p.first != "" {
		fmt.Fprintln(p.w, p.first)
		p.first = ""
	}
	if e.Message != "" {
		p.clear()
		fmt.Fprintln(p.w, e.Message)
		return
	}
	if e.Epochs == 0 || e.Steps == 0 {
		return
	}
	done := e.Over()
	if p.epoch.IsZero() { // the clock starts at the end of the first step, which compiles
		p.epoch = p.now()
		p.eta.Begin(p.epoch, done)
	}
	switch {
	case p.bar != nil:
		p.shown = true
		p.bar.ChangeMax64(int64(e.Epochs) * barUnits)
		p.bar.Describe(fit(p.width(), p.describe(e, done)))
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
	if left, ok := p.eta.Left(p.now(), done, float64(e.Epochs)); ok {
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

// clear takes the bar off the terminal until the next event.
func (p *progress) clear() {
	if p.bar != nil && p.shown {
		fmt.Fprint(cli.Codes(p.w), "\r\x1b[2K")
	}
}

// close leaves the bar as it is and goes to the next line.
func (p *progress) close() {
	if p.bar != nil && p.shown {
		fmt.Fprintln(p.w)
		p.shown = false
	}
}

// countProgress shows a count of things on w: a bar on a terminal, else a line
// every ten seconds.
func countProgress(w io.Writer, things string) func(done, total int) {
	width, last := terminalWidth(w), time.Now()
	var bar *progressbar.ProgressBar
	var p eta.Estimator
	first := true
	return func(done, total int) {
		now := time.Now()
		if first {
			last = now // the next line has a rate over ten seconds
		}
		p.Begin(now, float64(done))
		text := fmt.Sprintf("%s of %s %s, %.1f/s", humanize.Comma(int64(done)), humanize.Comma(int64(total)), things, p.Rate(now, float64(done)))
		switch {
		case width != nil:
			if bar == nil {
				bar = newBar(w, total, progressbar.OptionClearOnFinish())
			}
			parts := []string{text}
			if left, ok := p.Left(now, float64(done), float64(total)); ok {
				parts = append(parts, "ETA "+left.String())
			}
			bar.Describe(fit(width(), parts))
			bar.Set(done)
		case !first && (now.Sub(last) >= 10*time.Second || done >= total):
			last = now
			if left, ok := p.Left(now, float64(done), float64(total)); ok && done < total {
				text += ", ETA " + left.String()
			}
			fmt.Fprintln(w, text)
		}
		first = false
	}
}
