package browsertest

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/plots"
	"github.com/ledg-go/ledg/plots/interactive"
)

// figurePage writes a figure's page and returns its file.
func figurePage(t *testing.T, f *interactive.Figure) string {
	t.Helper()
	g := fatal.Get(plots.Embedding(plots.Screen(), plots.EmbeddingData{Points: blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{1, 2}},
		Classes: []int{0}, Domains: []int{0}, ClassNames: []string{"a"}, DomainNames: []string{"d"}}))(t)
	text := fatal.Get(f.Page(t.Context(), g))(t)
	file := filepath.Join(t.TempDir(), "page.html")
	save(t, file, []byte(text))
	return file
}

// figure is n images of three domains and classes, at given places.
func figure(n int, at func(i int) (x, y float64)) *interactive.Figure {
	f := &interactive.Figure{Title: "A figure", Note: "Nine.", Target: "d2", Panels: []interactive.Panel{{Title: "A map", X: 1, Y: 2}},
		Columns: []interactive.Column{{Name: "uncertainty"}, {Name: "x", Silent: true}, {Name: "y", Silent: true}}}
	for i := range n {
		f.IDs, f.Domains, f.Classes = append(f.IDs, fmt.Sprintf("d%d/%d.png", i%3, i)), append(f.Domains, fmt.Sprint("d", i%3)), append(f.Classes, string("abc"[i%3]))
		f.Rounds = append(f.Rounds, []int{-1, 1, -1}[i%3])
		x, y := at(i)
		for k, v := range []float64{float64(i) / 10, x, y} {
			f.Columns[k].Values = append(f.Columns[k].Values, v)
		}
	}
	f.Picture = func(_ context.Context, i int) (image.Image, error) {
		m := image.NewGray(image.Rect(0, 0, 64, 48))
		draw.Draw(m, m.Bounds(), image.NewUniform(color.Gray{uint8(20 * i)}), image.Point{}, draw.Src)
		return m, nil
	}
	return f
}

// square is nine images in a square of 3 by 3, so that pixels of the panel are known.
func square() *interactive.Figure {
	return figure(9, func(i int) (x, y float64) { return float64(i % 3), float64(i / 3) })
}

// move moves the pointer to a point of the first panel, in its pixels.
func (w window) move(x, y float64) {
	w.t.Helper()
	at := js[[]float64](w, `(b => [b.left, b.top])(document.querySelector(".panel").getBoundingClientRect())`)
	if _, err := chromedp.Call(w.ctx, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: "mouseMoved", X: at[0] + x, Y: at[1] + y}); err != nil {
		w.t.Fatal(err)
	}
}

const card = `(c => c.hidden ? "" : c.innerText.replaceAll("\n", "|"))(document.querySelector(".card"))`

// shownCard returns the card's text as soon as it is shown: a frame after the pointer moved.
func shownCard(w window) string {
	w.t.Helper()
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if text := js[string](w, card); text != "" || time.Now().After(end) {
			return text
		}
	}
}

// An image is found by pointer and by keys, with its picture; hidden series are neither found nor
// drawn nor in the table.
func TestFigureInBrowser(t *testing.T) {
	w := browser(t)
	for _, scheme := range []string{"light", "dark"} {
		w.open(figurePage(t, square()), scheme)
		width := js[float64](w, `document.querySelector(".panel").clientWidth`)
		if loaded := js[[]string](w, `performance.getEntriesByType("resource").map(e => e.name).filter(n => !n.startsWith("data:"))`); len(loaded) > 0 {
			t.Errorf("%s: the page loads %v", scheme, loaded)
		}
		if js[bool](w, `document.querySelector(".still").checkVisibility()`) {
			t.Errorf("%s: the still figure is beside the drawn one", scheme)
		}
		w.move(width/2+3, width/2-3)
		if got, want := shownCard(w), "d1/4.png|domain: d1|class: b|queried: round 1|uncertainty: 0.4"; got != want {
			t.Errorf("%s: in the middle is %q, want %q", scheme, got, want)
		}
		if got := js[string](w, `(s => s.backgroundPosition + " " + s.backgroundSize + " " + s.backgroundImage.slice(0, 21))(document.querySelector(".picture").style)`); got != `-384px 0px 864px auto url("data:image/jpeg;` {
			t.Errorf("%s: the picture is at %s", scheme, got)
		}
		// The colour of a class is the theme's: that of image 3, class a, left of the middle.
		// Image 5 on the right is of the target, and hollow.
		pixel := func(x float64) []int {
			return js[[]int](w, fmt.Sprintf(`(c => { const k = c.width / c.clientWidth; return Array.from(c.getContext("2d").getImageData(k * %v, k * %v, 1, 1).data); })(document.querySelector(".panel canvas"))`,
				math.Round(width*x), math.Round(width/2)))
		}
		want := map[string][]int{"light": {0, 114, 178}, "dark": {86, 180, 233}}[scheme]
		got := pixel(0.037)
		for k, v := range want {
			if d := got[k] - v; d < -4 || d > 4 {
				t.Errorf("%s: a point of class a is %v, want %v", scheme, got, want)
				break
			}
		}
		if got := pixel(0.963); got[3] != 0 {
			t.Errorf("%s: a point of the target is filled with %v", scheme, got)
		}
		w.move(width/4, width/4)
		if got := js[string](w, card); got != "" {
			t.Errorf("%s: between images is %q", scheme, got)
		}

		// By keys alone, from the top of the page.
		w.do(chromedp.KeyEvent(kb.Tab))
		press := func(key, want string) {
			t.Helper()
			w.do(chromedp.KeyEvent(key))
			if got := js[string](w, `document.querySelector(".status").textContent`); !strings.HasPrefix(got, want) {
				t.Errorf("%s: after %q the status is %q, want %s", scheme, key, got, want)
			}
		}
		press(kb.ArrowRight, "d1/4.png, domain: d1, class: b, queried: round 1, uncertainty: 0.4")
		press(kb.ArrowRight, "d2/5.png, domain: d2 (target), class: c")
		press(kb.ArrowUp, "d2/8.png")
		press(kb.ArrowUp, "d2/8.png")
		press(kb.ArrowLeft, "d1/7.png")
		press(kb.Home, "d0/0.png")
		press(kb.End, "d2/8.png")
		w.do(chromedp.KeyEvent(kb.Enter))
		if got := js[string](w, `document.querySelector("details").open + " " + document.activeElement.cells[0].textContent`); got != "true d2/8.png" {
			t.Errorf("%s: Enter leads to %s", scheme, got)
		}
		js[bool](w, `document.querySelector(".panel").focus(), true`)
		// The second domain is switched off: three tabs lead through the classes' group.
		for range 7 { // colours, all, none, three classes, and the radio is one stop for all groups
			w.do(chromedp.KeyEvent(kb.Tab))
		}
		if got := js[string](w, `document.activeElement.ariaLabel || document.activeElement.parentNode.textContent`); got != "show all: domain" {
			t.Fatalf("%s: the eighth stop is %q", scheme, got)
		}
		w.do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(" "))
		if got := js[string](w, `document.activeElement.parentNode.textContent + document.activeElement.checked + [...document.querySelectorAll("tbody tr")].filter(r => !r.hidden).map(r => r.cells[0].textContent)`); got != "d1 3false"+"d0/0.png,d2/2.png,d0/3.png,d2/5.png,d0/6.png,d2/8.png" {
			t.Errorf("%s: after d1 is off: %s", scheme, got)
		}
		if got := js[string](w, `document.querySelector(".status").textContent`); got != "6 of 9 images shown" {
			t.Errorf("%s: the status is %q", scheme, got)
		}
		w.move(width/2+2, width/2)
		if got := js[string](w, card); got != "" {
			t.Errorf("%s: %q is there and switched off", scheme, got)
		}
	}
}

// Where scripts are dropped, there are the still figure, the caption and the table.
func TestWithoutScripts(t *testing.T) {
	w := browser(t)
	file := figurePage(t, square())
	text := fatal.Get(os.ReadFile(file))(t)
	save(t, file, regexp.MustCompile(`(?s)<script.*?</script>|<style.*?</style>`).ReplaceAll(text, nil))
	w.open(file, "light")
	got := js[string](w, `(m => [m.checkVisibility(), m.naturalWidth > 100, document.querySelector(".live").checkVisibility(), document.querySelectorAll("canvas").length,
		document.querySelector(".how").checkVisibility(), document.querySelectorAll("tbody tr").length, document.querySelector("figcaption").innerText].join("|"))(document.querySelector(".still"))`)
	if got != "true|true|false|0|false|9|Nine." {
		t.Error(got)
	}
}

// A page of 5,000 images responds quickly: the limits are far above the measured times, 15 ms to
// draw and below 1 ms to find, so that a busy machine passes.
func TestManyImages(t *testing.T) {
	w := browser(t)
	r := rand.New(rand.NewPCG(1, 1))
	w.open(figurePage(t, figure(5000, func(int) (x, y float64) { return r.NormFloat64(), r.NormFloat64() })), "light")
	if !strings.Contains(js[string](w, `document.querySelector("figcaption").innerText`), "Thumbnails of 1000 of the 5000 images") {
		t.Error("the caption does not say of which images there are pictures")
	}
	loaded := js[float64](w, `performance.getEntriesByType("navigation")[0].loadEventEnd`)
	took := js[[]float64](w, `(() => {
		const p = document.querySelector(".panel"), b = p.getBoundingClientRect(), all = [];
		for (let k = 0; k < 200; k++) {
			const begun = performance.now();
			p.dispatchEvent(new PointerEvent("pointermove", { clientX: b.left + b.width * (0.1 + 0.004 * k), clientY: b.top + b.height / 2 }));
			document.querySelector(".card").offsetWidth; // laid out
			all.push(performance.now() - begun);
		}
		const begun = performance.now();
		document.querySelector("form input[type=checkbox]").click();
		return [all.sort((a, b) => a - b)[100], all[198], performance.now() - begun];
	})()`)
	t.Logf("loaded in %.0f ms; an image is found in %.2f ms (median of 200; 99 of 100 in %.2f), a class is switched in %.0f ms", loaded, took[0], took[1], took[2])
	if loaded > 5000 || took[0] > 20 || took[2] > 1000 {
		t.Errorf("loaded in %v ms, found in %v, switched in %v", loaded, took[0], took[2])
	}
}
