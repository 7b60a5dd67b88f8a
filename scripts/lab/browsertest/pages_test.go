package browsertest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/labels/page"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// thirty are more classes than there are keys.
var thirty = []string{"alarm clock", "backpack", "batteries", "bed", "bike", "bottle", "bucket", "calculator", "calendar", "candles", "chair",
	"clipboards", "computer", "couch", "curtains", "desk lamp", "drill", "eraser", "exit sign", "fan", "file cabinet", "flip-flops", "flowers",
	"folder", "fork", "glasses", "hammer", "helmet", "kettle", "keyboard"}

// Every page, on a desk and on a phone, in light and dark.
func TestPages(t *testing.T) {
	w := browser(t)
	root := images(t, 10, 4)
	d := folder(t, root)
	dir := t.TempDir()
	o := options(t, d, root, dir, animals)
	o.Predictions = make(map[string]page.Prediction)
	for i, e := range d.Examples {
		o.Predictions[e.ID] = page.Prediction{Class: classOf(e.ID), Probability: 0.999 - 0.002*float64(i%50)}
	}
	id := w.ask(o)
	for range 5 {
		w.press(keyOf(classOf(id)))
		id = w.shown(id)
	}
	w.press("g")
	w.until(`document.getElementById("prediction").textContent.includes("Prediction: ")`)
	w.look("question")
	w.press(kb.Enter)
	before := id
	w.shown(id)
	if im := state(t, dir).Image(before); im.Class != classOf(before) {
		t.Errorf("the prediction was accepted, and %s is %+v", before, im)
	}
	js[bool](w, `document.getElementById("domains").open = true`)
	w.look("domains")

	w.press("h")
	w.until(`document.getElementById("help").open`)
	w.look("help")
	w.press(kb.Escape)

	w.press("m")
	w.until(`document.querySelectorAll("#thumbs .thumb").length >= 12`)
	w.press(kb.ArrowRight)
	w.press(" ")
	w.press(kb.ArrowRight)
	w.press("4")
	w.until(`!document.getElementById("pick").hidden && document.querySelectorAll("#picks button").length === 10`)
	w.press(kb.ArrowRight)
	w.press("0")
	w.until(`document.activeElement.textContent === "None of these" && document.querySelector("#picks .on").textContent === "0None of these"`)
	w.look("grid")
	labelled, none := len(state(t, dir).Labels()), len(state(t, dir).With(labels.IsNone))
	w.press(kb.Enter)
	w.until(`!document.body.hasAttribute("aria-busy")`)
	if now := len(state(t, dir).With(labels.IsNone)); now != none+1 {
		t.Errorf("%d images show none of the classes, want %d", now, none+1)
	}
	if now := len(state(t, dir).Labels()); now < labelled+9 {
		t.Errorf("a page of the grid took %d labels to %d", labelled, now)
	}
	w.press(kb.Backspace)
	w.until(`!document.body.hasAttribute("aria-busy")`)
	if now := len(state(t, dir).Labels()); now != labelled {
		t.Errorf("after the page was undone there are %d labels, want %d", now, labelled)
	}
	w.press(kb.Escape)
	id = w.shown("")
	for _, key := range []string{"s", "u", "x", "0"} {
		before = id
		w.press(key)
		id = w.shown(id)
	}
	if im := state(t, dir).Image(before); im.Status != labels.IsNone || js[string](w, `document.querySelector("#none i").textContent`) != "1" {
		t.Errorf("key 0 makes it %+v", im)
	}
	w.press("l")
	w.until(`document.querySelectorAll("#labelled .thumb").length >= 6`)
	w.look("answers")
	js[bool](w, `document.querySelectorAll("#chips button")[2].click() || true`)
	w.until(`document.querySelectorAll("#labelled .thumb").length === 1`)
	w.look("unsure")
	js[bool](w, `document.querySelectorAll("#chips button")[0].click() || true`)
	w.until(`document.querySelectorAll("#labelled .thumb").length >= 6`)
	js[bool](w, `document.querySelector("#labelled .thumb").click() || true`)
	w.until(`document.body.dataset.ready === "yes" && document.getElementById("had").textContent`)
	w.look("again")
	// Somebody else is first.
	id = w.shown("")
	fatal.Get(o.Ledger.Append(labels.Event{Kind: labels.Labelled, ID: id, Class: "jay", By: "bob"}))(t)
	w.press("3")
	w.until(`document.getElementById("notice").textContent.includes("another window")`)
	w.look("conflict")
	w.press("l")
	w.until(`document.body.dataset.view === "list"`)

	// All but what was skipped and unsure.
	st := state(t, dir)
	var rest []labels.Event
	for _, e := range d.Examples {
		if st.Image(e.ID).Status == labels.IsUnqueried {
			rest = append(rest, labels.Event{Kind: labels.Labelled, ID: e.ID, Class: classOf(e.ID), By: "bob"})
		}
	}
	fatal.Get(o.Ledger.Append(rest...))(t)
	w.press(kb.Escape)
	w.until(`document.body.dataset.ready === "yes" && document.getElementById("had").textContent === "now: put off"`)
	if text := js[string](w, `document.querySelector("[data-act=skip] span").textContent`); text != "Leave out" {
		t.Errorf("to skip again is called %q", text)
	}
	w.look("later")
	w.press("s")
	w.until(`document.body.dataset.view === "end" && document.querySelectorAll("#end-list .thumb").length === 2`)
	w.look("end")
	w.press("s")
	id = w.shown("")
	w.press(keyOf(classOf(id)))
	w.until(`document.body.dataset.view === "end"`)
	if im := state(t, dir).Image(id); im.Class != classOf(id) {
		t.Errorf("the skipped image was answered, and %s is %+v", id, im)
	}
	w.look("finished")
}

// More classes than keys are chosen by typing.
func TestManyClasses(t *testing.T) {
	w := browser(t)
	root := images(t, 2, 4)
	d := folder(t, root)
	dir := t.TempDir()
	o := options(t, d, root, dir, thirty)
	o.Predictions = make(map[string]page.Prediction)
	for i, e := range d.Examples[len(d.Examples)-13:] {
		o.Predictions[e.ID] = page.Prediction{Class: "bed", Probability: 0.99 - 0.01*float64(i)}
	}
	id := w.ask(o)
	w.look("classes")
	want := make(map[string]string)
	for _, c := range []struct{ keys, class string }{
		{"lamp" + kb.Enter, "desk lamp"}, {"3", "batteries"}, {"c2", "calculator"}, {"key" + kb.Enter, "keyboard"}, {"fo" + kb.Backspace + "an" + kb.Enter, "fan"},
	} {
		if c.class == "fan" {
			c.keys = "fo" + kb.Backspace + "a" + "n" + kb.Enter
		}
		w.press(c.keys)
		want[id] = c.class
		id = w.shown(id)
	}
	w.press("no such")
	w.until(`document.querySelector("#classes .none")`)
	w.press(kb.Escape)
	w.press("ca")
	w.look("filter")
	w.press(kb.Escape)
	w.press("S", chromedp.KeyModifiers(chromedp.ModifierShift))
	want[id] = ""
	w.shown(id)

	// On a page of many, letters choose another class for one of them.
	w.press("M", chromedp.KeyModifiers(chromedp.ModifierShift))
	w.until(`document.querySelectorAll("#thumbs .thumb").length >= 8`)
	ids := js[[]string](w, `[...document.querySelectorAll("#thumbs .thumb img")].map(e => new URL(e.src).searchParams.get("id"))`)
	for i, id := range ids {
		want[id] = "bed"
		if i == 0 {
			want[id] = "desk lamp"
		}
		if i == 2 {
			want[id] = "couch"
		}
	}
	w.press("lam" + kb.Enter)
	w.press(kb.ArrowRight)
	w.press(kb.ArrowRight)
	w.press("co")
	w.look("pick")
	w.press("2")
	w.until(`document.activeElement.dataset.at === "2" && document.activeElement.textContent === "couch"`)
	w.press(kb.Enter)
	w.until(`!document.body.hasAttribute("aria-busy") && document.getElementById("many-title").textContent === "Nothing left to confirm"`)
	w.look("confirmed")
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
	w := browser(t)
	root := images(t, 2, 4)
	d := folder(t, root)
	for _, n := range []int{3, 7, 10, 14, 20, 30} {
		dir := t.TempDir()
		o := options(t, d, root, dir, thirty[:n])
		address := serve(t, o)[0]
		w.do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch), chromedp.Navigate(address))
		id := w.shown("")
		wrong := js[[]string](w, `(() => {
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
		w.do(chromedp.Tap("#classes .class:nth-child(3)"))
		w.shown(id)
		if im := state(t, dir).Image(id); im.Class != thirty[2] {
			t.Errorf("%d classes: after one touch it is %+v", n, im)
		}
		w.shoot(fmt.Sprintf("phone-%d", n))
	}
}

// Without questions the page says so, and shows them when they come.
func TestNothingToLabel(t *testing.T) {
	w := browser(t)
	root := images(t, 2, 1)
	d := folder(t, root)
	o := options(t, d, root, t.TempDir(), animals)
	o.Rest, o.Empty = false, "The run has not asked for any label yet. This page shows new questions by itself."
	address := serve(t, o)[0]
	w.do(chromedp.Navigate(address))
	w.until(`document.body.dataset.view === "end"`)
	w.look("empty")
	fatal.Get(o.Ledger.Query("run", 2, []labels.Question{{ID: d.Examples[0].ID}}))(t)
	if id := w.shown(""); id != d.Examples[0].ID {
		t.Errorf("%s is shown, want %s", id, d.Examples[0].ID)
	}
}

// Keys that repeat at once or come while an image loads are ignored.
func TestSlips(t *testing.T) {
	w := browser(t)
	root := images(t, 10, 2)
	d := folder(t, root)
	dir := t.TempDir()
	o := options(t, d, root, dir, animals)
	s := fatal.Get(page.New(o))(t)
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
		w.until(`!document.body.hasAttribute("aria-busy") && document.body.dataset.ready === "yes"`)
		if n := len(state(t, dir).Labels()); n != want {
			t.Errorf("%s gave %d answers, want %d", what, n, want)
		}
	}
	// While the picture is not there.
	hold.Lock()
	w.do(chromedp.Navigate(address))
	w.until(`document.body.dataset.view === "one" && document.body.dataset.ready === "no"`)
	w.press("2")
	time.Sleep(slip)
	hold.Unlock()
	still(0, "a key while the image loads")

	js[int](w, `(() => { for (let i = 0; i < 10; i++) `+down+`; return 0 })()`)
	still(1, "ten keys at once")
	// A key that is held down.
	time.Sleep(slip)
	js[int](w, `(() => { `+strings.Replace(down, "bubbles", "repeat: true, bubbles", 1)+`; return 0 })()`)
	still(1, "a key that repeats")
}

// A damaged image can be called bad or skipped, but no class.
func TestDamaged(t *testing.T) {
	w := browser(t)
	root := filepath.Join(t.TempDir(), "pictures")
	save(t, filepath.Join(root, "photo", "0", "cut.png"), []byte("\x89PNG\r\n\x1a\nno more than this"))
	d := folder(t, root)
	dir := t.TempDir()
	address := serve(t, options(t, d, root, dir, animals))[0]
	w.do(chromedp.Navigate(address))
	w.until(`document.body.dataset.ready === "broken" && document.getElementById("stage").innerText.includes("truncated")`)
	w.look("damaged")
	w.press("1")
	time.Sleep(slip)
	w.press("x")
	w.until(`document.body.dataset.view === "end"`)
	st := state(t, dir)
	if im := st.Image("photo/0/cut.png"); im.Status != labels.IsBad || st.Last() != 1 {
		t.Errorf("it is %+v after %d events", im, st.Last())
	}
}

// Keys zoom, move and lighten the image on screen, until the next one, without a label; and the
// name of a class is read in full, however long it is.
func TestSight(t *testing.T) {
	w := browser(t)
	root := images(t, 2, 1)
	d := folder(t, root)
	dir := t.TempDir()
	long := strings.TrimSpace(strings.Repeat("European hedgehog with young ", 5))
	id := w.ask(options(t, d, root, dir, []string{"ant", long, strings.Repeat("x", 90)}))
	style := func(what, want string) {
		t.Helper()
		if got := js[string](w, `document.querySelector("#stage img").style.`+what); got != want {
			t.Errorf("%s is %q, want %q", what, got, want)
		}
	}
	w.press("+")
	w.press("+")
	style("transform", "translate(0%, 0%) scale(2.25)")
	w.press(kb.ArrowRight, chromedp.KeyModifiers(chromedp.ModifierShift))
	w.press(kb.ArrowDown, chromedp.KeyModifiers(chromedp.ModifierShift))
	style("transform", "translate(-20%, -20%) scale(2.25)")
	w.press(".")
	style("filter", "brightness(1.25)")
	w.press(",")
	w.press(",")
	style("filter", "brightness(0.8)")
	w.press("-")
	style("transform", "translate(-20%, -20%) scale(1.5)")
	w.press(kb.Home)
	style("transform", "")
	style("filter", "")
	w.press("+")
	w.press(".")
	if n := state(t, dir).Last(); n != 0 {
		t.Errorf("looking made %d events", n)
	}
	w.press("1")
	w.shown(id)
	style("transform", "")
	style("filter", "")
	if cut := js[[]string](w, `[...document.querySelectorAll("#classes b")].filter(b => b.scrollWidth > b.clientWidth || b.scrollHeight > b.clientHeight).map(b => b.textContent)`); len(cut) > 0 {
		t.Errorf("names are cut off: %q", cut)
	}
	w.look("long")
	w.press("f")
	w.until(`document.fullscreenElement`)
	w.press("f")
	w.until(`!document.fullscreenElement`)
	w.press("?")
	w.until(`document.getElementById("help").open && document.getElementById("keys").innerText.includes("full screen")`)
}
