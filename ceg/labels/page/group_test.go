package page_test

import (
	"net/http"
	"path"
	"testing"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

// inGroups opens a folder of images whose groups are their folders, of the given number of images.
func inGroups(t *testing.T, root string) *datasets.Dataset {
	t.Helper()
	d, _ := fatal.Get2(datasets.Open("folder", root, datasets.Options{CacheDir: t.TempDir(), Group: "^(.*)/[^/]+$"}))(t)
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
	fatal.Get(o.Ledger.Append(labels.Event{Kind: labels.Labelled, ID: other, Class: "bear", By: "ben"}))(t)
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
			fatal.Get(o.Ledger.Append(labels.Event{Kind: labels.Labelled, ID: id(group, k), Class: class, By: "ben"}))(t)
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
