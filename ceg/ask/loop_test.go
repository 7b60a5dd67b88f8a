package ask_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/ask"
	"github.com/ledg-go/ledg/ceg/cluster"
	"github.com/ledg-go/ledg/ceg/labels"
)

func settings(strategy active.Strategy) ask.Settings {
	s := ask.Settings{DomainNames: []string{"north", "south"}, Classes: []string{"cat", "dog"}, Strategy: strategy, Seed: 1}
	for i := range 20 {
		s.IDs, s.Domains = append(s.IDs, fmt.Sprintf("%s/%d.jpg", s.DomainNames[i/10], i)), append(s.Domains, i/10)
	}
	return s
}

func say(kind labels.Kind, id string) labels.Event {
	e := labels.Event{Kind: kind, ID: id, By: "ann"}
	if kind == labels.Answered || kind == labels.Corrected {
		e.Class = []string{"cat", "dog"}[len(id)%2]
	}
	return e
}

// logits makes up what networks say: IDs with larger numbers are less sure.
func logits(l *ask.Loop) ask.Predictions {
	ids := l.Unlabelled()
	m := cluster.Matrix{Rows: len(ids), Cols: 2, Stride: 2}
	for _, id := range ids {
		var n int
		fmt.Sscanf(id[strings.Index(id, "/")+1:], "%d", &n)
		m.Data = append(m.Data, float32(40-n), 0)
	}
	return ask.Predictions{ClassLogits: m}
}

func names(images []labels.Image) string {
	var list []string
	for _, v := range images {
		list = append(list, v.ID[strings.Index(v.ID, "/")+1:len(v.ID)-4])
	}
	return strings.Join(list, " ")
}

func ids(list []active.Label) string {
	var out []string
	for _, l := range list {
		out = append(out, l.ID[strings.Index(l.ID, "/")+1:len(l.ID)-4])
	}
	return strings.Join(out, " ")
}

// A loop asks, lets skipped and bad images be replaced within their domain, goes on in
// another process, and takes up corrections.
func TestLoop(t *testing.T) {
	dir := t.TempDir()
	open := func() *ask.Loop {
		t.Helper()
		l, err := ask.Open(dir, settings(active.Probability{Measure: active.MaxEntropy, TieSeed: 1}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	l := open()
	asks := func(round, n int, want string) []labels.Image {
		t.Helper()
		list, err := l.Ask(round, n, logits(l))
		if err != nil || names(list) != want {
			t.Fatalf("round %d asks for %q, %v; want %q", round, names(list), err, want)
		}
		return list
	}
	tell := func(events ...labels.Event) {
		t.Helper()
		if err := l.Tell(events...); err != nil {
			t.Fatal(err)
		}
	}
	first := asks(0, 4, "19 18 17 16")
	asks(0, 4, "19 18 17 16") // idempotent
	tell(say(labels.Answered, first[1].ID), say(labels.Skipped, first[0].ID), say(labels.Bad, first[3].ID))
	l.Close()
	l = open()
	asks(0, 4, "17")
	tell(say(labels.Answered, first[2].ID))
	second := asks(0, 4, "15 14") // for 19 and 16
	tell(say(labels.Answered, second[0].ID), say(labels.Unsure, second[1].ID))
	asks(0, 4, "13") // for 14
	tell(say(labels.Answered, "south/13.jpg"))
	asks(0, 4, "")
	if got := ids(l.Labelled()); got != "18 17 15 13" {
		t.Errorf("labelled %s", got)
	}
	if slices.Contains(l.Unlabelled(), first[3].ID) || !slices.Contains(l.Unlabelled(), first[0].ID) {
		t.Errorf("unlabelled %v", l.Unlabelled())
	}
	asks(1, 2, "19 12") // 19 was skipped, and may be asked for again in another round
	tell(say(labels.Answered, "south/19.jpg"), say(labels.Answered, "south/12.jpg"), labels.Event{Kind: labels.Corrected, ID: first[1].ID, Class: "cat", By: "bob"})
	asks(1, 2, "")
	for _, x := range l.Labelled() {
		if x.ID == first[1].ID && (x.Class != 0 || x.Oracle != "bob") {
			t.Errorf("corrected: %+v", x)
		}
	}
	if err := l.Tell(labels.Event{Kind: labels.Answered, ID: "south/11.jpg", Class: "horse", By: "ann"}); err == nil || !strings.Contains(err.Error(), "horse") {
		t.Errorf("a class that there is not: %v", err)
	}
	if _, err := l.Ask(2, 2, ask.Predictions{ClassLogits: cluster.Matrix{Rows: 1, Cols: 2, Stride: 2, Data: []float32{1, 2}}}); err == nil || !strings.Contains(err.Error(), "predictions of 1 samples") {
		t.Errorf("predictions of something else: %v", err)
	}
}

// Where nothing else is left in a domain, a skipped image is asked for again and a bad
// one given up.
func TestNothingInstead(t *testing.T) {
	s := settings(active.Uniform{})
	s.IDs, s.Domains = s.IDs[:2], s.Domains[:2]
	l, err := ask.Open(t.TempDir(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for round, want := range []int{2, 1, 0} {
		list, err := l.Ask(0, 2, ask.Predictions{})
		if err != nil || len(list) != want {
			t.Fatalf("time %d: %v, %v", round, list, err)
		}
		for i, v := range list {
			kind := labels.Skipped
			if i == 1 || round == 1 {
				kind = labels.Bad
			}
			if err := l.Tell(say(kind, v.ID)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(l.Labelled())+len(l.Unlabelled()) != 0 {
		t.Errorf("left: %v and %v", l.Labelled(), l.Unlabelled())
	}
}

// The answers of a round are in the order of its questions, not of answering; a round
// of which only a part of the questions was written is asked for as a whole.
func TestDesk(t *testing.T) {
	dir := t.TempDir()
	ledger, err := labels.Open(dir, []string{"cat", "dog"}, labels.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Close()
	d := ask.Desk{Ledger: ledger, By: "test"}
	if err := d.Open(); err != nil {
		t.Errorf("nothing was asked: %v", err)
	}
	pick := active.Pick{ID: "b", Scored: true, Su: 0.1, Sr: 1e-300, Sd: 3, RankSu: 1, RankSr: 20, RankSd: 3, R: 0.1 + 0.2}
	questions := []labels.Question{{ID: "c"}, ask.Question(pick), {ID: "a"}}
	if _, err := ledger.Ask("test", 3, questions[:1]); err != nil { // and killed
		t.Fatal(err)
	}
	round := func() ([]ask.Answer, error) {
		return d.Round(3, 3, func(func(string) bool) ([]labels.Question, error) { return questions, nil },
			func(vacant []string, _ func(string) bool) ([]labels.Question, error) {
				return make([]labels.Question, len(vacant)), nil
			})
	}
	_, err = round()
	var awaiting *ask.Awaiting
	if !errors.As(err, &awaiting) || len(awaiting.Queries) != 3 || awaiting.Of != 3 || awaiting.Round != 3 || !strings.Contains(err.Error(), "round 3: 3 of 3 labels are awaited in "+ledger.Path()) {
		t.Fatalf("error %v", err)
	}
	if !errors.As(d.Open(), &awaiting) || awaiting.Round != 3 {
		t.Errorf("open: %v", d.Open())
	}
	for _, id := range []string{"a", "b", "c"} {
		if _, err := ledger.Append(labels.Event{Kind: labels.Answered, ID: id, Class: "cat", By: id}); err != nil {
			t.Fatal(err)
		}
	}
	list, err := round()
	if err != nil || len(list) != 3 || list[0].ID != "c" || list[1].By != "b" || list[2].Class != "cat" || d.Open() != nil {
		t.Fatalf("answers %+v, %v", list, err)
	}
	if got := ask.Pick(list[1].Question); got != pick {
		t.Errorf("the pick came back as %+v, want %+v", got, pick)
	}
}

func Example() {
	dir, err := os.MkdirTemp("", "ask")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	loop, err := ask.Open(dir, ask.Settings{IDs: []string{"a.jpg", "b.jpg", "c.jpg", "d.jpg"}, Domains: []int{0, 0, 1, 1},
		DomainNames: []string{"day", "night"}, Classes: []string{"cat", "dog"}, Strategy: active.Uniform{}, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer loop.Close()
	open, err := loop.Ask(0, 2, ask.Predictions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(open), "questions")
	for _, v := range open { // or on the page of ledg label
		if err := loop.Tell(labels.Event{Kind: labels.Answered, ID: v.ID, Class: "cat", By: "ann"}); err != nil {
			log.Fatal(err)
		}
	}
	open, err = loop.Ask(0, 2, ask.Predictions{})
	fmt.Println(len(open), "questions,", len(loop.Labelled()), "labels,", len(loop.Unlabelled()), "without", err)
	// Output:
	// 2 questions
	// 0 questions, 2 labels, 2 without <nil>
}
