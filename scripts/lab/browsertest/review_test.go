package browsertest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// The lists on the page: one touch settles each.
func TestReviewPage(t *testing.T) {
	w := browser(t)
	root := images(t, 3, 5)
	const copied = "sketch/2/0003.png"
	d := vectors(t, root, "photo/2/0001.png", copied)
	dir := t.TempDir()
	o := options(t, d, root, dir, animals)
	var events []labels.Event // all but one are labelled, some wrongly
	for i, e := range d.Examples {
		class := classOf(e.ID)
		if i%11 == 4 {
			class = animals[(slices.Index(animals, class)+1)%3]
		}
		if e.ID != copied {
			events = append(events, labels.Event{Kind: labels.Labelled, ID: e.ID, Class: class, By: "bob"})
		}
	}
	fatal.Get(o.Ledger.Append(events...))(t)
	w.ask(o)
	if !js[bool](w, `document.querySelector("[data-act=prediction]").disabled`) {
		t.Error("the button is enabled without a prediction")
	}
	w.press("?")
	w.until(`document.getElementById("help").open`)
	w.press("?")
	w.until(`!document.getElementById("help").open`)
	w.press("l")
	w.until(`document.querySelectorAll("#labelled .thumb").length === 59`)
	js[bool](w, `(() => { const s = document.getElementById("by-class"); s.value = "bear"; s.dispatchEvent(new Event("change")); return true; })()`)
	w.until(`(n => n > 5 && n < 40 && [...document.querySelectorAll("#labelled .thumb span")].every(s => s.textContent === "bear"))(document.querySelectorAll("#labelled .thumb").length)`)
	w.look("by-class")
	chip := func(n int) {
		js[bool](w, fmt.Sprintf(`document.querySelectorAll("#chips button")[%d].click() || true`, n))
	}
	chip(5)
	w.until(`document.querySelectorAll("#labelled .card").length >= 3`)
	w.until(`[...document.querySelectorAll("#labelled img")].slice(0, 4).every(i => i.complete && i.naturalWidth)`)
	w.look("suspicious")
	cards := js[int](w, `document.querySelectorAll("#labelled .card").length`)
	first := js[string](w, `new URL(document.querySelector("#labelled .card img").src).searchParams.get("id")`)
	time.Sleep(slip)
	js[bool](w, `document.querySelector("#labelled .card button.main").click() || true`)
	w.until(`!document.body.hasAttribute("aria-busy") && document.querySelectorAll("#labelled .card").length === ` + fmt.Sprint(cards-1))
	if im := state(t, dir).Image(first); im.Class != classOf(first) || im.By != "ann" {
		t.Errorf("after one touch %s is %+v", first, im)
	}
	w.press("z", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	w.until(`!document.body.hasAttribute("aria-busy") && document.querySelectorAll("#labelled .card").length === ` + fmt.Sprint(cards))
	if im := state(t, dir).Image(first); im.Class == classOf(first) {
		t.Errorf("after undo %s is %+v", first, im)
	}
	chip(6)
	w.until(`document.querySelectorAll("#labelled .card").length === 1`)
	w.until(`[...document.querySelectorAll("#labelled img")].every(i => i.complete && i.naturalWidth)`)
	w.look("duplicates")
	time.Sleep(slip)
	js[bool](w, `document.querySelector("#labelled .card button.plain").click() || true`)
	w.until(`document.getElementById("review-help").textContent === "None."`)
	if im := state(t, dir).Image(copied); im.Status != labels.IsBad {
		t.Errorf("the second is %+v", im)
	}
}
