package nb

import (
	"fmt"
	"html"
	"math"
	"strings"
	"time"

	"github.com/janpfeifer/gonb/gonbui"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/pace"
	"github.com/ledg-go/ledg/ceg/study"
)

// Progress returns an observer of [ceg.Run] that shows a bar which moves with every
// step, and the last message.
func Progress() func(ceg.Event) { return new(bar).observe() }

// observe returns an observer that shows the bar.
func (b *bar) observe() func(ceg.Event) {
	message := ""
	return func(e ceg.Event) {
		if e.Message != "" {
			message = e.Message
		}
		if e.Done && e.Epoch+1 == e.Epochs {
			message = "" // of this machine
		}
		b.show(epochs(e), e.Done || e.Message != "", describe(e), message)
	}
}

// StudyProgress returns an observer of a study that shows a bar which moves with
// every epoch, and the run that is on.
func StudyProgress() func(study.Event) {
	b := new(bar)
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
func epochs(e ceg.Event) float64 { return e.Over() / float64(max(1, e.Epochs)) }

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
	id   string
	pace pace.Pace
	last time.Time
}

// flicker is the shortest time between two changes: more would only flicker.
const flicker = 200 * time.Millisecond

// show shows that a share in [0, 1] of the work is over, with lines of text. A
// change that is not important is left out if the last one was just before.
func (b *bar) show(share float64, important bool, lines ...string) {
	now := time.Now()
	b.pace.Begin(now, share)
	if !gonbui.IsNotebook || !important && now.Sub(b.last) < flicker {
		return
	}
	b.last = now
	left, _ := b.pace.Left(now, share, 1)
	b.update(barHTML(share, left, lines...))
	if important {
		gonbui.Sync()
	}
}

// html shows a text in the place of the bar.
func (b *bar) html(text string) {
	if gonbui.IsNotebook {
		b.update(text)
		gonbui.Sync()
	}
}

func (b *bar) update(text string) {
	if b.id == "" {
		b.id = gonbui.UniqueID()
	}
	gonbui.UpdateHTML(b.id, text)
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
