//go:build browser

package page_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/ledg-go/ledg/ceg/labels"
)

// A window that is closed gives its question back, and one that waits gets it by itself.
func TestClosedWindow(t *testing.T) {
	ctx := browser(t)
	root := images(t, 1, 1)
	d := folder(t, root)
	dir := t.TempDir()
	o := options(t, d, root, dir, animals)
	o.Rest = false
	if _, err := o.Ledger.Query("run", 1, []labels.Question{{ID: d.Examples[0].ID}}); err != nil {
		t.Fatal(err)
	}
	_, list := together(t, o, "ann", "ben")
	do(t, ctx, chromedp.Navigate(list[0].address))
	id := shown(t, ctx, "")
	other, cancel := chromedp.NewContext(ctx)
	defer cancel()
	do(t, other, chromedp.Navigate(list[1].address))
	until(t, other, `document.body.dataset.view === "end" && document.getElementById("end-title").textContent.startsWith("The last images are on other screens")`)
	look(t, other, "elsewhere")
	do(t, ctx, chromedp.Navigate("about:blank"))
	if got := shown(t, other, ""); got != id {
		t.Errorf("ben gets %s, want %s", got, id)
	}
	press(t, other, "2")
	until(t, other, `document.getElementById("end-title").textContent === "All images are labelled"`)
	if im := state(t, dir).Image(id); im.By != "ben" || im.Class != "bear" {
		t.Errorf("it is %+v", im)
	}
}
