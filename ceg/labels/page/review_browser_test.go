//go:build browser

package page_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/ledg-go/ledg/ceg/labels"
)

// The lists on the page: one touch settles each.
func TestReviewPage(t *testing.T) {
	ctx := browser(t)
	root := images(t, 3, 5)
	d := vectors(t, root, copyOf, copied)
	dir := t.TempDir()
	o := options(t, d, root, dir, animals)
	labelled(t, o, copied)
	_, address := serve(t, o)
	do(t, ctx, chromedp.Navigate(address))
	shown(t, ctx, "")
	if !js[bool](t, ctx, `document.querySelector("[data-act=prediction]").disabled`) {
		t.Error("the button is enabled without a prediction")
	}
	press(t, ctx, "?")
	until(t, ctx, `document.getElementById("help").open`)
	press(t, ctx, "?")
	until(t, ctx, `!document.getElementById("help").open`)
	press(t, ctx, "l")
	until(t, ctx, `document.querySelectorAll("#labelled .thumb").length === 59`)
	js[bool](t, ctx, `(() => { const s = document.getElementById("by-class"); s.value = "bear"; s.dispatchEvent(new Event("change")); return true; })()`)
	until(t, ctx, `(n => n > 5 && n < 40 && [...document.querySelectorAll("#labelled .thumb span")].every(s => s.textContent === "bear"))(document.querySelectorAll("#labelled .thumb").length)`)
	look(t, ctx, "by-class")
	chip := func(n int) {
		js[bool](t, ctx, fmt.Sprintf(`document.querySelectorAll("#chips button")[%d].click() || true`, n))
	}
	chip(5)
	until(t, ctx, `document.querySelectorAll("#labelled .card").length >= 3`)
	until(t, ctx, `[...document.querySelectorAll("#labelled img")].slice(0, 4).every(i => i.complete && i.naturalWidth)`)
	look(t, ctx, "suspicious")
	cards := js[int](t, ctx, `document.querySelectorAll("#labelled .card").length`)
	first := js[string](t, ctx, `new URL(document.querySelector("#labelled .card img").src).searchParams.get("id")`)
	time.Sleep(slip)
	js[bool](t, ctx, `document.querySelector("#labelled .card button.main").click() || true`)
	until(t, ctx, `!document.body.hasAttribute("aria-busy") && document.querySelectorAll("#labelled .card").length === `+fmt.Sprint(cards-1))
	if im := state(t, dir).Image(first); im.Class != classOf(first) || im.By != "ann" {
		t.Errorf("after one touch %s is %+v", first, im)
	}
	press(t, ctx, "z", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	until(t, ctx, `!document.body.hasAttribute("aria-busy") && document.querySelectorAll("#labelled .card").length === `+fmt.Sprint(cards))
	if im := state(t, dir).Image(first); im.Class == classOf(first) {
		t.Errorf("after undo %s is %+v", first, im)
	}
	chip(6)
	until(t, ctx, `document.querySelectorAll("#labelled .card").length === 1`)
	until(t, ctx, `[...document.querySelectorAll("#labelled img")].every(i => i.complete && i.naturalWidth)`)
	look(t, ctx, "duplicates")
	time.Sleep(slip)
	js[bool](t, ctx, `document.querySelector("#labelled .card button.plain").click() || true`)
	until(t, ctx, `document.getElementById("review-help").textContent === "None."`)
	if im := state(t, dir).Image(copied); im.Status != labels.IsBad {
		t.Errorf("the second is %+v", im)
	}
}
