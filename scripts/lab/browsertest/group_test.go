package browsertest

import (
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

// Bursts of glyphs in folders are labelled by two keys: A, once, and a key for each group.
func TestGroupsByKeys(t *testing.T) {
	w := browser(t)
	root := images(t, 2, 6)
	d := open(t, "folder", root, datasets.Options{Group: "^(.*)/[^/]+$"})
	dir := t.TempDir()
	o := options(t, d, root, dir, animals)
	id := w.ask(o)
	w.until(`!document.getElementById("group").hidden && document.getElementById("group-text").textContent.startsWith("6 open images in group ")`)
	w.press("a")
	w.until(`document.getElementById("whole").getAttribute("aria-pressed") === "true" && document.getElementById("live").textContent.startsWith("The label is for all 6 open images of group ")`)
	if n := js[int](w, `document.querySelectorAll("#group-thumbs img").length`); n != 5 {
		t.Errorf("%d others are shown", n)
	}
	w.look("group")
	w.do(chromedp.EmulateViewport(1280, 800))
	w.press(keyOf(classOf(id)))
	next := w.shown(id)
	st := state(t, dir)
	if len(st.Labels()) != 6 || path.Dir(next) == path.Dir(id) {
		t.Fatalf("%d labels, then %s", len(st.Labels()), next)
	}
	w.until(`document.getElementById("live").textContent.includes("for all of the group")`)
	w.press(kb.Backspace)
	w.until(`document.getElementById("notice").textContent === "6 labels are undone."`)
	if n := len(state(t, dir).Labels()); n != 0 {
		t.Fatalf("%d labels after undo", n)
	}
	w.press(kb.ArrowRight)
	w.until(`document.getElementById("notice").textContent === "6 labels are redone."`)
	// One key a group: all is labelled, and right.
	for len(state(t, dir).Labels()) < d.Len() {
		id = w.shown("")
		w.press(keyOf(classOf(id)))
		w.until(`!document.body.hasAttribute("aria-busy") && document.getElementById("stage").dataset.id !== "` + id + `" || document.body.dataset.view === "end"`)
	}
	st = state(t, dir)
	for _, l := range st.Labels() {
		if l.Class != classOf(l.ID) {
			t.Errorf("%s is %s", l.ID, l.Class)
		}
	}

	// One label is wrong: the list shows it beside another of its group.
	wrong := animals[(slices.Index(animals, classOf(id))+1)%len(animals)]
	fatal.Get(o.Ledger.Append(labels.Event{Kind: labels.Labelled, ID: id, Class: wrong, By: "ben"}))(t)
	w.do(chromedp.Reload())
	w.until(`document.body.dataset.view === "end"`)
	w.press("l")
	w.until(`document.querySelectorAll("#chips button").length === 8`)
	js[bool](w, `document.querySelectorAll("#chips button")[7].click() || true`)
	w.until(`document.querySelectorAll("#labelled .card").length === 1 && document.getElementById("review-help").textContent.startsWith("1 image with another label")`)
	w.look("mixed")
	js[bool](w, `document.querySelector("#labelled .card .main").click() || true`)
	w.until(`document.querySelectorAll("#labelled .card").length === 0`)
	if im := state(t, dir).Image(id); im.Class != classOf(id) {
		t.Errorf("%s is %s", id, im.Class)
	}
}

// Key B shows the whole picture with the box, and the box again; a label counts with either.
func TestBoxByKey(t *testing.T) {
	w := browser(t)
	root, dir := images(t, 2, 1), t.TempDir()
	table := "path,x,y,w,h\n"
	for _, e := range folder(t, root).Examples {
		table += e.ID + ",0.1,0.1,0.5,0.5\n"
	}
	file := filepath.Join(t.TempDir(), "boxes.csv")
	save(t, file, []byte(table))
	id := w.ask(options(t, open(t, "folder", root, datasets.Options{Boxes: &datasets.Boxes{File: file}}), root, dir, animals))
	alone := `new URLSearchParams(document.querySelector("#stage img").src.split("?")[1]).get("whole") === `
	for _, whole := range []string{`"1"`, `null`, `"1"`} {
		w.press("b")
		w.until(alone + whole)
	}
	w.until(`document.getElementById("live").textContent === "Picture with the box"`)
	w.press(keyOf(classOf(id)))
	w.shown(id)
	if im := state(t, dir).Image(id); im.Class != classOf(id) {
		t.Errorf("%s is %s", id, im.Class)
	}
	w.until(alone + `null`)
}
