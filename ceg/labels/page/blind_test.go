package page_test

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"testing"

	"github.com/ledg-go/ledg/ceg/labels"
)

// A second annotator answers what the first has answered and sees nothing of it; the two
// opinions are compared, and neither counts as a correction of the other.
func TestBlind(t *testing.T) {
	root := images(t, 2, 3) // 24 images
	d := folder(t, root)
	dir := t.TempDir()
	o := options(t, d, root, dir, animals)
	_, address := serve(t, o)
	ann := window{t, address, "ann"}
	o.By, o.Rest, o.Blind = []string{"bob"}, false, true
	_, address = serve(t, o)
	bob := window{t, address, "bob"}

	if v := bob.view(); v.Question != nil || v.N.Total != 0 {
		t.Fatalf("before anybody has answered: %+v", v)
	}
	var shown []string
	v := ann.view()
	for i := range 10 {
		shown = append(shown, v.Question.ID)
		switch i {
		case 8:
			v = ann.say(v, "bad", "")
		case 9:
			v = ann.say(v, "unsure", "")
		default:
			v = ann.say(v, "label", animals[i%2])
		}
	}
	v = bob.view()
	if v.N.Total != 9 || v.N.Open != 9 || v.N.Labelled+v.N.Unsure+v.N.Bad != 0 || v.Question.ID != shown[0] || v.Question.Current != "" {
		t.Fatalf("bob sees %+v, %+v; want nine open images", v, v.Question)
	}
	v = bob.say(v, "skip", "")
	for i := 1; i < 8; i++ {
		class := animals[i%2]
		if i > 5 {
			class = animals[0] // differs once
		}
		if v.Question.ID != shown[i] {
			t.Fatalf("bob is asked about %s, want %s", v.Question.ID, shown[i])
		}
		v = bob.say(v, "label", class)
	}
	// What ann says meanwhile is nothing that bob's answer could run into.
	again := ann.view()
	var seen view
	ann.get("view", url.Values{"id": {shown[9]}}, &seen)
	ann.say(seen, "label", "cat")
	if again.Question == nil || v.Question.ID != shown[9] {
		t.Fatalf("ann sees %+v, bob %+v", again.Question, v.Question)
	}
	v = bob.say(v, "unsure", "")
	if v.Question == nil || v.Question.ID != shown[0] || !v.Question.Later {
		t.Fatalf("what bob put off does not come again: %+v", v.Question)
	}
	if ann.view().Question.ID == shown[0] {
		t.Error("what bob put off comes to ann")
	}
	v = bob.say(v, "skip", "")
	if v.Question != nil || v.N.Labelled != 7 || v.N.Unsure != 1 || v.N.Skipped != 1 || v.N.Total != 9 {
		t.Errorf("in the end bob has %+v", v)
	}
	for _, s := range []string{"labelled", "skipped", "unsure", "bad"} {
		var list struct {
			Items []struct{ ID, Current string }
		}
		bob.get("list", url.Values{"state": {s}, "n": {"50"}}, &list)
		if want := map[string]int{"labelled": 7, "skipped": 1, "unsure": 1}[s]; len(list.Items) != want {
			t.Errorf("%s: %+v, want %d", s, list.Items, want)
		}
	}
	if status, _, _ := bob.act(map[string]any{"op": "confirm", "id": shown[1], "rev": "2.2.-1", "class": animals[1]}); status != http.StatusBadRequest {
		t.Errorf("bob settles a class: status %d", status)
	}
	// Undo takes back bob's own act, another answer changes bob's opinion, and what was
	// skipped comes again.
	bob.act(map[string]any{"op": "undo"}) // the second skip
	_, undone, _ := bob.act(map[string]any{"op": "undo"})
	if undone.Question == nil || undone.Question.ID != shown[9] || undone.Question.Current != "" {
		t.Errorf("after undo: %+v", undone.Question)
	}
	bob.say(undone, "label", "cat")
	bob.get("view", url.Values{"id": {shown[1]}}, &seen)
	if seen.Question.Current != animals[1] {
		t.Errorf("bob said %q of %s, and the page says %q", animals[1], shown[1], seen.Question.Current)
	}
	bob.say(seen, "label", "jay")
	if status, v, _ := bob.act(map[string]any{"op": "again", "state": "skipped"}); status != http.StatusOK || v.Question == nil || v.Question.ID != shown[0] {
		t.Errorf("again: status %d, %+v", status, v.Question)
	}

	st := state(t, dir)
	for i := int64(1); i <= st.Last(); i++ {
		if e, _ := st.Event(i); e.By == "bob" && e.Kind == labels.Corrected {
			t.Errorf("bob corrects in event %+v", e)
		}
	}
	// Of the images that both gave a class bob says jay for one of ann's bears, and ant for
	// another.
	list, differ := st.Agreements()
	if len(list) != 1 || list[0].Both != 8 || list[0].Equal != 6 || len(differ) != 2 {
		t.Fatalf("agreement %v, %v", list, differ)
	}
	// ann: ant 3, bear 4, cat 1; bob: ant 4, bear 2, cat 1, jay 1.
	chance := (3.0*4 + 4*2 + 1*1) / 64
	if want := (6.0/8 - chance) / (1 - chance); math.Abs(list[0].Kappa-want) > 1e-12 {
		t.Errorf("kappa %v, want %v", list[0].Kappa, want)
	}
	if got := fmt.Sprint(st.Image(shown[1]).Class, " ", st.Image(shown[1]).By); got != "jay bob" {
		t.Errorf("by the rule newest it is %s", got)
	}
}
