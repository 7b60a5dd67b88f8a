package main

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"
)

// clock is a time that moves by hand.
type clock struct{ t time.Time }

func (c *clock) now() time.Time                { return c.t }
func (c *clock) advance(seconds time.Duration) { c.t = c.t.Add(seconds * time.Second) }

// play shows a run of 4 epochs of 2 steps, 10 seconds a step, that is resumed
// after its first epoch.
func play(p *progress, c *clock) {
	nan := math.NaN()
	p.observe(event{Message: "preparing images"})
	e := event{Epochs: 4, Steps: 2, Labelled: 12, TargetAcc: nan, ValAcc: nan}
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
	play(newProgressAt(&b, false, c.now), c)
	want := `preparing images
epoch 2 of 4  loss 4.000  12 labels  target 25.0%  val 50.0%  ETA 40s  10s
epoch 3 of 4  loss 2.000  12 labels  target 50.0%  val 50.0%  ETA 20s  20s
epoch 4 of 4  loss 1.333  12 labels  target 75.0%  val 50.0%  ETA 0s  20s
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestProgressBar(t *testing.T) {
	var b bytes.Buffer
	c := &clock{t: time.Unix(0, 0)}
	p := newProgressAt(&b, true, c.now)
	play(p, c)
	got := b.String()
	if !strings.HasPrefix(got, "preparing images\n") || !strings.HasSuffix(got, "\n") {
		t.Errorf("output is %q", got)
	}
	last := got[strings.LastIndex(got, "\r"):]
	for _, want := range []string{"100%", strings.Repeat("━", 20), "epoch 4 of 4", "loss 1.333", "12 labels", "target 75.0%", "ETA 0s"} {
		if !strings.Contains(last, want) {
			t.Errorf("the last state %q lacks %q", last, want)
		}
	}
	if n := strings.Count(strings.TrimSuffix(got, "\n"), "\n"); n != 1 { // the message's
		t.Errorf("the bar takes %d lines: %q", n, got)
	}
}
