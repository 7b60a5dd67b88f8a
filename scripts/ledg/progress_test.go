package main

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ledg-go/ledg/ceg"
)

// clock is a time that moves by hand.
type clock struct{ t time.Time }

func (c *clock) now() time.Time                { return c.t }
func (c *clock) advance(seconds time.Duration) { c.t = c.t.Add(seconds * time.Second) }

// play shows a run of 4 epochs of 2 steps, 10 seconds a step, that is resumed
// after its first epoch.
func play(p *progress, c *clock) {
	nan := math.NaN()
	p.observe(ceg.Event{Message: "preparing images"})
	e := ceg.Event{Epochs: 4, Steps: 2, Labelled: 12, TargetAcc: nan, ValAcc: nan}
	for e.Epoch = 1; e.Epoch < 4; e.Epoch++ {
		for e.Step = 1; e.Step <= 2; e.Step++ {
			c.advance(10)
			e.Loss = 4 / float64(e.Epoch)
			p.observe(e)
		}
		e.TargetAcc, e.ValAcc = 0.25*float64(e.Epoch), 0.5
		e.Done, e.Step = true, 2
		p.observe(e)
		e.Done = false
	}
	p.close()
}

func TestProgressLines(t *testing.T) {
	var b bytes.Buffer
	c := &clock{t: time.Unix(0, 0)}
	play(newProgressAt(&b, nil, c.now), c)
	want := `preparing images
epoch 2/4  loss 4.000  12 labels  ETA 40s  target 25.0%  val 50.0%  10s
epoch 3/4  loss 2.000  12 labels  ETA 20s  target 50.0%  val 50.0%  20s
epoch 4/4  loss 1.333  12 labels  ETA 0s  target 75.0%  val 50.0%  20s
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestProgressBar(t *testing.T) {
	for _, tt := range []struct {
		columns int
		want    string
	}{
		{120, " 100% ━━━━━━━━━━  4/4  loss 1.333  12 labels  ETA 0s  target 75.0%  val 50.0%"},
		{72, " 100% ━━━━━━━━━━  4/4  loss 1.333  12 labels  ETA 0s  target 75.0%"},
		{30, " 100% ━━━━━━━━━━  4/4"},
		{1, " 100% ━━━━━━━━━━  4/4"},
	} {
		var b bytes.Buffer
		c := &clock{t: time.Unix(0, 0)}
		play(newProgressAt(&b, func() int { return tt.columns }, c.now), c)
		got := b.String()
		if !strings.HasPrefix(got, "preparing images\n") || strings.Count(got, "\n") != 2 || !strings.HasSuffix(got, "\n") {
			t.Errorf("the bar is not one line after the message: %q", got)
		}
		var last string
		for state := range strings.SplitSeq(strings.TrimSuffix(got, "\n"), "\r") {
			last = strings.TrimSuffix(state, " \x1b[0K")
			if n := utf8.RuneCountInString(last); n >= tt.columns && tt.columns > 30 {
				t.Errorf("%d columns for %q, want less than %d", n, last, tt.columns)
			}
		}
		if last != tt.want {
			t.Errorf("on %d columns the last state is %q, want %q", tt.columns, last, tt.want)
		}
	}
}
