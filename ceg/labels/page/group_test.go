package page_test

import (
	"net/http"
	"path"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/datasets"
)

// inGroups opens a folder of images whose groups are their folders, of the given number of images.
func inGroups(t *testing.T, root string) *datasets.Dataset {
	t.Helper()
	d, _, err := datasets.Open("folder", root, datasets.Options{CacheDir: t.TempDir(), Group: "^(.*)/[^/]+$"})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// groupOf are the images of an image's group.
func groupOf(d *datasets.Dataset, id string) (ids []string) {
	for _, e := range d.Examples {
		if path.Dir(e.ID) == path.Dir(id) {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

func TestLabelOfAGroup(t *testing.T) {
	root := images(t, 2, 4) // eight groups of four
	d := inGroups(t, root)
	dir := t.TempDir()
	o := options(t, d, root, dir, animals)
	known := func(i int) bool { return path.Base(d.Examples[i].ID) == "0003.png" } // one of each group
	o.Known = known
	_, address := serve(t, o)
	a, b := window{t, address, "a"}, window{t, address, "b"}

	// The first of every group comes before a second.
	v := a.view()
	first := *v.Question
	if elsewhere := *b.view().Question; path.Dir(elsewhere.ID) == path.Dir(first.ID) {
		t.Errorf("%s and %s are asked before other groups", first.ID, elsewhere.ID)
	}
	ids := groupOf(d, first.ID)
	var question struct {
		Question struct {
			Group *struct {
				Name   string
				N      int
				Others []string
			}
		}
	}
	a.get("view", map[string][]string{}, &question)
	if g := question.Question.Group; g == nil || g.Name != path.Dir(first.ID) || g.N != 3 || len(g.Others) != 2 {
		t.Fatalf("group %+v", g)
	}

	// Somebody has answered about one of the group already, which stays.
	other := question.Question.Group.Others[0]
	if _, err := o.Ledger.Append(labels.Event{Kind: labels.Labelled, ID: other, Class: "bear", By: "ben"}); err != nil {
		t.Fatal(err)
	}
	body := map[string]any{"op": "group", "id": first.ID, "rev": first.Rev, "class": "ant", "seconds": 4}
	for range 2 { // a reply that is lost is no second answer
		if status, _, notice := a.act(body); status != http.StatusOK || notice != "" {
			t.Fatalf("status %d, %s", status, notice)
		}
	}
	st := state(t, dir)
	if n := len(st.Labels()); n != 3 || st.Last() != 3 {
		t.Fatalf("%d labels in %d events, want ben's and two", n, st.Last())
	}
	for _, id := range ids {
		want := "ant"
		switch i, _ := d.Index(id); {
		case id == other:
			want = "bear"
		case known(i):
			want = ""
		}
		if im := st.Image(id); im.Class != want {
			t.Errorf("%s is %q, want %q", id, im.Class, want)
		}
	}
	if e, _ := st.Event(st.Last()); e.Seconds != 2 || e.By != "ann" {
		t.Errorf("the last event is %+v", e)
	}

	// Undo takes all of them back at once, and redo brings them back.
	if status, _, notice := a.act(map[string]any{"op": "undo"}); status != http.StatusOK || notice != "2 labels are undone." || len(state(t, dir).Labels()) != 1 {
		t.Errorf("undo: %d, %q, %d labels", status, notice, len(state(t, dir).Labels()))
	}
	if _, _, notice := a.act(map[string]any{"op": "redo"}); notice != "2 labels are redone." || len(state(t, dir).Labels()) != 3 {
		t.Errorf("redo: %q, %d labels", notice, len(state(t, dir).Labels()))
	}

	// What the window has not seen is not answered over, and there is no other class.
	if status, _, _ := b.act(body); status != http.StatusConflict && status != http.StatusOK {
		t.Errorf("an old state: status %d", status)
	}
	body["class"] = "bear"
	if status, _, notice := b.act(body); status != http.StatusConflict || notice == "" {
		t.Errorf("an old state: status %d, %q", status, notice)
	}
	body["class"] = "cow"
	if status, _, _ := b.act(body); status != http.StatusBadRequest {
		t.Errorf("no such class: status %d", status)
	}
	if n := len(state(t, dir).Labels()); n != 3 {
		t.Errorf("%d labels", n)
	}
}

// Who gave one of a group another class than most of it is asked to look again, until the
// label is another or was confirmed; without features.
func TestMixedGroups(t *testing.T) {
	root := images(t, 2, 4)
	d := inGroups(t, root)
	dir := t.TempDir()
	o := options(t, d, root, dir, animals)
	_, address := serve(t, o)
	w := window{t, address, "w"}
	if v := w.review("groups"); len(v.Items) != 0 || v.Why != "" {
		t.Errorf("without labels: %+v", v)
	}
	members := d.GroupMembers()
	id := func(group, k int) string { return d.Examples[members[group][k]].ID }
	for group, classes := range [][]string{{"ant", "bear", "bear"}, {"cat", "cat"}, {"bear", "ant"}} {
		for k, class := range classes {
			if _, err := o.Ledger.Append(labels.Event{Kind: labels.Labelled, ID: id(group, k), Class: class, By: "ben"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	v := w.review("groups")
	if len(v.Items) != 2 || v.Items[0].ID != id(0, 0) || v.Items[0].First.ID != id(0, 1) || v.Items[0].First.Class != "bear" ||
		v.Items[1].ID != id(2, 1) || v.Items[1].First.Class != "bear" {
		t.Fatalf("mixed are %+v", v.Items)
	}
	for i, body := range []map[string]any{{"op": "label", "class": "bear"}, {"op": "confirm", "class": "ant"}} {
		body["id"], body["rev"] = v.Items[i].ID, v.Items[i].Rev
		if status, _, notice := w.act(body); status != http.StatusOK || notice != "" {
			t.Fatal(status, notice)
		}
		if left := w.review("groups"); len(left.Items) != 1-i {
			t.Errorf("%d are left after %v", len(left.Items), body)
		}
	}
}

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
