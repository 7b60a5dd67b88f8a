package nb

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"html"
	"math"
	"strings"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/study/eta"
)

// Progress returns an observer of [ceg.Run] that shows a progress bar, the run's live curves and
// the last message. At the end the curves remain as a figure.
func Progress() func(ceg.Event) { return new(bar).observe() }

// observe returns an observer that shows a run.
func (b *bar) observe() func(ceg.Event) {
	message := ""
	return func(e ceg.Event) {
		if b.over {
			return
		}
		if e.Message != "" {
			message = e.Message
		}
		b.follow(e)
		if e.Done && e.Epoch+1 == e.Epochs && b.runs == 0 {
			b.still(b.history, describe(e))
			return
		}
		share, lines := epochs(e), []string{describe(e), message}
		if b.runs > 1 {
			share = (float64(b.finished) + share) / float64(b.runs)
			lines = append([]string{fmt.Sprintf("%d of %d runs", b.finished, b.runs)}, lines...)
		}
		b.show(share, e.Done || e.Message != "", lines...)
	}
}

// follow adds an event to the curves of the run that is on.
func (b *bar) follow(e ceg.Event) {
	if b.history == nil {
		b.history = newHistory(e.Epochs, nil)
	}
	b.history.add(e)
	b.at = e.Over()
}

// epochs returns the part of a run's epochs that is over.
func epochs(e ceg.Event) float64 { return e.Over() / float64(max(1, e.Epochs)) }

// describe returns a run's progress without times, so that a notebook has the same bytes when it
// is executed again.
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

// bar is an output of a cell that changes in place: a bar, and the curves of the run that
// is on.
type bar struct {
	id   string
	eta  eta.Estimator
	last time.Time

	history *history // nil without curves
	at      float64  // epochs of it that are over
	curves  string   // as drawn last
	drawn   time.Time
	took    time.Duration
	over    bool // the display stays

	runs, finished int // that share the bar; 0 runs are one whose end only its events tell
}

const (
	// flicker is the shortest time between two changes: more would only flicker.
	flicker = 200 * time.Millisecond
	// redraw is the shortest time between two drawings of curves, and idle what must
	// have passed for each time that one takes: drawing costs less than 2% of a run.
	redraw = time.Second
	idle   = 60
)

// show shows that a share in [0, 1] of the work is over, with lines of text. A
// change that is not important is left out if the last one was just before, and with curves,
// which are large, any that would only flicker.
func (b *bar) show(share float64, important bool, lines ...string) {
	now := time.Now()
	b.eta.Begin(now, share)
	gap := flicker
	if b.history != nil && !important {
		gap = max(redraw, idle*b.took)
	}
	if !gonbui.IsNotebook || now.Sub(b.last) < gap && (!important || b.history != nil) {
		return
	}
	b.last = now
	left, _ := b.eta.Left(now, share, 1)
	b.update(barHTML(share, left, lines...) + b.draw(now))
	if important {
		gonbui.Sync()
	}
}

// draw is the curves of the run that is on, as they were drawn last if that was just before.
func (b *bar) draw(now time.Time) string {
	if b.history == nil || now.Sub(b.drawn) < max(redraw, idle*b.took) {
		return b.curves
	}
	if g, err := b.history.figure(b.at); err == nil { // else there is nothing to see yet
		if svg, err := g.Encode("svg"); err == nil {
			b.curves = fmt.Sprintf(`<br><img alt="the run's loss and accuracies so far" src="data:image/svg+xml;base64,%s">`, base64.StdEncoding.EncodeToString(svg))
		}
	}
	b.drawn, b.took = now, time.Since(now)
	return b.curves
}

// still replaces the bar by the final curves of a run and a line of text, or the text alone if
// nothing was drawn.
func (b *bar) still(h *history, text string) {
	if !gonbui.IsNotebook {
		return
	}
	b.over = true
	h.Note = text
	g, err := h.figure(h.Epochs)
	if err != nil {
		b.html("<p>" + html.EscapeString(text) + "</p>")
		return
	}
	showIn(b.place(), g, map[protocol.MIMEType]any{protocol.MIMETextPlain: text})
}

// html replaces the bar by a text.
func (b *bar) html(text string) {
	if gonbui.IsNotebook {
		b.update(text)
		gonbui.Sync()
	}
}

func (b *bar) update(text string) { gonbui.UpdateHTML(b.place(), text) }

// place is the name of the output, which takes the vacant one if there is one.
func (b *bar) place() string {
	if b.id == "" {
		b.id, vacant = cmp.Or(vacant, gonbui.UniqueId()), ""
	}
	return b.id
}

// vacant is the name of an output of this cell that need not stay.
var vacant string

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
