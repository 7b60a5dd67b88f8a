package browsertest

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// A window that is closed gives its question back, and one that waits gets it by itself.
func TestClosedWindow(t *testing.T) {
	w := browser(t)
	root := images(t, 1, 1)
	d := folder(t, root)
	dir := t.TempDir()
	o := options(t, d, root, dir, animals)
	o.Rest = false
	fatal.Get(o.Ledger.Query("run", 1, []labels.Question{{ID: d.Examples[0].ID}}))(t)
	o.By = []string{"ann", "ben"}
	list := serve(t, o)
	w.do(chromedp.Navigate(list[0]))
	id := w.shown("")
	ctx, cancel := chromedp.NewContext(w.ctx)
	defer cancel()
	other := window{t, ctx}
	other.do(chromedp.Navigate(list[1]))
	other.until(`document.body.dataset.view === "end" && document.getElementById("end-title").textContent.startsWith("The last images are on other screens")`)
	other.look("elsewhere")
	w.do(chromedp.Navigate("about:blank"))
	if got := other.shown(""); got != id {
		t.Errorf("ben gets %s, want %s", got, id)
	}
	other.press("2")
	other.until(`document.getElementById("end-title").textContent === "All images are labelled"`)
	if im := state(t, dir).Image(id); im.By != "ben" || im.Class != "bear" {
		t.Errorf("it is %+v", im)
	}
}
