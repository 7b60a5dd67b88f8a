package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ledg-go/ledg/ceg/study"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// studyProgress shows how a study is going: a line when a run begins or ends,
// and on a terminal below them one that changes with every epoch.
type studyProgress struct {
	w        io.Writer
	blind    bool       // accuracies are not shown
	width    func() int // of the terminal; nil when w is none
	begun    map[string]time.Time
	busy     map[string]bool // reported as another process's
	trained  map[string]bool // by this process
	shown    bool
	lastLine time.Time
}

func newStudyProgress(w io.Writer) *studyProgress {
	return &studyProgress{w: w, width: terminalWidth(w), begun: map[string]time.Time{}, busy: map[string]bool{}, trained: map[string]bool{}}
}

func (p *studyProgress) observe(e study.Event) {
	name := fmt.Sprintf("%s %s, %s, %s, seed %d", e.Run.Dataset, e.Run.Target, e.Run.ArmName(), e.Run.Budget, e.Run.Seed)
	switch e.Kind {
	case study.Started:
		p.begun[e.Run.Dir] = time.Now()
	case study.Training:
		p.trained[e.Run.Dir] = true
		if e.Training.Message == "" {
			p.line(e, name)
		}
	case study.Finished:
		text := "finished"
		if e.Result != nil && e.Result.Accuracy.Measured() && !p.blind {
			text = fmt.Sprintf("%.2f%%", 100*e.Result.Accuracy.LastEpoch.TargetAccuracy)
		}
		if p.trained[e.Run.Dir] {
			text += fmt.Sprintf(" in %s", time.Since(p.begun[e.Run.Dir]).Round(time.Second))
		} else {
			text += " by another process"
		}
		p.print("%s: %s; %s", name, text, p.summary(e))
	case study.Failed:
		first, _, _ := strings.Cut(e.Err.Error(), "\n")
		p.print("%s: failed: %s; %s", name, first, p.summary(e))
	case study.Busy:
		if !p.busy[e.Run.Dir] { // once
			p.busy[e.Run.Dir] = true
			p.print("%s: another process is working on it", name)
		}
	}
}

// summary says how much of the study is done.
func (p *studyProgress) summary(e study.Event) string {
	text := fmt.Sprintf("%d of %d runs", e.Progress.Finished, e.Progress.Total)
	if e.Progress.Failed > 0 {
		text += fmt.Sprintf(", %d failed", e.Progress.Failed)
	}
	if e.Progress.Known && e.Progress.Share < 1 {
		text += ", ETA " + formatETA(e.Progress.ETA)
	}
	return text
}

// formatETA leaves no more digits than an estimate has.
func formatETA(d time.Duration) string {
	if d >= time.Hour {
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
	return d.Round(time.Second).String()
}

// line shows where the study is, on a terminal, a few times a second.
func (p *studyProgress) line(e study.Event, name string) {
	if p.width == nil || time.Since(p.lastLine) < 200*time.Millisecond {
		return
	}
	p.lastLine = time.Now()
	text := []rune(cli.Printable(fmt.Sprintf("%3.0f%%  %s; %s epoch %d of %d", 100*e.Progress.Share, p.summary(e), name, e.Training.Epoch+1, e.Training.Epochs)))
	fmt.Fprintf(cli.Codes(p.w), "\r\x1b[K%s", string(text[:min(len(text), max(p.width()-1, 0))]))
	p.shown = true
}

// print writes a line that stays.
func (p *studyProgress) print(format string, args ...any) {
	p.close()
	fmt.Fprintf(p.w, format+"\n", args...)
}

// close removes the line that changes.
func (p *studyProgress) close() {
	if p.shown {
		fmt.Fprint(cli.Codes(p.w), "\r\x1b[K")
		p.shown = false
	}
}
