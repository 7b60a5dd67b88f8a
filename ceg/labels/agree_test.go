package labels

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// The table of the article on Cohen's kappa in Wikipedia: of 50 proposals both say yes
// to 20 and no to 15; 5 and 10 are those they differ about. Kappa is 0.4.
func TestKappa(t *testing.T) {
	l := open(t, t.TempDir(), Options{})
	var events []Event
	n := 0
	for _, c := range []struct {
		a, b  string
		times int
	}{{"cat", "cat", 20}, {"cat", "dog", 5}, {"dog", "cat", 10}, {"dog", "dog", 15}} {
		for range c.times {
			id := fmt.Sprint(n)
			n++
			events = append(events, labelled(id, c.b, "zoe"), labelled(id, c.a, "ann"))
		}
	}
	events = append(events, labelled("alone", "cat", "ann"), Event{Kind: Bad, ID: "0", By: "eve"}, labelled("1", "cat", "eve"))
	must[[]Event](t)(l.Append(events...))
	l.View(func(s *State) {
		list, differ := s.Agreements()
		if len(list) != 3 || list[1].A != "ann" || list[1].B != "zoe" || list[1].Both != 50 || list[1].Equal != 35 || math.Abs(list[1].Kappa-0.4) > 1e-12 {
			t.Fatalf("agreements %+v", list)
		}
		if got := list[1].String(); got != "ann and zoe: 35 of 50 equal, Cohen's kappa 0.400" {
			t.Error(got)
		}
		if list[0].B != "eve" || list[0].Both != 1 || !math.IsNaN(list[0].Kappa) {
			t.Errorf("one class alone: %+v", list[0])
		}
		if len(differ) != 16 || differ[0].ID != "0" || len(differ[0].Opinions) != 3 {
			t.Fatalf("%d differ", len(differ))
		}
		if got := differ[1].String(); got != "20: ann says cat, zoe says dog; it is cat" {
			t.Error(got)
		}
	})
}

func TestRules(t *testing.T) {
	for _, c := range []struct {
		rule   Rule
		status Status
		class  string
		tie    string
	}{{Newest, IsLabelled, "dog", "dog"}, {Majority, IsLabelled, "cat", "dog"}, {Unanimous, IsDisputed, "", ""}} {
		l := open(t, t.TempDir(), Options{Rule: c.rule})
		query(t, l, 0, "1", "2", "3", "4")
		must[[]Event](t)(l.Append(labelled("1", "cat", "ann"), labelled("1", "cat", "bob"), labelled("1", "dog", "eve"),
			labelled("2", "cat", "ann"), labelled("2", "dog", "eve"), Event{Kind: Unsure, ID: "2", By: "bob"},
			labelled("3", "cat", "ann"), labelled("3", "cat", "bob"), labelled("4", "horse, or pony", "ann")))
		want := func(id string, status Status, class string) {
			t.Helper()
			if v := l.image(id); v.Status != status || v.Class != class {
				t.Errorf("%v: %+v, want %v %q", c.rule, v, status, class)
			}
		}
		want("1", c.status, c.class)
		want("3", IsLabelled, "cat")
		if c.rule == Newest {
			want("2", IsUnsure, "")
		} else {
			want("2", c.status, c.tie)
		}
		if c.rule == Unanimous && l.queued() != "1 2" {
			t.Errorf("queue %s", l.queued())
		}
		must[[]Event](t)(l.Append(Event{Kind: Corrected, ID: "1", Class: "horse, or pony", By: "bob"}))
		want("1", IsLabelled, "horse, or pony")
		must[[]Event](t)(l.Undo("bob", "test"))
		want("1", c.status, c.class)
		if r, err := ParseRule(c.rule.String()); err != nil || r != c.rule {
			t.Errorf("%v, %v", r, err)
		}
	}
	_, err := ParseRule("loudest")
	wantError(t, err, "loudest", "newest, majority, ask")
}

// A rule in the ledger holds for all who read it.
func TestSetRule(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{})
	query(t, l, 0, "1")
	must[[]Event](t)(l.Append(labelled("1", "cat", "ann"), labelled("1", "cat", "bob"), labelled("1", "dog", "eve")))
	for _, c := range []struct {
		rule  Rule
		class string
	}{{Majority, "cat"}, {Unanimous, ""}, {Unanimous, ""}, {Newest, "dog"}} {
		fatal.If(t, l.SetRule(c.rule, "ann", "test"))
		for _, l := range []*Ledger{l, open(t, dir, Options{})} {
			if v := l.image("1"); v.Class != c.class {
				t.Errorf("%v: %+v", c.rule, v)
			}
		}
	}
	l.View(func(s *State) {
		if e, _ := s.Event(6); s.Last() != 7 || e.Rule != "ask" || e.Class != "" || s.Rule() != Newest {
			t.Errorf("%d events, %+v", s.Last(), e)
		}
	})
	_, err := l.Append(Event{Kind: Ruled, Rule: "loudest"})
	wantError(t, err, "loudest")
	_, err = l.Append(Event{Kind: Labelled, ID: "1", Class: "cat", Rule: "newest"})
	wantError(t, err, `the rule "newest"`)
}

func TestImport(t *testing.T) {
	l := open(t, t.TempDir(), Options{})
	query(t, l, 0, "1", "2", "3")
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	list := []Event{
		{Kind: Labelled, ID: "1", Class: "cat", By: "ann", At: at, Tool: "csv"},
		{Kind: Labelled, ID: "1", Class: "dog", By: "bob", At: at, Tool: "csv"},
		{Kind: Skipped, ID: "2", By: "bob", At: at, Tool: "csv"},
		{Kind: Labelled, ID: "3", Class: "dog", By: "bob", Tool: "csv"},
		{Kind: Labelled, ID: "3", Class: "dog", By: "bob", Tool: "csv"},
	}
	if e := must[Imported](t)(l.Import(list)); len(e.New) != 4 || e.Known != 1 || e.New[0].At.IsZero() {
		t.Fatalf("imported %+v", e)
	}
	must[[]Event](t)(l.Undo("bob", "test"))
	for range 2 {
		if e := must[Imported](t)(l.Import(list)); len(e.New) != 0 || e.Known != 5 {
			t.Fatalf("imported twice: %+v", e)
		}
	}
	if l.image("3").Class != "" || l.image("1").Class != "cat" {
		t.Error("an import has brought back what was undone")
	}
	list[0].Class = "dog"
	if e := must[Imported](t)(l.Import(list)); len(e.New) != 1 || l.image("1").Class != "dog" {
		t.Errorf("another class: %+v", e)
	}
	// What was given before is no news, and what another gave before does not win.
	list[0].Class, list[0].At = "cat", at.Add(-time.Hour)
	if e := must[Imported](t)(l.Import(list[:1])); len(e.New) != 0 || e.Older != 1 {
		t.Errorf("an older answer: %+v", e)
	}
	list[0].By = "eve"
	if e := must[Imported](t)(l.Import(list[:1])); len(e.New) != 1 || l.image("1").Class != "dog" {
		t.Errorf("an older answer of another: %+v, %+v", e, l.image("1"))
	}
	_, err := l.Import([]Event{{Kind: Queried, ID: "1"}})
	wantError(t, err, "only labels")
}
