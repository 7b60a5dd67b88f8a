package campaign_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/campaign"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// domain and number are parts of an ID such as south/13.jpg.
func domain(id string) int { return len(id[:strings.Index(id, "/")]) }

func number(id string) (n int) {
	fmt.Sscanf(id[strings.Index(id, "/")+1:], "%d", &n)
	return n
}

// images returns the IDs from a number down to another.
func images(name string, from, to int) (ids []string) {
	for i := from; i >= to; i-- {
		ids = append(ids, fmt.Sprintf("%s/%d.jpg", name, i))
	}
	return ids
}

func say(kind labels.Kind, id string) labels.Event {
	e := labels.Event{Kind: kind, ID: id, By: "ann"}
	if kind == labels.Labelled {
		e.Class = "cat"
	}
	return e
}

// game asks for images by their order, in a folder that it opens anew for every round.
type game struct {
	*testing.T
	dir  string
	pool []string
}

// round returns the numbers of the open queries, or else of the labelled ones.
func (g game) round(round, n int, acts ...labels.Event) (awaited, labelled string) {
	g.Helper()
	ledger := fatal.Get(labels.Open(g.dir, []string{"cat", "dog"}, labels.Options{}))(g)
	defer ledger.Close()
	fatal.Get(ledger.Append(acts...))(g)
	first := func(n int, may func(string) bool) (list []labels.Question) {
		for _, id := range g.pool {
			if len(list) < n && may(id) {
				list = append(list, labels.Question{ID: id})
			}
		}
		return list
	}
	d := campaign.Queries{Ledger: ledger, By: "test"}
	list, err := d.Round(round, n, func(n int, may func(string) bool) ([]labels.Question, error) { return first(n, may), nil },
		func(vacant []string, taken func(string) bool) ([]labels.Question, error) {
			return campaign.Replace(vacant, domain, func(d, n int) ([]labels.Question, error) {
				return first(n, func(id string) bool { return domain(id) == d && !taken(id) }), nil
			})
		})
	var awaiting *campaign.Awaiting
	if errors.As(err, &awaiting) {
		for _, v := range awaiting.Queries {
			awaited += fmt.Sprint(number(v.ID), " ")
		}
	} else if err != nil {
		g.Fatal(err)
	}
	for _, a := range list {
		labelled += fmt.Sprint(number(a.ID), " ")
	}
	return awaited, labelled
}

// Skipped, bad and unsure images are replaced within their domain, by another process as well; a
// skipped one may be queried in a later round.
func TestInstead(t *testing.T) {
	g := game{t, t.TempDir(), append(images("south", 19, 10), images("western", 9, 0)...)}
	for i, c := range []struct {
		round, n          int
		acts              []labels.Event
		awaited, labelled string
	}{
		{0, 4, nil, "19 18 17 16 ", ""},
		{0, 4, nil, "19 18 17 16 ", ""},
		{0, 4, []labels.Event{say(labels.Labelled, "south/18.jpg"), say(labels.Skipped, "south/19.jpg"), say(labels.Bad, "south/16.jpg")}, "17 ", ""},
		{0, 4, []labels.Event{say(labels.Labelled, "south/17.jpg")}, "15 14 ", ""},
		{0, 4, []labels.Event{say(labels.Labelled, "south/15.jpg"), say(labels.Unsure, "south/14.jpg")}, "13 ", ""},
		{0, 4, []labels.Event{say(labels.Labelled, "south/13.jpg")}, "", "15 18 17 13 "},
		{1, 6, nil, "19 12 11 10 9 8 ", ""},
		{1, 6, []labels.Event{say(labels.Bad, "western/9.jpg"), say(labels.Labelled, "south/19.jpg"), say(labels.Labelled, "south/12.jpg"),
			say(labels.Labelled, "south/11.jpg"), say(labels.Labelled, "south/10.jpg"), say(labels.Labelled, "western/8.jpg")}, "7 ", ""},
	} {
		if awaited, labelled := g.round(c.round, c.n, c.acts...); awaited != c.awaited || labelled != c.labelled {
			t.Fatalf("step %d: %q awaited and %q answered, want %q and %q", i, awaited, labelled, c.awaited, c.labelled)
		}
	}
}

// An image that is put off is awaited with the others; skipped then, it has no replacement, and
// the round ends without it.
func TestLater(t *testing.T) {
	g := game{t, t.TempDir(), images("south", 9, 0)}
	for i, c := range []struct {
		acts              []labels.Event
		awaited, labelled string
	}{
		{nil, "9 8 7 ", ""},
		{[]labels.Event{say(labels.Later, "south/9.jpg"), say(labels.Later, "south/8.jpg"), say(labels.Labelled, "south/7.jpg")}, "9 8 ", ""},
		{[]labels.Event{say(labels.Labelled, "south/9.jpg"), say(labels.Skipped, "south/8.jpg")}, "", "9 7 "},
		{[]labels.Event{say(labels.Bad, "south/9.jpg")}, "6 ", ""},
	} {
		if awaited, labelled := g.round(0, 3, c.acts...); awaited != c.awaited || labelled != c.labelled {
			t.Fatalf("step %d: %q awaited and %q answered, want %q and %q", i, awaited, labelled, c.awaited, c.labelled)
		}
	}
}

// If nothing else is left in a domain, a skipped image is queried again and a bad one is dropped.
func TestNothingInstead(t *testing.T) {
	g := game{t, t.TempDir(), images("south", 1, 0)}
	for i, c := range []struct {
		acts    []labels.Event
		awaited string
	}{
		{nil, "1 0 "},
		{[]labels.Event{say(labels.Skipped, "south/1.jpg"), say(labels.Bad, "south/0.jpg")}, "1 "},
		{[]labels.Event{say(labels.Bad, "south/1.jpg")}, ""},
	} {
		if awaited, labelled := g.round(0, 2, c.acts...); awaited != c.awaited || labelled != "" {
			t.Fatalf("step %d: %q awaited and %q answered, want %q", i, awaited, labelled, c.awaited)
		}
	}
}

// The answers of a round are in the order of its questions, not of answering; a round of queries
// that was written in part is queried as a whole.
func TestDesk(t *testing.T) {
	dir := t.TempDir()
	ledger, err := labels.Open(dir, []string{"cat", "dog"}, labels.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Close()
	d := campaign.Queries{Ledger: ledger, By: "test"}
	if err := d.Awaiting(); err != nil {
		t.Errorf("nothing was asked: %v", err)
	}
	pick := active.Pick{ID: "b", Scored: true, Su: 0.1, Sr: 1e-300, Sd: 3, RankSu: 1, RankSr: 20, RankSd: 3, R: 0.1 + 0.2}
	questions := []labels.Question{{ID: "c"}, campaign.Question(pick, false), {ID: "a"}}
	if _, err := ledger.Query("test", 3, questions[:1]); err != nil { // and killed
		t.Fatal(err)
	}
	round := func() ([]campaign.Labelled, error) {
		return d.Round(3, 3, func(int, func(string) bool) ([]labels.Question, error) { return questions, nil },
			func(vacant []string, _ func(string) bool) ([]labels.Question, error) {
				return make([]labels.Question, len(vacant)), nil
			})
	}
	_, err = round()
	var awaiting *campaign.Awaiting
	if !errors.As(err, &awaiting) || len(awaiting.Queries) != 3 || awaiting.Of != 3 || awaiting.Round != 3 || !strings.Contains(err.Error(), "round 3: 3 of 3 labels are awaited in "+ledger.Path()) {
		t.Fatalf("error %v", err)
	}
	if !errors.As(d.Awaiting(), &awaiting) || awaiting.Round != 3 {
		t.Errorf("open: %v", d.Awaiting())
	}
	for _, id := range []string{"a", "b", "c"} {
		fatal.Get(ledger.Append(labels.Event{Kind: labels.Labelled, ID: id, Class: "cat", By: id}))(t)
	}
	list, err := round()
	if err != nil || len(list) != 3 || list[0].ID != "c" || list[1].By != "b" || list[2].Class != "cat" || d.Awaiting() != nil {
		t.Fatalf("answers %+v, %v", list, err)
	}
	if got, want := list[1].QueryInfo.Scores, campaign.Question(pick, false).QueryInfo.Scores; !maps.Equal(got, want) {
		t.Errorf("the scores came back as %v, want %v", got, want)
	}
}
