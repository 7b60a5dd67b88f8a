//go:build browser

package page_test

import (
	"path"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/ledg-go/ledg/ceg/labels"
)

// Bursts of glyphs in folders are labelled by two keys: A, once, and a key for each group.
func TestGroupsByKeys(t *testing.T) {
	ctx := browser(t)
	root := images(t, 2, 6)
	d := inGroups(t, root)
	dir := t.TempDir()
	o := options(t, d, root, dir, animals)
	_, address := serve(t, o)
	do(t, ctx, chromedp.Navigate(address))
	id := shown(t, ctx, "")
	until(t, ctx, `!document.getElementById("group").hidden && document.getElementById("group-text").textContent.startsWith("6 open images in group ")`)
	press(t, ctx, "a")
	until(t, ctx, `document.getElementById("whole").getAttribute("aria-pressed") === "true" && document.getElementById("live").textContent.startsWith("The label is for all 6 open images of group ")`)
	if n := js[int](t, ctx, `document.querySelectorAll("#group-thumbs img").length`); n != 5 {
		t.Errorf("%d others are shown", n)
	}
	look(t, ctx, "group")
	do(t, ctx, chromedp.EmulateViewport(1280, 800))
	press(t, ctx, keyOf(classOf(id)))
	next := shown(t, ctx, id)
	st := state(t, dir)
	if len(st.Labels()) != 6 || path.Dir(next) == path.Dir(id) {
		t.Fatalf("%d labels, then %s", len(st.Labels()), next)
	}
	until(t, ctx, `document.getElementById("live").textContent.includes("for all of the group")`)
	press(t, ctx, kb.Backspace)
	until(t, ctx, `document.getElementById("notice").textContent === "6 labels are undone."`)
	if n := len(state(t, dir).Labels()); n != 0 {
		t.Fatalf("%d labels after undo", n)
	}
	press(t, ctx, kb.ArrowRight)
	until(t, ctx, `document.getElementById("notice").textContent === "6 labels are redone."`)
	// One key a group: all is labelled, and right.
	for len(state(t, dir).Labels()) < d.Len() {
		id = shown(t, ctx, "")
		press(t, ctx, keyOf(classOf(id)))
		until(t, ctx, `!document.body.hasAttribute("aria-busy") && document.getElementById("stage").dataset.id !== "`+id+`" || document.body.dataset.view === "end"`)
	}
	st = state(t, dir)
	for _, l := range st.Labels() {
		if l.Class != classOf(l.ID) {
			t.Errorf("%s is %s", l.ID, l.Class)
		}
	}

	// One label is wrong: the list shows it beside another of its group.
	wrong := animals[(slices.Index(animals, classOf(id))+1)%len(animals)]
	if _, err := o.Ledger.Append(labels.Event{Kind: labels.Labelled, ID: id, Class: wrong, By: "ben"}); err != nil {
		t.Fatal(err)
	}
	do(t, ctx, chromedp.Reload())
	until(t, ctx, `document.body.dataset.view === "end"`)
	press(t, ctx, "l")
	until(t, ctx, `document.querySelectorAll("#chips button").length === 8`)
	js[bool](t, ctx, `document.querySelectorAll("#chips button")[7].click() || true`)
	until(t, ctx, `document.querySelectorAll("#labelled .card").length === 1 && document.getElementById("review-help").textContent.startsWith("1 image with another label")`)
	look(t, ctx, "mixed")
	js[bool](t, ctx, `document.querySelector("#labelled .card .main").click() || true`)
	until(t, ctx, `document.querySelectorAll("#labelled .card").length === 0`)
	if im := state(t, dir).Image(id); im.Class != classOf(id) {
		t.Errorf("%s is %s", id, im.Class)
	}
}
