package active

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func newTestPool(t testing.TB) *Pool {
	t.Helper()
	return fatal.Get(NewPool([]string{"a", "b", "c", "d"}, []int{0, 1, 1, 0}, 2, 3))(t)
}

func TestPoolLedger(t *testing.T) {
	p := newTestPool(t)
	if p.LastRound() != -1 || p.Len() != 4 || p.DomainCount() != 2 || p.ClassCount() != 3 {
		t.Errorf("new pool: last round %d, %d samples, %d domains, %d classes", p.LastRound(), p.Len(), p.DomainCount(), p.ClassCount())
	}
	ids, classes := []string{"c", "a", "b"}, []int{1, 2, 0}
	for round, part := range [][2]int{{0, 1}, {1, 1}, {1, 3}} {
		fatal.If(t, p.Record("ann", round, ids[part[0]:part[1]], classes[part[0]:part[1]]))
	}
	want := []Label{{"c", 1, 0, "ann"}, {"a", 2, 2, "ann"}, {"b", 0, 2, "ann"}}
	if got := p.Labelled(); !slices.Equal(got, want) {
		t.Errorf("ledger %v, want %v", got, want)
	}
	p.Labelled()[0].Class = 9
	if l, ok := p.Label("c"); !ok || l != want[0] {
		t.Errorf("label of c: %v, %v", l, ok)
	}
	if l, ok := p.Label("d"); ok {
		t.Errorf("label of d: %v", l)
	}
	if got := p.Unlabelled(); !slices.Equal(got, []string{"d"}) || p.UnlabelledCount() != 1 || p.LabelledCount() != 3 {
		t.Errorf("unlabelled %v (%d), labelled %d", got, p.UnlabelledCount(), p.LabelledCount())
	}
	if d, ok := p.Domain("b"); d != 1 || !ok {
		t.Errorf("domain of b: %d, %v", d, ok)
	}
	if _, ok := p.Domain("z"); ok {
		t.Error("the pool knows z")
	}
}

func TestPoolRefusesAndStays(t *testing.T) {
	for _, s := range []struct {
		name, want, oracle string
		round              int
		ids                []string
		classes            []int
	}{
		{"unknown", `"z" is not in the pool`, "ann", 1, []string{"b", "z"}, []int{0, 0}},
		{"labelled", `"a" was labelled in round 1`, "ann", 1, []string{"b", "a"}, []int{0, 0}},
		{"twice", `"b" is queried twice`, "ann", 1, []string{"b", "b"}, []int{0, 0}},
		{"round back", "the last was 1", "ann", 0, []string{"b"}, []int{0}},
		{"negative round", "never go back", "ann", -1, []string{"b"}, []int{0}},
		{"class", `class 3 for "c", want 0 to 2`, "ann", 1, []string{"b", "c"}, []int{2, 3}},
		{"no class", `class -1 for "b"`, "ann", 1, []string{"b"}, []int{-1}},
		{"answers", "0 labels for 1 samples", "ann", 1, []string{"b"}, nil},
		{"nameless", "no name", "", 1, []string{"b"}, []int{0}},
	} {
		p := newTestPool(t)
		fatal.If(t, p.Record("ann", 1, []string{"a"}, []int{0}))
		before := p.Snapshot()
		err := p.Record(s.oracle, s.round, s.ids, s.classes)
		if err == nil || !strings.Contains(err.Error(), s.want) {
			t.Errorf("%s: error %v, want one with %q", s.name, err, s.want)
		}
		if !reflect.DeepEqual(p.Snapshot(), before) {
			t.Errorf("%s: the pool has changed", s.name)
		}
	}
}

func TestNewPoolErrors(t *testing.T) {
	for _, s := range []struct {
		want             string
		ids              []string
		domains          []int
		domainN, classes int
	}{
		{"no samples", nil, nil, 1, 1},
		{"2 samples with 1 domains", []string{"a", "b"}, []int{0}, 1, 1},
		{"0 domains and 1 classes", []string{"a"}, []int{0}, 0, 1},
		{"sample 1 has no ID", []string{"a", ""}, []int{0, 0}, 1, 1},
		{`samples 0 and 1 have the same ID "a"`, []string{"a", "a"}, []int{0, 0}, 1, 1},
		{`"a" is of domain 1, want 0 to 0`, []string{"a"}, []int{1}, 1, 1},
	} {
		fatal.Says(t, fatal.Err(NewPool(s.ids, s.domains, s.domainN, s.classes)), s.want)
	}
}

func TestSnapshotRoundTrip(t *testing.T) {
	p := newTestPool(t)
	for range 3 { // without labels, then with, then by several
		s := p.Snapshot()
		back := newTestPool(t)
		if err := back.Restore(s); err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
		if !reflect.DeepEqual(back, p) && p.LabelledCount() > 0 || !reflect.DeepEqual(back.Snapshot(), s) {
			t.Errorf("%+v came back as %+v", s, back.Snapshot())
		}
		list, by := []string{"d", "b"}, "person"
		if p.LabelledCount() == 2 {
			list, by = []string{"a"}, "machine"
		}
		if p.LabelledCount() < 3 {
			fatal.If(t, p.Record(by, 3, list, []int{2, 1}[:len(list)]))
		}
	}
	s := p.Snapshot()
	if want := []int32{3, 1, 0}; !slices.Equal(s.Sample, want) || !slices.Equal(s.Oracles, []string{"person", "machine"}) || s.Samples != 4 {
		t.Errorf("samples %v of %d by %v, want %v", s.Sample, s.Samples, s.Oracles, want)
	}
}

func TestRestoreRefuses(t *testing.T) {
	good := newTestPool(t)
	fatal.If(t, good.Record("x", 2, []string{"b", "d"}, []int{0, 1}))
	for _, s := range []struct {
		want   string
		change func(*Snapshot)
	}{
		{"3 and 4", func(s *Snapshot) { s.Domains, s.Classes = 3, 4 }},
		{"labels of 2 samples, with 1 classes", func(s *Snapshot) { s.Class = s.Class[:1] }},
		{"label 1: sample 4, want 0 to 3", func(s *Snapshot) { s.Sample[1] = 4 }},
		{"label 0: sample -1", func(s *Snapshot) { s.Sample[0] = -1 }},
		{"label 1: oracle 1, want 0 to 0", func(s *Snapshot) { s.Oracle[1] = 1 }},
		{`"b" is queried twice`, func(s *Snapshot) { s.Sample[1] = 1 }},
		{"class 3", func(s *Snapshot) { s.Class[1] = 3 }},
		{"rounds never go back", func(s *Snapshot) { s.Round[1] = 1 }},
	} {
		c := good.Snapshot()
		s.change(&c)
		fatal.Says(t, newTestPool(t).Restore(c), s.want)
	}
	fatal.Says(t, good.Restore(good.Snapshot()), "2 labels already")
}

// The error for other samples names one of them, though their names are not in
// the snapshot.
func TestOtherSamples(t *testing.T) {
	pool := func(domain int, ids ...string) *Pool {
		return fatal.Get(NewPool(ids, append(make([]int, len(ids)-1), domain), 2, 1))(t)
	}
	then := pool(0, "a", "b", "c").Snapshot()
	for _, s := range []struct {
		now  *Pool
		want string
	}{
		{pool(0, "a", "b", "bb", "c"), "(3 then, 4 now): bb is now one"},
		{pool(0, "a", "x", "c"), "(3 then, 3 now): x is now one"},
		{pool(0, "a", "c"), "(3 then, 2 now): one before c is no longer there"},
		{pool(0, "a", "b"), "(3 then, 2 now): one after b is no longer there"},
		{pool(0, "a", "c", "b"), "(3 then, 3 now): they have another order"},
		{pool(1, "a", "b", "c"), "other domains"},
	} {
		var other *OtherSamplesError
		if err := s.now.Restore(then); !errors.As(err, &other) || !strings.Contains(err.Error(), s.want) {
			t.Errorf("%v: error %v, want one with %q", s.now.Unlabelled(), err, s.want)
		}
	}
}

// FuzzPool runs any sequence of rounds and checks what must always hold.
func FuzzPool(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3})
	f.Add([]byte{0, 0, 0, 200, 7, 1, 1, 60})
	f.Fuzz(func(t *testing.T, steps []byte) {
		p := newTestPool(t)
		ids := []string{"a", "b", "c", "d", "e"} // the last is unknown
		model := map[string]Label{}
		var order []string
		for i := 0; i+3 < len(steps); i += 4 {
			list := []string{ids[steps[i]%5]}
			if steps[i+1] < 128 {
				list = append(list, ids[steps[i+1]%5])
			}
			round, class := int(steps[i+2]%8)-1, int(steps[i+3]%5)-1
			classes := slices.Repeat([]int{class}, len(list))
			allowed := class >= 0 && class < 3 && round >= max(p.LastRound(), 0)
			seen := map[string]bool{}
			for _, id := range list {
				_, labelled := model[id]
				allowed = allowed && id != "e" && !labelled && !seen[id]
				seen[id] = true
			}
			err := p.Record("x", round, list, classes)
			if (err == nil) != allowed {
				t.Fatalf("round %d, %v, class %d: error %v, allowed %v", round, list, class, err, allowed)
			}
			if err == nil {
				for _, id := range list {
					model[id] = Label{id, class, round, "x"}
					order = append(order, id)
				}
			}
			if p.LabelledCount() != len(model) || p.LabelledCount()+len(p.Unlabelled()) != p.Len() {
				t.Fatalf("%d labelled, %d unlabelled of %d; want %d labelled", p.LabelledCount(), len(p.Unlabelled()), p.Len(), len(model))
			}
			for k, l := range p.Labelled() {
				if l != model[order[k]] || slices.Contains(p.Unlabelled(), l.ID) {
					t.Fatalf("line %d of the ledger is %+v, want %+v", k, l, model[order[k]])
				}
			}
			if back := newTestPool(t); back.Restore(p.Snapshot()) != nil || !reflect.DeepEqual(back.Snapshot(), p.Snapshot()) {
				t.Fatal("snapshot does not come back")
			}
		}
	})
}

// What was answered can change, and samples can leave; a snapshot has all of it.
func TestLabelsChange(t *testing.T) {
	p := newTestPool(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(p.Record("ann", 0, []string{"a", "b", "c"}, []int{0, 1, 2}))
	must(p.Correct("bob", "b", 2))
	must(p.Withdraw("a"))
	must(p.Drop("c"))
	must(p.Drop("d"))
	must(p.Drop("d"))
	if got := p.Labelled(); len(got) != 1 || got[0] != (Label{"b", 2, 0, "bob"}) {
		t.Errorf("labels %v", got)
	}
	if got := strings.Join(p.Gone(), ""); got != "cd" || p.GoneCount() != 2 || p.UnlabelledCount() != len(p.Unlabelled()) || slices.Contains(p.Unlabelled(), "c") || !slices.Contains(p.Unlabelled(), "a") || !p.IsGone("c") {
		t.Errorf("gone %s, unlabelled %v", got, p.Unlabelled())
	}
	fatal.Says(t, p.Record("ann", 1, []string{"c"}, []int{0}), `"c" has left the pool`)
	must(p.Record("ann", 1, []string{"a"}, []int{1}))
	again := newTestPool(t)
	must(again.Restore(p.Snapshot()))
	if !reflect.DeepEqual(again.Snapshot(), p.Snapshot()) || !reflect.DeepEqual(again.Labelled(), p.Labelled()) || again.GoneCount() != 2 {
		t.Errorf("restored %+v, want %+v", again.Snapshot(), p.Snapshot())
	}
	must(again.Return("d"))
	if again.IsGone("d") || !slices.Contains(again.Unlabelled(), "d") {
		t.Error("what returned is not back")
	}
	bad := p.Snapshot()
	bad.Gone = append(bad.Gone, bad.Sample[0])
	for what, err := range map[string]error{
		"correct without a label": p.Correct("ann", "d", 0), "correct to no class": p.Correct("ann", "a", 3), "correct by nobody": p.Correct("", "a", 0),
		"withdraw nothing": p.Withdraw("d"), "drop a stranger": p.Drop("z"), "return what is there": p.Return("a"),
		"labelled and gone": newTestPool(t).Restore(bad),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}
