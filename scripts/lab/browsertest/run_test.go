package browsertest

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/labels/page"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// When nothing is left to label the page says what is true of the run: that nobody trains, that
// it trains, its result, and that corrections wait; and the last state stays when the server ends.
func TestEnd(t *testing.T) {
	w := browser(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	root := images(t, 1, 1)
	d := folder(t, root)
	dir := t.TempDir()
	o := options(t, d, root, dir, animals)
	o.Rest, o.Again = false, "bin/ledg label run"
	o.Empty = "The run has not queried a label yet."
	var mu sync.Mutex
	run := page.Run{Next: "bin/ledg train --resume --out run"}
	o.Run = func(int64) page.Run { mu.Lock(); defer mu.Unlock(); return run }
	l, running := fatal.Get2(page.Listen(o.Ledger.Path(), page.Running{}))(t)
	o.Running = running
	s := fatal.Get(page.New(o))(t)
	defer s.Close()
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(context.Background(), l) }()
	w.do(chromedp.Navigate(running.Link("ann")))
	w.until(`document.getElementById("end-title").textContent === "Nothing to label" && document.getElementById("count").textContent === "you (ann): nothing to label"`)
	fatal.If(t, page.Report(o.Ledger.Path(), ""))
	w.until(`document.getElementById("end-title").textContent === "Images are being chosen" && document.getElementById("end-text").textContent === "The run has not queried a label yet."`)
	fatal.Get(o.Ledger.Query("run", 0, []labels.Question{{ID: d.Examples[0].ID}, {ID: d.Examples[1].ID}}))(t)
	id := w.shown("")
	w.press("1")
	w.shown(id)
	w.press("2")
	end := func(title, text, next string) {
		t.Helper()
		w.until(`document.getElementById("end-title").textContent === "` + title + `" && document.getElementById("end-text").textContent.includes("` + text + `")`)
		hidden := js[bool](w, `document.getElementById("end-next").hidden`)
		if now := js[string](w, `document.getElementById("end-next").textContent`); !hidden && now != next || hidden != (next == "") {
			t.Errorf("%s: the next command is %q, hidden: %v; want %q", title, now, hidden, next)
		}
	}
	end("All images are labelled", "2 images labelled. Every label is on disk. No training process", run.Next)
	for training, want := range map[string]string{"": "It begins by itself. The result appears here. Labels that change now", "epoch 3 of 20": "Now: epoch 3 of 20. The result appears here. Labels that change now"} {
		fatal.If(t, page.Report(o.Ledger.Path(), training))
		end("Training is running", want, "")
	}
	fatal.If(t, page.Report(o.Ledger.Path(), "estimating the accuracy: 1 of 9"))
	end("Training is running", "Now: estimating the accuracy: 1 of 9. The result appears here.", "")
	if text := js[string](w, `document.getElementById("end-text").textContent`); strings.Contains(text, "next epoch") {
		t.Errorf("after the last epoch: %s", text)
	}
	w.look("training")
	set := func(r page.Run) { mu.Lock(); defer mu.Unlock(); run = r }
	set(page.Run{Finished: true, Estimate: "Estimated accuracy, from 2 labels", Next: "bin/ledg report run --out report.html"})
	end("Training is finished", "2 images labelled", run.Next)
	if text := js[string](w, `document.getElementById("end-estimate").innerText`); text != run.Estimate {
		t.Errorf("the estimate is shown as %q", text)
	}
	w.look("result")
	set(page.Run{Finished: true, Changed: 1, Next: "bin/ledg extend run"})
	end("Corrections are waiting", "has not used the changed labels of 1 image.", run.Next)
	fatal.If(t, page.Stop(t.Context(), o.Ledger.Path()))
	if err := <-ended; err != nil {
		t.Error(err)
	}
	w.until(`document.getElementById("end-how").textContent.includes("no longer served")`)
	end("Corrections are waiting", "Every label is on disk.", "bin/ledg extend run\nbin/ledg label run")
	w.look("ended")
}
