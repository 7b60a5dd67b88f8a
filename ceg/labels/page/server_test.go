package page_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/labels/page"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// A hundred windows at once lose no answer and are asked nothing twice.
func TestHundredWindows(t *testing.T) {
	root := images(t, 10, 20) // 800 images
	d := folder(t, root)
	dir := t.TempDir()
	_, address := serve(t, options(t, d, root, dir, animals))
	var mu sync.Mutex
	labelled := make(map[string]string)
	var all sync.WaitGroup
	for n := range 100 {
		all.Go(func() {
			w := window{t, address, fmt.Sprintf("w%d", n)}
			for v := w.view(); v.Question != nil; {
				q := *v.Question
				var status int
				status, v, _ = w.act(map[string]any{"op": "label", "id": q.ID, "rev": q.Rev, "class": animals[n%10]})
				mu.Lock()
				switch {
				case status == http.StatusOK && labelled[q.ID] != "" && labelled[q.ID] != animals[n%10]:
					t.Errorf("%s was taken as %s and as %s", q.ID, labelled[q.ID], animals[n%10])
				case status == http.StatusOK:
					labelled[q.ID] = animals[n%10]
				default:
					t.Errorf("%s: status %d", q.ID, status)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	st := state(t, dir)
	if len(labelled) != d.Len() || st.Last() != int64(d.Len()) {
		t.Errorf("%d of %d images have answers in %d events", len(labelled), d.Len(), st.Last())
	}
	for id, class := range labelled {
		if im := st.Image(id); im.Class != class {
			t.Errorf("%s is %q in the ledger, but %q was confirmed", id, im.Class, class)
		}
	}
}

// Two windows get different images; an answer to what was answered meanwhile is
// refused, and one that is sent again because its reply was lost is taken once.
func TestTwoWindows(t *testing.T) {
	root := images(t, 2, 2)
	d := folder(t, root)
	dir := t.TempDir()
	o := options(t, d, root, dir, animals)
	_, address := serve(t, o)
	a, b := window{t, address, "a"}, window{t, address, "b"}
	va, vb := a.view(), b.view()
	if va.Question.ID == vb.Question.ID || slices.Contains(va.Next, vb.Question.ID) {
		t.Errorf("both windows have %s", vb.Question.ID)
	}
	if len(va.Next) < 3 || len(va.Next) > 5 {
		t.Errorf("%d images are loaded ahead", len(va.Next))
	}
	if v := a.view(); v.Question.ID != va.Question.ID || !slices.Equal(v.Next, va.Next) {
		t.Error("a window that asks again gets other images")
	}
	first := map[string]any{"op": "label", "id": va.Question.ID, "rev": va.Question.Rev, "class": "ant"}
	for range 2 { // a lost reply
		if status, _, _ := a.act(first); status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	}
	first["class"] = "bear"
	if status, v, notice := b.act(first); status != http.StatusConflict || !strings.Contains(notice, "ant") || v.Question == nil {
		t.Errorf("status %d, notice %q", status, notice)
	}
	st := state(t, dir)
	if st.Last() != 1 || st.Image(va.Question.ID).Class != "ant" {
		t.Errorf("%d events, %+v", st.Last(), st.Image(va.Question.ID))
	}
	// Another program answers what a window shows.
	fatal.Get(o.Ledger.Append(labels.Event{Kind: labels.Labelled, ID: vb.Question.ID, Class: "cat", By: "bob"}))(t)
	if status, _, notice := b.act(map[string]any{"op": "skip", "id": vb.Question.ID, "rev": vb.Question.Rev}); status != http.StatusOK || notice != "" {
		t.Errorf("skipping what is answered: status %d, %q", status, notice)
	}
	if im := state(t, dir).Image(vb.Question.ID); im.Class != "cat" || im.By != "bob" {
		t.Errorf("it is %+v", im)
	}
}

// An act that is repeated after it was undone changes nothing, seen by one annotator alone, too.
func TestRepeatedAfterUndo(t *testing.T) {
	for _, blind := range []bool{false, true} {
		root := images(t, 2, 2)
		dir := t.TempDir()
		d := folder(t, root)
		o := options(t, d, root, dir, animals)
		if o.Blind = blind; blind { // what others have answered
			o.Rest = false
			for _, e := range d.Examples {
				fatal.Get(o.Ledger.Append(labels.Event{Kind: labels.Labelled, ID: e.ID, Class: "cat", By: "zoe"}))(t)
			}
		}
		_, address := serve(t, o)
		w := window{t, address, "a"}
		for _, op := range []string{"label", "skip", "unsure", "bad"} {
			v := w.view()
			first := map[string]any{"op": op, "id": v.Question.ID, "rev": v.Question.Rev}
			if op == "label" {
				first["class"] = "ant"
			}
			w.act(first)
			w.act(map[string]any{"op": "undo"})
			before := state(t, dir).Last()
			if status, _, notice := w.act(first); status != http.StatusConflict || state(t, dir).Last() != before {
				t.Errorf("%s after its undo, blind %v: status %d, %q, %d events, want %d", op, blind, status, notice, state(t, dir).Last(), before)
			}
			w.act(map[string]any{"op": "redo"})
			w.act(map[string]any{"op": "undo"})
			if status, _, _ := w.act(first); status != http.StatusConflict {
				t.Errorf("%s after undo, redo and undo, blind %v: status %d", op, blind, status)
			}
		}
	}
}

// Skip, unsure and bad, undo and redo of each, and going through them again. What was skipped
// comes again after all others; skipped for a second time, it does not.
func TestStates(t *testing.T) {
	root := images(t, 2, 1) // 8 images
	d := folder(t, root)
	dir := t.TempDir()
	_, address := serve(t, options(t, d, root, dir, animals))
	w := window{t, address, "w"}
	v := w.view()
	shown := make(map[string]string)
	for _, op := range []string{"skip", "unsure", "bad"} {
		id := v.Question.ID
		shown[op] = id
		v = w.say(v, op, "")
		_, undone, _ := w.act(map[string]any{"op": "undo"})
		if undone.Question.ID != id || undone.N.Open != 8-max(0, len(shown)-2) || !undone.Redo {
			t.Errorf("after undo of %s: %+v", op, undone)
		}
		_, again, _ := w.act(map[string]any{"op": "redo"})
		if again.Question.ID != v.Question.ID || again.Redo {
			t.Errorf("after redo of %s: %+v", op, again)
		}
	}
	for range 5 {
		if v.Question.Later || v.N.Later != 1 {
			t.Errorf("it comes before others: %+v, %+v", v.Question, v.N)
		}
		v = w.say(v, "label", "bear")
	}
	if v.Question == nil || v.Question.ID != shown["skip"] || !v.Question.Later || v.N.Open != 1 {
		t.Fatalf("put off, it does not come again: %+v", v)
	}
	skip := map[string]any{"op": "skip", "id": v.Question.ID, "rev": v.Question.Rev}
	for range 2 { // a lost reply
		if status, next, notice := w.act(skip); status != http.StatusOK || notice != "" || next.Question != nil {
			t.Errorf("skipped again: status %d, %q, %+v", status, notice, next.Question)
		}
	}
	v = w.view()
	if v.N.Total != 8 || v.N.Labelled != 5 || v.N.Skipped != 1 || v.N.Unsure != 1 || v.N.Bad != 1 || v.N.Open != 0 {
		t.Errorf("in the end: %+v", v.N)
	}
	for _, state := range []string{"skipped", "unsure"} {
		_, v, _ = w.act(map[string]any{"op": "again", "state": state})
		if v.Question == nil || v.Question.Current != map[string]string{"skipped": "left out", "unsure": "unsure"}[state] {
			t.Fatalf("again: %+v", v.Question)
		}
		if v = w.say(v, "skip", ""); v.Question != nil { // it stays as it is
			t.Errorf("after passing over the %s image: %+v", state, v.Question)
		}
		_, v, _ = w.act(map[string]any{"op": "again", "state": state})
		v = w.say(v, "label", "ant")
	}
	if v.N.Labelled != 7 || v.N.Skipped+v.N.Unsure != 0 {
		t.Errorf("after going through them: %+v", v.N)
	}
	// Look again at an answer, and correct it.
	var fixed view
	w.get("view", url.Values{"id": {shown["skip"]}}, &fixed)
	if fixed.Question.ID != shown["skip"] || fixed.Question.Current != "ant" {
		t.Fatalf("looking again: %+v", fixed.Question)
	}
	w.say(fixed, "label", "cat")
	st := state(t, dir)
	if e, _ := st.Event(st.Last()); e.Kind != labels.Corrected || e.Class != "cat" || e.Seconds != 1.5 {
		t.Errorf("the last event is %+v", e)
	}
	var list struct {
		Items []struct{ ID, Current string }
	}
	w.get("list", url.Values{"state": {"labelled"}, "n": {"3"}}, &list)
	if len(list.Items) != 3 || list.Items[0].ID != shown["skip"] || list.Items[0].Current != "cat" {
		t.Errorf("the list begins with %+v", list.Items)
	}
}

// A page of the grid is one act, sets aside images of other classes, and is ordered by confidence.
func TestGrid(t *testing.T) {
	root := images(t, 3, 10) // 120 images
	d := folder(t, root)
	dir := t.TempDir()
	o := options(t, d, root, dir, animals)
	o.Predictions = make(map[string]page.Prediction)
	for i, e := range d.Examples {
		o.Predictions[e.ID] = page.Prediction{Class: classOf(e.ID), Probability: float64(i%100) / 100}
	}
	_, address := serve(t, o)
	w, other := window{t, address, "w"}, window{t, address, "other"}
	type grid struct {
		Class string
		Items []map[string]any
	}
	var g, h grid
	if status := w.get("grid", url.Values{"n": {"12"}}, &g); status != http.StatusOK || len(g.Items) != 12 {
		t.Fatalf("status %d, %d images", status, len(g.Items))
	}
	other.get("grid", url.Values{"n": {"12"}}, &h)
	for i, it := range g.Items {
		id := it["id"].(string)
		if classOf(id) != g.Class {
			t.Errorf("%s is among the predictions of %s", id, g.Class)
		}
		if i > 0 && it["probability"].(float64) > g.Items[i-1]["probability"].(float64) {
			t.Error("the surest do not come first")
		}
		if slices.ContainsFunc(h.Items, func(x map[string]any) bool { return x["id"] == id }) {
			t.Errorf("two windows have %s on their pages", id)
		}
	}
	var items []map[string]any
	for i, it := range g.Items {
		class := g.Class
		switch i {
		case 0, 2:
			class = ""
		case 1:
			class = "jay"
		}
		items = append(items, map[string]any{"id": it["id"], "rev": it["rev"], "class": class, "none": i == 2})
	}
	if _, v, notice := w.act(map[string]any{"op": "page", "items": items, "seconds": 11}); notice != "" || v.N.Labelled != 10 {
		t.Errorf("%q, %d answers", notice, v.N.Labelled)
	}
	if im := state(t, dir).Image(g.Items[2]["id"].(string)); im.Status != labels.IsNone {
		t.Errorf("none of the classes: %+v", im)
	}
	var next grid
	w.get("grid", url.Values{"n": {"30"}}, &next)
	for _, it := range next.Items {
		if it["id"] == g.Items[0]["id"] {
			t.Error("what was set aside is there again")
		}
	}
	if im := state(t, dir).Image(g.Items[1]["id"].(string)); im.Class != "jay" {
		t.Errorf("the other class is %q", im.Class)
	}
	if _, v, notice := w.act(map[string]any{"op": "undo"}); v.N.Labelled != 0 || !strings.Contains(notice, "11 labels") {
		t.Errorf("undone: %q, %d answers left", notice, v.N.Labelled)
	}
	if _, v, _ := w.act(map[string]any{"op": "redo"}); v.N.Labelled != 10 {
		t.Errorf("redone: %d answers", v.N.Labelled)
	}
	// A page in which something was answered meanwhile loses nothing of either side.
	if _, v, notice := w.act(map[string]any{"op": "page", "items": items[1:]}); notice != "" && !strings.Contains(notice, "left as they are") || v.N.Labelled != 10 {
		t.Errorf("the same page again: %q, %d answers", notice, v.N.Labelled)
	}
}

// Of a run that asks, only the questions are shown, in their order, with the predictions
// that came with them; an image that was answered elsewhere is not shown.
func TestQuestionsOfARun(t *testing.T) {
	root := images(t, 2, 3)
	d := folder(t, root)
	o := options(t, d, root, t.TempDir(), animals)
	o.Rest = false
	var queries []labels.Question
	for _, i := range []int{5, 2, 9} {
		queries = append(queries, labels.Question{ID: d.Examples[i].ID, QueryInfo: &labels.QueryInfo{Predicted: "bear", Probability: 0.5}})
	}
	fatal.Get(o.Ledger.Query("run", 3, queries))(t)
	_, address := serve(t, o)
	w := window{t, address, "w"}
	v := w.view()
	if v.N.Total != 3 || v.Question.ID != queries[0].ID || len(v.Next) != 2 || v.Next[0] != queries[1].ID {
		t.Fatalf("%+v %+v", v, v.Question)
	}
	var g struct {
		Class       string
		Probability float64
	}
	w.get("prediction", url.Values{"id": {queries[0].ID}}, &g)
	if g.Class != "bear" || g.Probability != 0.5 {
		t.Errorf("the prediction is %+v", g)
	}
	fatal.Get(o.Ledger.Append(labels.Event{Kind: labels.Labelled, ID: queries[1].ID, Class: "ant", By: "bob"}))(t)
	if v = w.say(v, "label", "bear"); v.Question == nil || v.Question.ID != queries[2].ID {
		t.Errorf("then %+v is shown, want %s", v.Question, queries[2].ID)
	}
	if v = w.say(v, "label", "ant"); v.Question != nil || v.N.Labelled != 3 {
		t.Errorf("in the end %+v", v)
	}
	// A dispute is asked about by a rule that asks.
	var status int
	if status, v, _ = w.act(map[string]any{"op": "label", "id": d.Examples[0].ID, "rev": "0.0.0.0", "class": "ant"}); status != http.StatusOK || v.N.Labelled != 4 {
		t.Errorf("an image that nobody asked about: status %d, %+v", status, v.N)
	}
}

// A label records that the prediction was shown.
func TestPredictionShown(t *testing.T) {
	root := images(t, 1, 2)
	o := options(t, folder(t, root), root, t.TempDir(), animals)
	_, address := serve(t, o)
	w := window{t, address, "w"}
	q := w.view().Question
	if status, _, notice := w.act(map[string]any{"op": "label", "id": q.ID, "rev": q.Rev, "class": "ant", "prediction_shown": true}); status != http.StatusOK {
		t.Fatalf("status %d, %s", status, notice)
	}
	o.Ledger.View(func(st *labels.State) {
		if e, _ := st.Event(st.Last()); !strings.HasSuffix(e.Tool, ", prediction shown") {
			t.Errorf("the event's tool is %q", e.Tool)
		}
	})
}

// What class names say is recorded with a query before the first label, and shown with its source, unless predictions
// are off.
func TestNamesSuggest(t *testing.T) {
	root := images(t, 1, 2)
	d := folder(t, root)
	for _, unaided := range []bool{false, true} {
		o := options(t, d, root, t.TempDir(), animals)
		id := d.Examples[0].ID
		fatal.Get(o.Ledger.Append(labels.Event{Kind: labels.Queried, ID: id, By: "run", QueryInfo: &labels.QueryInfo{Predicted: "ant", Probability: 0.9, Model: labels.ByNames}}))(t)
		o.Unaided = unaided
		_, address := serve(t, o)
		w := window{t, address, "w"}
		var g struct{ Class, Source string }
		w.get("prediction", url.Values{"id": {id}}, &g)
		if unaided != (g.Class == "") || !unaided && (g.Class != "ant" || g.Source != "Class names") {
			t.Errorf("unaided %v: %+v", unaided, g)
		}
	}
}
