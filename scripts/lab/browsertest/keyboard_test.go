package browsertest

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/ledg-go/ledg/ceg/labels"
)

// Thirty images are labelled by keys alone, with labels undone and redone, and the server killed
// twice: between two keys, and while a label is being sent. All labels are in the ledger.
func TestKeyboard(t *testing.T) {
	w := browser(t)
	root, ledger, cache := images(t, 10, 2), t.TempDir(), t.TempDir()
	kill, address := child(t, root, ledger, cache)
	w.do(chromedp.Navigate(address))

	labelled := make(map[string]string)
	id := w.shown("")
	label := func() {
		t.Helper()
		w.press(keyOf(classOf(id)))
		labelled[id] = classOf(id)
		id = w.shown(id)
	}
	for range 12 {
		label()
	}

	// Three ways to undo: each brings the image before, and the last is answered anew.
	order := []string{}
	for _, how := range []func(){
		func() { w.press(kb.Backspace) },
		func() { w.press(kb.ArrowLeft) },
		func() { w.press("z", chromedp.KeyModifiers(chromedp.ModifierCtrl)) }, // Ctrl
	} {
		how()
		id = w.shown(id)
		if labelled[id] == "" {
			t.Fatalf("undo shows %s, which was not answered", id)
		}
		order = append(order, id)
	}
	w.press("z", chromedp.KeyModifiers(chromedp.ModifierCtrl, chromedp.ModifierShift)) // Ctrl and Shift: the last of order is answered again
	id = w.shown(order[2])
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
		w.press(kb.Backspace)
		id = w.shown(id)
		if labelled[id] == "" {
			t.Fatalf("undo shows %s, which was not answered", id)
		}
	}
	if n := len(state(t, ledger).Labels()); n != 11 {
		t.Fatalf("%d images are labelled after nine undos, want 11", n)
	}
	for range 9 {
		w.press(kb.ArrowRight)
		w.until(`!document.body.hasAttribute("aria-busy")`)
	}
	if n := len(state(t, ledger).Labels()); n != 20 {
		t.Fatalf("%d images are labelled after nine redos, want 20", n)
	}
	id = w.shown(id)

	// A key that is pressed while there is no server is kept until there is one.
	kill()
	w.press(keyOf(classOf(id)))
	labelled[id] = classOf(id)
	w.until(`!document.getElementById("notice").hidden`)
	w.look("away")
	w.press("1") // while the answer is on its way: ignored
	_, _ = child(t, root, ledger, cache)
	id = w.shown(id)
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
	counts := map[labels.Kind]int{}
	for i := int64(1); i <= st.Last(); i++ {
		e, _ := st.Event(i)
		counts[e.Kind]++
	}
	if counts[labels.Undone] != 12 || counts[labels.Redone] != 10 {
		t.Errorf("%d acts are undone and %d redone, want 12 and 10", counts[labels.Undone], counts[labels.Redone])
	}
}
