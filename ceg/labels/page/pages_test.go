//go:build browser

package page_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/labels/page"
)

// thirty are more classes than there are keys.
var thirty = []string{"alarm clock", "backpack", "batteries", "bed", "bike", "bottle", "bucket", "calculator", "calendar", "candles", "chair",
	"clipboards", "computer", "couch", "curtains", "desk lamp", "drill", "eraser", "exit sign", "fan", "file cabinet", "flip-flops", "flowers",
	"folder", "fork", "glasses", "hammer", "helmet", "kettle", "keyboard"}

// Every page, on a desk and on a phone, in light and dark.
func TestPages(t *testing.T) {
	ctx := browser(t)
	root := images(t, 10, 4)
	d := folder(t, root)
	dir := t.TempDir()
	o := options(t, d, root, dir, animals)
	o.Predictions = make(map[string]page.Prediction)
	for i, e := range d.Examples {
		o.Predictions[e.ID] = page.Prediction{Class: classOf(e.ID), Probability: 0.999 - 0.002*float64(i%50)}
	}
	_, address := serve(t, o)
	do(t, ctx, chromedp.Navigate(address))
	id := shown(t, ctx, "")
	for range 5 {
		press(t, ctx, keyOf(classOf(id)))
		id = shown(t, ctx, id)
	}
	press(t, ctx, "g")
	until(t, ctx, `document.getElementById("prediction").textContent.includes("Prediction: ")`)
	look(t, ctx, "question")
	press(t, ctx, kb.Enter)
	before := id
	shown(t, ctx, id)
	if im := state(t, dir).Image(before); im.Class != classOf(before) {
		t.Errorf("the prediction was accepted, and %s is %+v", before, im)
	}
	js[bool](t, ctx, `document.getElementById("domains").open = true`)
	look(t, ctx, "domains")

	press(t, ctx, "h")
	until(t, ctx, `document.getElementById("help").open`)
	look(t, ctx, "help")
	press(t, ctx, kb.Escape)

	press(t, ctx, "m")
	until(t, ctx, `document.querySelectorAll("#thumbs .thumb").length >= 12`)
	press(t, ctx, kb.ArrowRight)
	press(t, ctx, " ")
	press(t, ctx, kb.ArrowRight)
	press(t, ctx, "4")
	until(t, ctx, `!document.getElementById("pick").hidden && document.querySelectorAll("#picks button").length === 10`)
	press(t, ctx, kb.ArrowRight)
	press(t, ctx, "0")
	until(t, ctx, `document.activeElement.textContent === "None of these" && document.querySelector("#picks .on").textContent === "0None of these"`)
	look(t, ctx, "grid")
	labelled, none := len(state(t, dir).Labels()), len(state(t, dir).With(labels.IsNone))
	press(t, ctx, kb.Enter)
	until(t, ctx, `!document.body.hasAttribute("aria-busy")`)
	if now := len(state(t, dir).With(labels.IsNone)); now != none+1 {
		t.Errorf("%d images show none of the classes, want %d", now, none+1)
	}
	if now := len(state(t, dir).Labels()); now < labelled+9 {
		t.Errorf("a page of the grid took %d labels to %d", labelled, now)
	}
	press(t, ctx, kb.Backspace)
	until(t, ctx, `!document.body.hasAttribute("aria-busy")`)
	if now := len(state(t, dir).Labels()); now != labelled {
		t.Errorf("after the page was undone there are %d labels, want %d", now, labelled)
	}
	press(t, ctx, kb.Escape)
	id = shown(t, ctx, "")
	for _, key := range []string{"s", "u", "x", "0"} {
		before = id
		press(t, ctx, key)
		id = shown(t, ctx, id)
	}
	if im := state(t, dir).Image(before); im.Status != labels.IsNone || js[string](t, ctx, `document.querySelector("#none i").textContent`) != "1" {
		t.Errorf("key 0 makes it %+v", im)
	}
	press(t, ctx, "l")
	until(t, ctx, `document.querySelectorAll("#labelled .thumb").length >= 6`)
	look(t, ctx, "answers")
	js[bool](t, ctx, `document.querySelectorAll("#chips button")[2].click() || true`)
	until(t, ctx, `document.querySelectorAll("#labelled .thumb").length === 1`)
	look(t, ctx, "unsure")
	js[bool](t, ctx, `document.querySelectorAll("#chips button")[0].click() || true`)
	until(t, ctx, `document.querySelectorAll("#labelled .thumb").length >= 6`)
	js[bool](t, ctx, `document.querySelector("#labelled .thumb").click() || true`)
	until(t, ctx, `document.body.dataset.ready === "yes" && document.getElementById("had").textContent`)
	look(t, ctx, "again")
	// Somebody else is first.
	id = shown(t, ctx, "")
	if _, err := o.Ledger.Append(labels.Event{Kind: labels.Labelled, ID: id, Class: "jay", By: "bob"}); err != nil {
		t.Fatal(err)
	}
	press(t, ctx, "3")
	until(t, ctx, `document.getElementById("notice").textContent.includes("another window")`)
	look(t, ctx, "conflict")
	press(t, ctx, "l")
	until(t, ctx, `document.body.dataset.view === "list"`)

	// All but what was skipped and unsure.
	st := state(t, dir)
	var rest []labels.Event
	for _, e := range d.Examples {
		if st.Image(e.ID).Status == labels.IsUnqueried {
			rest = append(rest, labels.Event{Kind: labels.Labelled, ID: e.ID, Class: classOf(e.ID), By: "bob"})
		}
	}
	if _, err := o.Ledger.Append(rest...); err != nil {
		t.Fatal(err)
	}
	press(t, ctx, kb.Escape)
	until(t, ctx, `document.body.dataset.ready === "yes" && document.getElementById("had").textContent === "now: put off"`)
	if text := js[string](t, ctx, `document.querySelector("[data-act=skip] span").textContent`); text != "Leave out" {
		t.Errorf("to skip again is called %q", text)
	}
	look(t, ctx, "later")
	press(t, ctx, "s")
	until(t, ctx, `document.body.dataset.view === "end" && document.querySelectorAll("#end-list .thumb").length === 2`)
	look(t, ctx, "end")
	press(t, ctx, "s")
	id = shown(t, ctx, "")
	press(t, ctx, keyOf(classOf(id)))
	until(t, ctx, `document.body.dataset.view === "end"`)
	if im := state(t, dir).Image(id); im.Class != classOf(id) {
		t.Errorf("the skipped image was answered, and %s is %+v", id, im)
	}
	look(t, ctx, "finished")
}

// More classes than keys are chosen by typing.
func TestManyClasses(t *testing.T) {
	ctx := browser(t)
	root := images(t, 2, 4)
	d := folder(t, root)
	dir := t.TempDir()
	o := options(t, d, root, dir, thirty)
	o.Predictions = make(map[string]page.Prediction)
	for i, e := range d.Examples[len(d.Examples)-13:] {
		o.Predictions[e.ID] = page.Prediction{Class: "bed", Probability: 0.99 - 0.01*float64(i)}
	}
	_, address := serve(t, o)
	do(t, ctx, chromedp.Navigate(address))
	id := shown(t, ctx, "")
	look(t, ctx, "classes")
	want := make(map[string]string)
	for _, c := range []struct{ keys, class string }{
		{"lamp" + kb.Enter, "desk lamp"}, {"3", "batteries"}, {"c2", "calculator"}, {"key" + kb.Enter, "keyboard"}, {"fo" + kb.Backspace + "an" + kb.Enter, "fan"},
	} {
		if c.class == "fan" {
			c.keys = "fo" + kb.Backspace + "a" + "n" + kb.Enter
		}
		press(t, ctx, c.keys)
		want[id] = c.class
		id = shown(t, ctx, id)
	}
	press(t, ctx, "no such")
	until(t, ctx, `document.querySelector("#classes .none")`)
	press(t, ctx, kb.Escape)
	press(t, ctx, "ca")
	look(t, ctx, "filter")
	press(t, ctx, kb.Escape)
	press(t, ctx, "S", chromedp.KeyModifiers(chromedp.ModifierShift))
	want[id] = ""
	shown(t, ctx, id)

	// On a page of many, letters choose another class for one of them.
	press(t, ctx, "M", chromedp.KeyModifiers(chromedp.ModifierShift))
	until(t, ctx, `document.querySelectorAll("#thumbs .thumb").length >= 8`)
	ids := js[[]string](t, ctx, `[...document.querySelectorAll("#thumbs .thumb img")].map(e => new URL(e.src).searchParams.get("id"))`)
	for i, id := range ids {
		want[id] = "bed"
		if i == 0 {
			want[id] = "desk lamp"
		}
		if i == 2 {
			want[id] = "couch"
		}
	}
	press(t, ctx, "lam"+kb.Enter)
	press(t, ctx, kb.ArrowRight)
	press(t, ctx, kb.ArrowRight)
	press(t, ctx, "co")
	look(t, ctx, "pick")
	press(t, ctx, "2")
	until(t, ctx, `document.activeElement.dataset.at === "2" && document.activeElement.textContent === "couch"`)
	press(t, ctx, kb.Enter)
	until(t, ctx, `!document.body.hasAttribute("aria-busy") && document.getElementById("many-title").textContent === "Nothing left to confirm"`)
	look(t, ctx, "confirmed")
	st := state(t, dir)
	for id, class := range want {
		if im := st.Image(id); im.Class != class || class == "" && !im.Later {
			t.Errorf("%s is %q, %v, want %q", id, im.Class, im.Status, class)
		}
	}
}

// On a phone each class, or a list of them, and what else there is to answer are on the
// screen with the image, and one touch answers.
func TestPhone(t *testing.T) {
	ctx := browser(t)
	root := images(t, 2, 4)
	d := folder(t, root)
	for _, n := range []int{3, 7, 10, 14, 20, 30} {
		dir := t.TempDir()
		o := options(t, d, root, dir, thirty[:n])
		_, address := serve(t, o)
		do(t, ctx, chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch), chromedp.Navigate(address))
		id := shown(t, ctx, "")
		wrong := js[[]string](t, ctx, `(() => {
			const wrong = [], box = document.getElementById("classes").getBoundingClientRect(), all = [...document.querySelectorAll("#classes .class")];
			const inside = (r, b) => r.left >= b.left - 1 && r.right <= b.right + 1 && r.top >= b.top - 1 && r.bottom <= b.bottom + 1;
			const screen = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
			if (document.documentElement.scrollWidth > innerWidth) wrong.push("it is " + document.documentElement.scrollWidth + " px wide");
			if (!inside(box, screen)) wrong.push("the classes end at " + box.bottom);
			if (all.length <= 10 && !all.every(b => inside(b.getBoundingClientRect(), screen))) wrong.push("a class is not on the screen");
			if (all.slice(0, 8).some(b => !inside(b.getBoundingClientRect(), screen))) wrong.push("one of the first classes is not on the screen");
			for (const b of document.querySelectorAll("#marks button")) if (!inside(b.getBoundingClientRect(), screen)) wrong.push(b.textContent + " is not on the screen");
			return wrong;
		})()`)
		for _, w := range wrong {
			t.Errorf("%d classes: %s", n, w)
		}
		time.Sleep(slip)
		do(t, ctx, chromedp.Tap("#classes .class:nth-child(3)"))
		shown(t, ctx, id)
		if im := state(t, dir).Image(id); im.Class != thirty[2] {
			t.Errorf("%d classes: after one touch it is %+v", n, im)
		}
		if dir := os.Getenv("LEDG_SHOTS"); dir != "" {
			shot, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("phone-%d.png", n)), shot, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Without questions the page says so, and shows them when they come.
func TestNothingToLabel(t *testing.T) {
	ctx := browser(t)
	root := images(t, 2, 1)
	d := folder(t, root)
	o := options(t, d, root, t.TempDir(), animals)
	o.Rest, o.Empty = false, "The run has not asked for any label yet. This page shows new questions by itself."
	_, address := serve(t, o)
	do(t, ctx, chromedp.Navigate(address))
	until(t, ctx, `document.body.dataset.view === "end"`)
	look(t, ctx, "empty")
	if _, err := o.Ledger.Query("run", 2, []labels.Question{{ID: d.Examples[0].ID}}); err != nil {
		t.Fatal(err)
	}
	if id := shown(t, ctx, ""); id != d.Examples[0].ID {
		t.Errorf("%s is shown, want %s", id, d.Examples[0].ID)
	}
}

// Keys that repeat at once or come while an image loads are ignored.
func TestSlips(t *testing.T) {
	ctx := browser(t)
	root := images(t, 10, 2)
	d := folder(t, root)
	dir := t.TempDir()
	o := options(t, d, root, dir, animals)
	s, err := page.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var hold sync.RWMutex // keeps images from being served
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/image") {
			hold.RLock()
			defer hold.RUnlock()
		}
		s.ServeHTTP(w, r)
	}))
	defer h.Close()
	address := h.URL + s.Path("ann")
	const down = `document.dispatchEvent(new KeyboardEvent("keydown", {key: "1", code: "Digit1", bubbles: true, cancelable: true}))`
	still := func(want int, what string) {
		t.Helper()
		until(t, ctx, `!document.body.hasAttribute("aria-busy") && document.body.dataset.ready === "yes"`)
		if n := len(state(t, dir).Labels()); n != want {
			t.Errorf("%s gave %d answers, want %d", what, n, want)
		}
	}
	// While the picture is not there.
	hold.Lock()
	do(t, ctx, chromedp.Navigate(address))
	until(t, ctx, `document.body.dataset.view === "one" && document.body.dataset.ready === "no"`)
	press(t, ctx, "2")
	time.Sleep(slip)
	hold.Unlock()
	still(0, "a key while the image loads")

	js[int](t, ctx, `(() => { for (let i = 0; i < 10; i++) `+down+`; return 0 })()`)
	still(1, "ten keys at once")
	// A key that is held down.
	time.Sleep(slip)
	js[int](t, ctx, `(() => { `+strings.Replace(down, "bubbles", "repeat: true, bubbles", 1)+`; return 0 })()`)
	still(1, "a key that repeats")
}

// A damaged image can be called bad or skipped, but no class.
func TestDamaged(t *testing.T) {
	ctx := browser(t)
	root := filepath.Join(t.TempDir(), "pictures")
	if err := os.MkdirAll(filepath.Join(root, "photo", "0"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "photo", "0", "cut.png"), []byte("\x89PNG\r\n\x1a\nno more than this"), 0o666); err != nil {
		t.Fatal(err)
	}
	d := folder(t, root)
	dir := t.TempDir()
	_, address := serve(t, options(t, d, root, dir, animals))
	do(t, ctx, chromedp.Navigate(address))
	until(t, ctx, `document.body.dataset.ready === "broken" && document.getElementById("stage").innerText.includes("truncated")`)
	look(t, ctx, "damaged")
	press(t, ctx, "1")
	time.Sleep(slip)
	press(t, ctx, "x")
	until(t, ctx, `document.body.dataset.view === "end"`)
	st := state(t, dir)
	if im := st.Image("photo/0/cut.png"); im.Status != labels.IsBad || st.Last() != 1 {
		t.Errorf("it is %+v after %d events", im, st.Last())
	}
}

// Keys zoom, move and lighten the image on screen, until the next one, without a label; and the
// name of a class is read in full, however long it is.
func TestSight(t *testing.T) {
	ctx := browser(t)
	root := images(t, 2, 1)
	d := folder(t, root)
	dir := t.TempDir()
	long := strings.TrimSpace(strings.Repeat("European hedgehog with young ", 5))
	_, address := serve(t, options(t, d, root, dir, []string{"ant", long, strings.Repeat("x", 90)}))
	do(t, ctx, chromedp.Navigate(address))
	id := shown(t, ctx, "")
	style := func(what, want string) {
		t.Helper()
		if got := js[string](t, ctx, `document.querySelector("#stage img").style.`+what); got != want {
			t.Errorf("%s is %q, want %q", what, got, want)
		}
	}
	press(t, ctx, "+")
	press(t, ctx, "+")
	style("transform", "translate(0%, 0%) scale(2.25)")
	press(t, ctx, kb.ArrowRight, chromedp.KeyModifiers(chromedp.ModifierShift))
	press(t, ctx, kb.ArrowDown, chromedp.KeyModifiers(chromedp.ModifierShift))
	style("transform", "translate(-20%, -20%) scale(2.25)")
	press(t, ctx, ".")
	style("filter", "brightness(1.25)")
	press(t, ctx, ",")
	press(t, ctx, ",")
	style("filter", "brightness(0.8)")
	press(t, ctx, "-")
	style("transform", "translate(-20%, -20%) scale(1.5)")
	press(t, ctx, kb.Home)
	style("transform", "")
	style("filter", "")
	press(t, ctx, "+")
	press(t, ctx, ".")
	if n := state(t, dir).Last(); n != 0 {
		t.Errorf("looking made %d events", n)
	}
	press(t, ctx, "1")
	shown(t, ctx, id)
	style("transform", "")
	style("filter", "")
	if cut := js[[]string](t, ctx, `[...document.querySelectorAll("#classes b")].filter(b => b.scrollWidth > b.clientWidth || b.scrollHeight > b.clientHeight).map(b => b.textContent)`); len(cut) > 0 {
		t.Errorf("names are cut off: %q", cut)
	}
	look(t, ctx, "long")
	press(t, ctx, "f")
	until(t, ctx, `document.fullscreenElement`)
	press(t, ctx, "f")
	until(t, ctx, `!document.fullscreenElement`)
	press(t, ctx, "?")
	until(t, ctx, `document.getElementById("help").open && document.getElementById("keys").innerText.includes("full screen")`)
}
