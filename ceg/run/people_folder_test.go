package run_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// peopleConfig is a small run on the images of unlabelled that queries everything upfront.
func peopleConfig(t *testing.T, target, method, budget string) run.Config {
	t.Helper()
	c := configtest.New(t, "folder", target, method, config.Authors, "schedule.epochs", 2, "schedule.timing", config.Once)
	c.Data.ImageSize, c.Network.Width, c.Exploration.Budget, c.Data.Classes = 16, 4, budget, []string{"cat", "dog"}
	c.Exploration.Oracle = config.People
	return c
}

// A run that waits goes on by itself, and holds nothing meanwhile.
func TestWait(t *testing.T) {
	root := unlabelled(t)
	c := peopleConfig(t, "night", "uniform-ce", "6")
	dir := filepath.Join(t.TempDir(), "run")
	ready := make(chan struct{})
	go func() {
		defer close(ready)
		for open := 0; open == 0; time.Sleep(20 * time.Millisecond) {
			if _, err := os.Stat(filepath.Join(dir, labels.File)); err != nil {
				continue
			}
			l, err := labels.Open(dir, nil, labels.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			var list []labels.Image
			l.View(func(s *labels.State) { list = s.OpenImages(-1) })
			if open = len(list); open > 0 {
				if d, err := waitForLock(dir, c); err != nil {
					t.Errorf("while it waits: %v", err)
				} else {
					d.Close()
				}
			}
			for i, v := range list {
				if _, err := l.Append(labels.Event{Kind: labels.Labelled, ID: v.ID, Class: c.Data.Classes[i%2], By: "ann"}); err != nil {
					t.Error(err)
				}
			}
			l.Close()
		}
	}()
	res, err := run.Run(t.Context(), c, run.Options{Dir: dir, Root: root, Backend: "go", CacheDir: t.TempDir(), Wait: true})
	<-ready
	if err != nil || res.Labels != 6 || !strings.Contains(res.Note, "night") {
		t.Errorf("%+v, %v", res, err)
	}
}

// waitForLock takes the run's folder as soon as nobody holds it.
func waitForLock(dir string, c run.Config) (d *result.Dir, err error) {
	for range 500 {
		if d, err = result.Open(dir, c, result.Place{}, true); !errors.Is(err, result.ErrLocked) {
			return d, err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil, err
}

// A run whose images are all labelled meanwhile trains to its end.
func TestPeopleLabelEverything(t *testing.T) {
	root := unlabelled(t)
	c := peopleConfig(t, "night", "ceg", "4")
	o := run.Options{Dir: filepath.Join(t.TempDir(), "run"), Root: root, Backend: "go", CacheDir: t.TempDir()}
	var awaiting *run.ErrAwaitingLabels
	if _, err := run.Run(t.Context(), c, o); !errors.As(err, &awaiting) {
		t.Fatal(err)
	}
	l := fatal.Get(labels.Open(o.Dir, nil, labels.Options{}))(t)
	var all []labels.Event
	for _, domain := range []string{"dawn", "day"} {
		for i := range 16 {
			class := c.Data.Classes[i%2]
			all = append(all, labels.Event{Kind: labels.Labelled, ID: fmt.Sprintf("%s/%s%d.png", domain, class, i), Class: class, By: "ann"})
		}
	}
	fatal.Get(l.Append(all...))(t)
	l.Close()
	o.Resume = true
	r := fatal.Get(run.Run(t.Context(), c, o))(t)
	if r.Labels != 32 || r.Epochs != c.Schedule.Epochs {
		t.Errorf("%d labels after %d epochs, want 32 labels and %d epochs", r.Labels, r.Epochs, c.Schedule.Epochs)
	}
}

// What holds where annotators differ is said in the ledger. A domain whose labels are all
// taken back gets another question, beside the budget, until there is nothing to ask; and
// what somebody is unsure of is listed in the end.
func TestPeopleWithdrawADomain(t *testing.T) {
	root := unlabelled(t)
	c := peopleConfig(t, config.NoTarget, "uniform-ce", "6")
	dir, cache := filepath.Join(t.TempDir(), "run"), t.TempDir()
	ledger := func(dir string, events ...labels.Event) (labelled []labels.Label) {
		t.Helper()
		l := fatal.Get(labels.Open(dir, nil, labels.Options{}))(t)
		defer l.Close()
		for _, e := range events {
			if e.At.IsZero() {
				e.At = time.Now()
			}
			fatal.Get(l.Append(e))(t)
		}
		l.View(func(s *labels.State) { labelled = s.Labels() })
		return labelled
	}
	other := map[string]string{"cat": "dog", "dog": "cat"}
	class := func(id string) string { return filepath.Base(id)[:3] }
	say := func(kind labels.Kind, by, id, class string) labels.Event {
		return labels.Event{Kind: kind, By: by, ID: id, Class: class}
	}
	domain := ""
	withdraw := false
	observe := func(e run.Event) {
		if !withdraw || !e.Done || e.Epoch != 0 {
			return
		}
		withdraw = false
		for _, l := range ledger(dir) {
			if filepath.Dir(l.ID) == domain {
				ledger(dir, say(labels.Bad, "dan", l.ID, ""), say(labels.Bad, "eve", l.ID, ""), say(labels.Bad, "fay", l.ID, ""))
			}
		}
	}
	next := func(dir string) ([]labels.Image, *result.Result, error) {
		_, statErr := os.Stat(dir)
		res, err := run.Run(t.Context(), c, run.Options{Dir: dir, Root: root, Backend: "go", CacheDir: cache, Resume: statErr == nil, Observe: observe})
		var awaiting *run.ErrAwaitingLabels
		if errors.As(err, &awaiting) {
			return awaiting.Queries, res, nil
		}
		return nil, res, err
	}

	queried, _, err := next(dir)
	if err != nil || len(queried) != 6 {
		t.Fatalf("%v, %v", queried, err)
	}
	unsure, split := queried[0].ID, queried[1].ID
	domain = filepath.Dir(split)
	ledger(dir, labels.Event{Kind: labels.Ruled, Rule: labels.Majority.String(), By: "ann"}, say(labels.Unsure, "ann", unsure, ""),
		say(labels.Labelled, "bob", split, class(split)), say(labels.Labelled, "carol", split, other[class(split)]))
	for _, q := range queried[1:] {
		ledger(dir, labels.Event{Kind: labels.Labelled, By: "ann", ID: q.ID, Class: class(q.ID), At: time.Now().Add(-time.Hour)})
	}
	if queried, _, err = next(dir); err != nil || len(queried) != 1 || filepath.Dir(queried[0].ID) != filepath.Dir(unsure) {
		t.Fatalf("instead of %s: %+v, %v", unsure, queried, err)
	}
	ledger(dir, say(labels.Labelled, "ann", queried[0].ID, class(queried[0].ID)))

	withdraw = true
	first, _, err := next(dir)
	if err != nil || len(first) != 1 || first[0].Domain != domain || withdraw {
		t.Fatalf("when %s has lost its labels: %+v, %v", domain, first, err)
	}
	queries, err := result.ReadQueries(os.DirFS(dir), result.QueriesFile)
	if i := slices.IndexFunc(queries, func(q result.Query) bool { return q.ID == split }); err != nil || i < 0 || queries[i].Class != class(split) {
		t.Errorf("two of three say that %s is %s: %+v, %v", split, class(split), queries, err)
	}
	empty := filepath.Join(t.TempDir(), "empty")
	fatal.If(t, os.CopyFS(empty, os.DirFS(dir)))
	for i := range 16 {
		ledger(empty, say(labels.Bad, "gus", fmt.Sprintf("%s/%s%d.png", domain, []string{"cat", "dog"}[i%2], i), ""))
	}
	fatal.Says(t, fatal.Err2(next(empty)), "source site "+domain+" has no label any more, and none of its 16 images")

	again, _, err := next(dir) // nothing was said
	if err != nil || len(again) != 1 || again[0].ID != first[0].ID {
		t.Errorf("asked for %+v, then %+v, %v", first, again, err)
	}
	ledger(dir, say(labels.Bad, "ann", first[0].ID, ""))
	if again, _, err = next(dir); err != nil || len(again) != 1 || again[0].ID == first[0].ID || again[0].Domain != domain {
		t.Fatalf("instead of %s: %+v, %v", first[0].ID, again, err)
	}
	ledger(dir, say(labels.Labelled, "ann", again[0].ID, class(again[0].ID)))
	rest, res, err := next(dir)
	if err != nil || rest != nil {
		t.Fatalf("%+v, %v", rest, err)
	}
	if !slices.Equal(res.Unsure, []string{unsure}) || res.Unqueried != 1 || res.Labels != 6-res.Withdrawn+1 || res.Withdrawn == 0 || res.Bad != res.Withdrawn+1 {
		t.Errorf("result %+v", res)
	}
	text, err := os.ReadFile(filepath.Join(dir, result.ResultFile))
	if err != nil || !strings.Contains(string(text), `"target_accuracy": null`) || strings.Contains(string(text), `"target_accuracy": 0`) {
		t.Errorf("nothing is measured: %s, %v", text, err)
	}
	read, err := result.ReadResult(os.DirFS(dir), result.ResultFile)
	if err != nil || read.Accuracy.Measured() || !slices.Equal(read.Unsure, res.Unsure) {
		t.Errorf("read %+v, %v", read, err)
	}
}
