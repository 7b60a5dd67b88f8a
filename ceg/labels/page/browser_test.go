//go:build browser

package page_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/ledg-go/ledg/ceg/labels"
)

// browser starts a headless Chromium and returns the context of its first window.
func browser(t *testing.T, more ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("no browser is started with -short")
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("there is no Chromium here to try the page in")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.WSURLReadTimeout(2*time.Minute))
	options = append(options, more...)
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(func() { chromedp.Cancel(ctx); cancel() })
	do(t, ctx, chromedp.EmulateViewport(1280, 800))
	return ctx
}

// do does things in a window.
func do(t *testing.T, ctx context.Context, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// until waits until a JavaScript expression is true, also across a reload.
func until(t *testing.T, ctx context.Context, expression string) {
	t.Helper()
	var err error
	for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(20 * time.Millisecond) {
		var ok bool
		if ok, err = chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")")); ok {
			return
		}
	}
	text, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`document.body.dataset.view + " " + document.body.dataset.ready + "\n" + document.body.innerText`))
	t.Fatalf("waiting for %s: %v\n%s", expression, err, text)
}

// shown waits for an image that can be answered, other than before, and returns its ID.
func shown(t *testing.T, ctx context.Context, before string) (id string) {
	t.Helper()
	until(t, ctx, fmt.Sprintf(`document.body.dataset.ready === "yes" && !document.body.hasAttribute("aria-busy") && document.getElementById("stage").dataset.id !== %q`, before))
	return js[string](t, ctx, `document.getElementById("stage").dataset.id`)
}

// js is the value of a JavaScript expression.
func js[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// slip is longer than the time in which a second key is taken for a slip.
const slip = 170 * time.Millisecond

// press presses a key, not too soon after the last.
func press(t *testing.T, ctx context.Context, key string, options ...chromedp.KeyOption) {
	t.Helper()
	time.Sleep(slip)
	do(t, ctx, chromedp.KeyEvent(key, options...))
}

// keyOf is the key of a class of animals.
func keyOf(class string) string {
	for i, name := range animals {
		if name == class {
			return string("123456789q"[i])
		}
	}
	return "?"
}

// child starts this test's program as a server, see TestMain.
func child(t *testing.T, root, ledger, cache string) (kill func(), address string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serveRoot+"="+root, serveLedger+"="+ledger, "XDG_CACHE_HOME="+cache)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		cmd.Process.Kill() // SIGKILL: nothing of the program runs after it
		cmd.Wait()
	}
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return kill, strings.TrimSpace(line)
}

// Thirty images are labelled by keys alone, with labels undone and redone, and the server killed
// twice: between two keys, and while a label is being sent. All labels are in the ledger.
func TestKeyboard(t *testing.T) {
	ctx := browser(t)
	root, ledger, cache := images(t, 10, 2), t.TempDir(), t.TempDir()
	kill, address := child(t, root, ledger, cache)
	do(t, ctx, chromedp.Navigate(address))

	labelled := make(map[string]string)
	id := shown(t, ctx, "")
	label := func() {
		t.Helper()
		press(t, ctx, keyOf(classOf(id)))
		labelled[id] = classOf(id)
		id = shown(t, ctx, id)
	}
	for range 12 {
		label()
	}

	// Three ways to undo: each brings the image before, and the last is answered anew.
	order := []string{}
	for _, how := range []func(){
		func() { press(t, ctx, kb.Backspace) },
		func() { press(t, ctx, kb.ArrowLeft) },
		func() { press(t, ctx, "z", chromedp.KeyModifiers(chromedp.ModifierCtrl)) }, // Ctrl
	} {
		how()
		id = shown(t, ctx, id)
		if labelled[id] == "" {
			t.Fatalf("undo shows %s, which was not answered", id)
		}
		order = append(order, id)
	}
	press(t, ctx, "z", chromedp.KeyModifiers(chromedp.ModifierCtrl, chromedp.ModifierShift)) // Ctrl and Shift: the last of order is answered again
	id = shown(t, ctx, order[2])
	for range 2 {
		if id != order[1] && id != order[0] {
			t.Fatalf("after redo %s is shown, want one of %s", id, order[:2])
		}
		label()
	}
	if n := len(state(t, ledger).Labels()); n != 12 {
		t.Fatalf("%d images are labelled after undo, redo and answers, want 12", n)
	}

	kill()
	kill, again := child(t, root, ledger, cache)
	if again != address {
		t.Fatalf("the server is at %s after a restart, was at %s", again, address)
	}
	for len(labelled) < 20 {
		label()
	}
	// Undo goes back behind the restart, too.
	for range 9 {
		press(t, ctx, kb.Backspace)
		id = shown(t, ctx, id)
		if labelled[id] == "" {
			t.Fatalf("undo shows %s, which was not answered", id)
		}
	}
	if n := len(state(t, ledger).Labels()); n != 11 {
		t.Fatalf("%d images are labelled after nine undos, want 11", n)
	}
	for range 9 {
		press(t, ctx, kb.ArrowRight)
		until(t, ctx, `!document.body.hasAttribute("aria-busy")`)
	}
	if n := len(state(t, ledger).Labels()); n != 20 {
		t.Fatalf("%d images are labelled after nine redos, want 20", n)
	}
	id = shown(t, ctx, id)

	// A key that is pressed while there is no server is kept until there is one.
	kill()
	press(t, ctx, keyOf(classOf(id)))
	labelled[id] = classOf(id)
	until(t, ctx, `!document.getElementById("notice").hidden`)
	look(t, ctx, "away")
	press(t, ctx, "1") // while the answer is on its way: ignored
	_, _ = child(t, root, ledger, cache)
	id = shown(t, ctx, id)
	for len(labelled) < 30 {
		label()
	}

	st := state(t, ledger)
	list := st.Labels()
	if len(list) != 30 {
		t.Errorf("%d images are labelled, want 30", len(list))
	}
	for _, l := range list {
		if labelled[l.ID] != l.Class {
			t.Errorf("%s is %q in the ledger, the key said %q", l.ID, l.Class, labelled[l.ID])
		}
	}
	if e, _ := st.Event(st.Last()); e.By != "ann" || e.Seconds <= 0 || e.Tool == "" || e.At.IsZero() {
		t.Errorf("the last event is %+v", e)
	}
	if fmt.Sprint(count(st, labels.Undone)) != "12" || count(st, labels.Redone) != 10 {
		t.Errorf("%d acts are undone and %d redone, want 12 and 10", count(st, labels.Undone), count(st, labels.Redone))
	}
}

// screens are the screens that pages are looked at on.
var screens = []struct {
	name          string
	width, height int64
}{{"1280", 1280, 800}, {"390", 390, 844}}

// look takes a picture of the window in light and dark, if LEDG_SHOTS names a folder,
// and checks that nothing hangs over its edge and that every control has a name and a
// fitting size.
func look(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	for _, s := range screens {
		if s.width < 500 {
			do(t, ctx, chromedp.EmulateViewport(s.width, s.height, chromedp.EmulateMobile))
		} else {
			do(t, ctx, chromedp.EmulateViewport(s.width, s.height))
		}
		for _, scheme := range []string{"light", "dark"} {
			if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(250 * time.Millisecond) // transitions
			wrong := js[[]string](t, ctx, checkPage)
			for _, w := range wrong {
				t.Errorf("%s, %s px, %s: %s", name, s.name, scheme, w)
			}
			if dir := os.Getenv("LEDG_SHOTS"); dir != "" {
				shot, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%s-%s.png", name, s.name, scheme)), shot, 0o666); err != nil {
					t.Fatal(err)
				}
			}
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
