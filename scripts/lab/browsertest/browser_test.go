// Package browsertest tries the pages in Chromium, where there is one.
package browsertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// window is a window of a browser.
type window struct {
	t   *testing.T
	ctx context.Context
}

// browser starts a headless Chromium and returns its first window.
func browser(t *testing.T, more ...chromedp.ExecAllocatorOption) window {
	t.Helper()
	if testing.Short() {
		t.Skip("no browser is started with -short")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
			chromedp.WSURLReadTimeout(2*time.Minute))
		ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
		t.Cleanup(cancel)
		ctx, cancel = chromedp.NewExecAllocator(ctx, append(options, more...)...)
		t.Cleanup(cancel)
		ctx, cancel = chromedp.NewContext(ctx)
		t.Cleanup(func() { chromedp.Cancel(ctx); cancel() })
		w := window{t, ctx}
		w.do(chromedp.EmulateViewport(1280, 800))
		return w
	}
	t.Skip("there is no Chromium here")
	return window{}
}

// do does things in the window.
func (w window) do(actions ...chromedp.Action[chromedp.Void]) {
	w.t.Helper()
	if err := chromedp.Do(w.ctx, actions...); err != nil {
		w.t.Fatal(err)
	}
}

// js is the value of a JavaScript expression.
func js[T any](w window, expression string) T {
	w.t.Helper()
	v, err := chromedp.Run(w.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		w.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits until a JavaScript expression is true, also across a reload.
func (w window) until(expression string) {
	w.t.Helper()
	var err error
	for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(20 * time.Millisecond) {
		var ok bool
		if ok, err = chromedp.Run(w.ctx, chromedp.Evaluate[bool]("!!("+expression+")")); ok {
			return
		}
	}
	text, _ := chromedp.Run(w.ctx, chromedp.Evaluate[string](`document.body.dataset.view + " " + document.body.dataset.ready + "\n" + document.body.innerText`))
	w.t.Fatalf("waiting for %s: %v\n%s", expression, err, text)
}

// scheme sets the preferred colours, light or dark.
func (w window) scheme(name string) {
	w.t.Helper()
	if _, err := chromedp.Call(w.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}}); err != nil {
		w.t.Fatal(err)
	}
}

// open shows a file in a colour scheme.
func (w window) open(file, scheme string) {
	w.t.Helper()
	w.scheme(scheme)
	w.do(chromedp.Navigate("file://" + file))
}

// shoot takes a picture of the window, if LEDG_SHOTS names a folder.
func (w window) shoot(name string) {
	w.t.Helper()
	dir := os.Getenv("LEDG_SHOTS")
	if dir == "" {
		return
	}
	shot, err := chromedp.Run(w.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), shot, 0o666)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// look takes pictures of the window on a desk and on a phone, in light and dark, and checks that
// nothing hangs over its edge and that every control has a name and a fitting size.
func (w window) look(name string) {
	w.t.Helper()
	for _, width := range []int64{1280, 390} {
		if width < 500 {
			w.do(chromedp.EmulateViewport(width, 844, chromedp.EmulateMobile))
		} else {
			w.do(chromedp.EmulateViewport(width, 800))
		}
		for _, scheme := range []string{"light", "dark"} {
			w.scheme(scheme)
			time.Sleep(250 * time.Millisecond) // transitions
			for _, wrong := range js[[]string](w, checkPage) {
				w.t.Errorf("%s, %d px, %s: %s", name, width, scheme, wrong)
			}
			w.shoot(fmt.Sprintf("%s-%d-%s", name, width, scheme))
		}
	}
}

// checkPage lists what is wrong with the page as it is drawn: controls without names,
// too small to touch or cut off at the side, and text with less contrast than WCAG AA
// wants.
const checkPage = `(() => {
  const wrong = [];
  if (document.documentElement.scrollWidth > innerWidth) wrong.push("it is " + document.documentElement.scrollWidth + " px wide");
  const seen = e => e.getClientRects().length && getComputedStyle(e).visibility === "visible" && !e.closest(".unseen, .jump, [hidden]");
  const name = e => (e.getAttribute("aria-label") || e.textContent || (e.labels && e.labels[0] && e.labels[0].textContent) || "").trim();
  const modal = document.querySelector("dialog[open]");
  for (const e of document.querySelectorAll("button, input, summary")) {
    if (!seen(e) || modal && !modal.contains(e)) continue;
    const r = e.getBoundingClientRect();
    if (!name(e)) wrong.push("a control without a name: " + e.outerHTML.slice(0, 80));
    if (r.height < 43.5 || r.width < 39.5) wrong.push(name(e) + " is " + r.width + " x " + r.height);
    if (r.left < -0.5 || r.right > innerWidth + 0.5) wrong.push(name(e) + " is cut off: " + r.left + " to " + r.right);
  }
  for (const e of document.querySelectorAll("img")) if (seen(e) && !e.hasAttribute("alt")) wrong.push("a picture without alt");
  const parse = c => { const m = c.match(/[\d.]+/g).map(Number); if (c.startsWith("color(")) { m.splice(0, 3, ...m.slice(0, 3).map(v => 255 * v)); } return m.length < 4 ? [...m, 1] : m; };
  const light = c => { const [r, g, b] = c.map(v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const under = e => { let stack = []; for (let p = e; p; p = p.parentElement) { const c = parse(getComputedStyle(p).backgroundColor); if (c[3] > 0) stack.push(c); if (c[3] === 1) break; }
    let out = [255, 255, 255]; for (const c of stack.reverse()) out = out.map((v, i) => v * (1 - c[3]) + c[i] * c[3]); return out; };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n; n = walk.nextNode();) {
    const e = n.parentElement;
    if (!n.data.trim() || !seen(e) || e.closest("button:disabled, script") || modal && !modal.contains(e)) continue;
    const s = getComputedStyle(e), a = light(parse(s.color)), b = light(under(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < (parseFloat(s.fontSize) >= 24 ? 3 : 4.5)) wrong.push("contrast " + ratio.toFixed(2) + " of " + n.data.trim().slice(0, 40));
  }
  return wrong;
})()`
