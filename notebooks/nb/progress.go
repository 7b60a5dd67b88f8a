package nb

import (
	"fmt"
	"html"
	"math"
	"strings"
	"time"

	"github.com/janpfeifer/gonb/gonbui"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/study"
)

// Progress returns an observer of [ceg.Run] that shows a bar which moves with every
// step, and the last message.
func Progress() func(ceg.Event) {
	b := newBar()
	message := ""
	return func(e ceg.Event) {
		if e.Message != "" {
			message = e.Message
		}
		b.show(epochs(e), e.Done || e.Message != "", describe(e), message)
	}
}

// StudyProgress returns an observer of a study that shows a bar which moves with
// every epoch, and the run that is on.
func StudyProgress() func(study.Event) {
	b := newBar()
	return func(e study.Event) {
		p := e.Progress
		text := fmt.Sprintf("%d of %d runs", p.Finished, p.Total)
		if p.Failed > 0 {
			text += fmt.Sprintf(", %d failed", p.Failed)
		}
		run := ""
		if p.Finished+p.Failed < p.Total {
			run = fmt.Sprintf("%s, %s, seed %d: %s", e.Run.Target, e.Run.Label(), e.Run.Seed, describe(e.Training))
		}
		b.show(p.Share, e.Kind != study.Training, text, run)
	}
}

// epochs returns the part of a run's epochs that is over.
func epochs(e ceg.Event) float64 {
	switch {
	case e.Epochs == 0:
		return 0
	case e.Done:
		return float64(e.Epoch+1) / float64(e.Epochs)
	}
	return (float64(e.Epoch) + float64(e.Step)/float64(max(1, e.Steps))) / float64(e.Epochs)
}

// describe says where a run is. It holds no times, so that a notebook that is
// executed again keeps its bytes.
func describe(e ceg.Event) string {
	if e.Epochs == 0 || e.Steps == 0 {
		return ""
	}
	text := fmt.Sprintf("epoch %d of %d, %d labels, loss %.3f", e.Epoch+1, e.Epochs, e.Labelled, e.Loss)
	if !math.IsNaN(e.TargetAcc) {
		text += fmt.Sprintf(", target %.1f%%", 100*e.TargetAcc)
	}
	if !math.IsNaN(e.ValAcc) {
		text += fmt.Sprintf(", validation %.1f%%", 100*e.ValAcc)
	}
	return text
}

// bar is an output of a cell that changes in place.
type bar struct {
	id    string
	begun time.Time
	from  float64 // what was over when we began: a resumed run has a part
	last  time.Time
}

func newBar() *bar { return &bar{begun: time.Now(), from: -1} }

// pace is the shortest time between two changes: more would only flicker.
const pace = 200 * time.Millisecond

// show shows that a share in [0, 1] of the work is over, with lines of text. A
// change that is not important is left out if the last one was just before.
func (b *bar) show(share float64, important bool, lines ...string) {
	now := time.Now()
	if b.from < 0 {
		b.from, b.begun = share, now
	}
	if !gonbui.IsNotebook || !important && now.Sub(b.last) < pace {
		return
	}
	b.last = now
	if b.id == "" {
		b.id = gonbui.UniqueID()
	}
	gonbui.UpdateHTML(b.id, barHTML(share, b.left(share, now), lines...))
	if important {
		gonbui.Sync()
	}
}

// left estimates the time until everything is over; 0 if it is, or if it cannot be
// known yet.
func (b *bar) left(share float64, now time.Time) time.Duration {
	if share <= b.from || share >= 1 {
		return 0
	}
	return time.Duration(float64(now.Sub(b.begun)) * (1 - share) / (share - b.from)).Round(time.Second)
}

// barHTML is a bar with text that also reads well where the bar is not drawn.
func barHTML(share float64, left time.Duration, lines ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<progress value="%.3f" max="1" style="width: 20em"></progress> %.0f%%`, share, 100*share)
	if left > 0 {
		fmt.Fprintf(&b, ", %s left", left)
	}
	for _, l := range lines {
		if l != "" {
			fmt.Fprintf(&b, "<br>%s", html.EscapeString(l))
		}
	}
	return b.String()
}
