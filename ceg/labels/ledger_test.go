package labels

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

var classes = []string{"cat", "dog", "horse, or pony"}

func open(t testing.TB, dir string, o Options) *Ledger {
	t.Helper()
	l := fatal.Get(Open(dir, classes, o))(t)
	t.Cleanup(func() { l.Close() })
	return l
}

func labelled(id, class, by string) Event {
	return Event{Kind: Labelled, ID: id, Class: class, By: by, Tool: "test"}
}

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func query(t testing.TB, l *Ledger, round int, ids ...string) []Event {
	t.Helper()
	var list []Question
	for _, id := range ids {
		list = append(list, Question{ID: id})
	}
	return must[[]Event](t)(l.Query("train", round, list))
}

func (l *Ledger) image(id string) (v Image) {
	l.View(func(s *State) { v = s.Image(id) })
	return v
}

func ids(images []Image) string {
	var list []string
	for _, v := range images {
		list = append(list, v.ID)
	}
	return strings.Join(list, " ")
}

func (l *Ledger) queued() (list string) {
	l.View(func(s *State) { list = ids(s.Queue(-1)) })
	return list
}

func wantError(t testing.TB, err error, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if err == nil || !strings.Contains(err.Error(), p) {
			t.Errorf("error %v, want %q in it", err, p)
		}
	}
}

func TestLedger(t *testing.T) {
	dir := t.TempDir()
	domain := func(id string) (string, bool) { d, _, ok := strings.Cut(id, "/"); return d, ok }
	l := open(t, dir, Options{Domain: domain})
	queried := must[[]Event](t)(l.Query("train", 2, []Question{
		{"a/1", &QueryInfo{Scores: map[string]float64{"s_u": 0.25}, Predicted: "dog", Probability: 0.75, Model: "r@3"}},
		{"a/2", nil}, {"b/1", nil}, {"b/2", nil}, {"b/\xff", nil},
	}))
	if len(queried) != 5 || queried[4].N != 5 || queried[2].Domain != "b" {
		t.Fatalf("asked %+v", queried)
	}
	if again := query(t, l, 2, "a/1", "b/2"); len(again) != 0 {
		t.Errorf("asked again: %+v", again)
	}
	at := time.Date(2026, 3, 4, 5, 6, 7, 8e6, time.FixedZone("", 3600))
	done := must[[]Event](t)(l.Append(Event{Kind: Labelled, ID: "a/1", Class: "horse, or pony", By: "ann", At: at, Seconds: 1.23456, Tool: "page"}))
	if e := done[0]; e.N != 6 || e.Act != 6 || e.Round != 2 || e.Domain != "a" || e.Seconds != 1.235 || !e.At.Equal(at) {
		t.Errorf("appended %+v", e)
	}
	must[[]Event](t)(l.Append(Event{Kind: Skipped, ID: "a/2", By: "ann"}))
	must[[]Event](t)(l.Append(Event{Kind: Unsure, ID: "b/1", Class: "cat", By: "ann"}))
	must[[]Event](t)(l.Append(Event{Kind: Bad, ID: "b/2", By: "ann"}))
	must[[]Event](t)(l.Append(labelled("c/1", "dog", "bob"))) // never queried
	check := func(l *Ledger) {
		t.Helper()
		v := l.image("a/1")
		if v.Status != IsLabelled || v.Class != "horse, or pony" || v.By != "ann" || v.N != 6 || v.Round != 2 || v.QueryInfo.Scores["s_u"] != 0.25 || v.QueryInfo.Predicted != "dog" {
			t.Errorf("a/1 is %+v", v)
		}
		if v := l.image("c/1"); v.Round != NoRound || v.Class != "dog" || v.Domain != "c" {
			t.Errorf("c/1 is %+v", v)
		}
		if q := l.queued(); q != "b/\xff a/2" {
			t.Errorf("queue %q", q)
		}
		l.View(func(s *State) {
			all, domains, cells := s.Count()
			if want := (Counts{Open: 1, Labelled: 2, Unsure: 1, Skipped: 1, Bad: 1, WithClass: 3}); all != want {
				t.Errorf("counts %+v", all)
			}
			if want := (Counts{Open: 1, Unsure: 1, Bad: 1, WithClass: 1}); domains["b"] != want {
				t.Errorf("counts of b %+v", domains["b"])
			}
			if cells["a"]["horse, or pony"] != 1 || cells["b"]["cat"] != 1 || len(cells) != 3 {
				t.Errorf("cells %v", cells)
			}
			labels := s.Labels()
			if len(labels) != 3 || labels[1] != (Label{"b/1", "b", "cat", 2, "ann", true}) || labels[2].Round != NoRound {
				t.Errorf("labels %+v", labels)
			}
			if ids(s.With(IsUnsure)) != "b/1" || ids(s.With(IsBad)) != "b/2" || ids(s.With(IsLabelled)) != "a/1 c/1" {
				t.Error("images by status are wrong")
			}
			if list := s.Annotators(); !slices.Equal(list, []string{"ann", "bob"}) {
				t.Errorf("annotators %q", list)
			}
		})
	}
	check(l)
	check(open(t, dir, Options{Domain: domain}))
	s, note, err := Read(os.DirFS(dir), File, classes, Options{})
	if err != nil || note != "" || s.Last() != 10 {
		t.Errorf("read: %v, %q", err, note)
	}
	if e, ok := s.Event(6); !ok || e.Seconds != 1.235 || !e.At.Equal(at) || e.Tool != "page" || e.Act != 6 {
		t.Errorf("event 6 is %+v", e)
	}

	for _, c := range []struct {
		e    Event
		want string
	}{
		{labelled("a/1", "Dog", "ann"), `class "Dog" of "a/1": the data set does not have it`},
		{labelled("a/1", "a\nb", "ann"), "has a newline"},
		{labelled("nowhere", "dog", "ann"), `image "nowhere": the data set does not have it`},
		{labelled("", "dog", "ann"), "no ID"},
		{labelled("a/1\x00", "dog", "ann"), "zero byte"},
		{labelled("a/1", "", "ann"), "no class"},
		{Event{Kind: Bad, ID: "a/1", Class: "dog"}, "want none"},
		{Event{Kind: "said", ID: "a/1"}, `unknown kind "said"`},
		{Event{Kind: Queried, ID: "a/1", Round: NoRound}, "no round"},
		{Event{Kind: Labelled, ID: "a/1", Class: "dog", Seconds: -1}, "seconds"},
		{Event{Kind: Labelled, ID: "a/1", Class: "dog", By: "\xff"}, "UTF-8"},
		{Event{Kind: Labelled, ID: "a/1", Class: "dog", At: time.Unix(-1, 0)}, "year"},
		{Event{Kind: Undone, Of: 1}, "no act 1"},
		{Event{Kind: Undone, Of: 60}, "no act 60"},
		{Event{Kind: Redone, Of: 6}, "act 6 is undone: false"},
		{Event{Kind: Labelled, ID: "a/1", Class: "dog", QueryInfo: &QueryInfo{}}, "which only a query has"},
		{Event{Kind: Queried, ID: "a/1", QueryInfo: &QueryInfo{Instead: "a/9"}}, "instead of"},
	} {
		before := must[[]byte](t)(os.ReadFile(l.Path()))
		_, err := l.Append(labelled("a/1", "dog", "x"), c.e)
		wantError(t, err, c.want)
		if after := must[[]byte](t)(os.ReadFile(l.Path())); !bytes.Equal(before, after) {
			t.Errorf("%v: the file has changed", err)
		}
	}
	check(l)
}

func TestSkipped(t *testing.T) {
	l := open(t, t.TempDir(), Options{})
	query(t, l, 0, "1", "2", "3")
	for _, id := range []string{"2", "1"} {
		must[[]Event](t)(l.Append(Event{Kind: Skipped, ID: id, By: "ann"}))
	}
	if q := l.queued(); q != "3 2 1" {
		t.Errorf("queue %s", q)
	}
	// In the next round one is asked again, and another is asked instead of the other.
	must[[]Event](t)(l.Query("train", 1, []Question{{ID: "2"}, {"4", &QueryInfo{Instead: "1"}}}))
	if q := l.queued(); q != "2 3 4" || l.image("1").Status != IsReplaced || l.image("2").Round != 1 {
		t.Errorf("queue %s, 1 is %v", q, l.image("1").Status)
	}
	must[[]Event](t)(l.Append(labelled("1", "cat", "ann"))) // an answer is welcome all the same
	must[[]Event](t)(l.Append(Event{Kind: Skipped, ID: "1", By: "ann"}))
	if v := l.image("1"); v.Class != "cat" {
		t.Errorf("1 is %+v", v)
	}
}

func TestUndo(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{})
	query(t, l, 0, "1", "2", "3", "4")
	must[[]Event](t)(l.Append(labelled("1", "cat", "ann")))
	must[[]Event](t)(l.Append(labelled("2", "cat", "bob")))
	must[[]Event](t)(l.Append(labelled("1", "dog", "ann")))
	page := must[[]Event](t)(l.Append(labelled("3", "dog", "ann"), labelled("4", "dog", "ann"), labelled("4", "cat", "bob")))
	if page[1].Act != page[0].N || page[2].Act != page[2].N {
		t.Fatalf("acts of %+v", page)
	}
	undo := func(l *Ledger, by, want string) {
		t.Helper()
		var got []string
		for _, e := range must[[]Event](t)(l.Undo(by, "test")) {
			got = append(got, e.ID+" "+e.Class)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("undone %q, want %q", got, want)
		}
	}
	undo(l, "ann", "3 dog, 4 dog")
	if l.queued() != "3" || l.image("4").Class != "cat" {
		t.Errorf("queue %s, 4 is %+v", l.queued(), l.image("4"))
	}
	l = open(t, dir, Options{}) // a restart
	undo(l, "ann", "1 dog")
	if v := l.image("1"); v.Class != "cat" || v.Status != IsLabelled {
		t.Errorf("1 is %+v", v)
	}
	undo(l, "ann", "1 cat")
	if v := l.image("1"); v.Class != "" || v.Status != IsOpen {
		t.Errorf("1 is %+v", v)
	}
	if _, err := l.Undo("ann", "test"); !errors.Is(err, ErrNothingToUndo) {
		t.Errorf("error %v", err)
	}
	if _, err := l.Redo("bob", "test"); !errors.Is(err, ErrNothingToRedo) {
		t.Errorf("error %v", err)
	}
	if _, err := l.Undo("nobody", "test"); !errors.Is(err, ErrNothingToUndo) {
		t.Errorf("error %v", err)
	}
	l = open(t, dir, Options{})
	for _, want := range []string{"1 cat", "1 dog", "3 dog"} {
		e := must[[]Event](t)(l.Redo("ann", "test"))
		if got := e[0].ID + " " + e[0].Class; got != want {
			t.Errorf("redone %q, want %q", got, want)
		}
	}
	if l.queued() != "" {
		t.Errorf("queue %s", l.queued())
	}
	undo(l, "ann", "3 dog, 4 dog")
	must[[]Event](t)(l.Append(labelled("3", "cat", "ann")))
	if _, err := l.Redo("ann", "test"); !errors.Is(err, ErrNothingToRedo) {
		t.Errorf("after a new act, error %v", err)
	}
	l.View(func(s *State) {
		events, undone := s.History("3")
		if len(events) != 3 || !slices.Equal(undone, []bool{false, true, false}) || events[1].Class != "dog" || events[0].Kind != Queried {
			t.Errorf("history %+v %v", events, undone)
		}
	})
}

func TestWait(t *testing.T) {
	dir := t.TempDir()
	l, other := open(t, dir, Options{}), open(t, dir, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for i, from := range []*Ledger{l, other} {
		got := make(chan int64)
		go func() {
			n, err := l.Wait(ctx, int64(i))
			if err != nil {
				t.Error(err)
			}
			got <- n
		}()
		must[[]Event](t)(from.Append(labelled(fmt.Sprint(i), "cat", "ann")))
		if n := <-got; n != int64(i+1) {
			t.Errorf("waited until %d", n)
		}
	}
	stopped, stop := context.WithCancelCause(ctx)
	stop(errors.New("enough"))
	if _, err := l.Wait(stopped, 100); err == nil || err.Error() != "enough" {
		t.Errorf("error %v", err)
	}
}

// Goroutines over several ledgers of one folder lose nothing and double nothing.
func TestConcurrent(t *testing.T) {
	dir := t.TempDir()
	const writers, each = 40, 10
	var wg sync.WaitGroup
	ledgers := []*Ledger{open(t, dir, Options{}), open(t, dir, Options{}), open(t, dir, Options{})}
	for w := range writers {
		wg.Go(func() {
			l := ledgers[w%len(ledgers)]
			for i := range each {
				if _, err := l.Append(labelled(fmt.Sprintf("%d/%d", w, i), classes[i%3], fmt.Sprint(w))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	s, note, err := Read(os.DirFS(dir), File, classes, Options{})
	if err != nil || note != "" || s.Last() != writers*each {
		t.Fatalf("%v %q", err, note)
	}
	for w := range writers {
		for i := range each {
			if v := s.Image(fmt.Sprintf("%d/%d", w, i)); v.Class != classes[i%3] {
				t.Errorf("%+v", v)
			}
		}
	}
}
