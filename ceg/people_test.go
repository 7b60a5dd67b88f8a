package ceg_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
)

// answerer answers the open questions of runs over a data set.
type answerer struct {
	data  *datasets.Dataset
	truth datasets.Truth
}

func glyphs(t *testing.T) answerer {
	t.Helper()
	d, truth, err := datasets.Open("glyphs", "", datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return answerer{d, truth}
}

// class returns the name of an image's class.
func (a answerer) class(id string) string {
	i, _ := a.data.Index(id)
	return a.data.Classes[a.truth.Class(i)]
}

// answer answers up to limit open questions, the last one first, in the name of the
// simulated oracle, and returns how many were open.
func (a answerer) answer(t *testing.T, dir string, limit int) int {
	t.Helper()
	l, err := labels.Open(dir, nil, labels.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var open []labels.Image
	l.View(func(s *labels.State) { open = s.Open(-1) })
	slices.Reverse(open)
	for _, v := range open[:min(limit, len(open))] {
		if _, err := l.Append(labels.Event{Kind: labels.Answered, ID: v.ID, Class: a.class(v.ID), By: "simulated"}); err != nil {
			t.Fatal(err)
		}
	}
	return len(open)
}

// sameOutcome compares the outcomes of runs that differ in who answers.
func sameOutcome(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if name != result.ConfigFile && got[name] != want[name] {
			t.Errorf("%s: %s is\n%.600q, want\n%.600q", what, name, got[name], want[name])
		}
	}
}

// A run whose labels come from people, through the ledger, in any order, ends as one
// that is told the truth, to the byte: whether it is killed on the way or not.
func TestPeopleAnswerAsTheTruthDoes(t *testing.T) {
	if testing.Short() {
		t.Skip("trains three runs and starts processes")
	}
	a := glyphs(t)
	c := tiny(t, "ceg", ceg.Paper)
	simulated, _ := run(t, c)
	want := outcome(t, simulated)
	c.Exploration.Oracle = ceg.People

	dir := filepath.Join(t.TempDir(), "run")
	o := ceg.Options{Dir: dir, Backend: "go"}
	for round := 0; ; round++ {
		_, err := ceg.Run(t.Context(), c, o)
		o.Resume = true
		if err == nil {
			break
		}
		var awaiting *ceg.ErrAwaitingLabels
		if !errors.As(err, &awaiting) || awaiting.Round != round || len(awaiting.Queries) != awaiting.Of || awaiting.Queries[0].Domain == "" {
			t.Fatalf("round %d: %v", round, err)
		}
		if round > 0 && (awaiting.Queries[0].Asking == nil || awaiting.Queries[0].Asking.Guess == "" || len(awaiting.Queries[0].Asking.Scores) != 7) {
			t.Errorf("a question of round %d says %+v", round, awaiting.Queries[0].Asking)
		}
		half := len(awaiting.Queries) / 2
		a.answer(t, dir, half)
		start := time.Now()
		if _, err := ceg.Run(t.Context(), c, o); !errors.As(err, &awaiting) || len(awaiting.Queries) != awaiting.Of-half {
			t.Errorf("half answered: %v", err)
		}
		if took := time.Since(start); took > 20*time.Second { // nothing is opened for that
			t.Errorf("it took %v to say so", took)
		}
		a.answer(t, dir, 1000)
	}
	sameOutcome(t, "in peace", outcome(t, dir), want)

	killed := filepath.Join(t.TempDir(), "killed")
	raw, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(killed+".json", raw, 0o644); err != nil {
		t.Fatal(err)
	}
	checkpoint := filepath.Join(killed, ceg.CheckpointFile)
	for n := 0; !result.Finished(os.DirFS(killed)); n++ {
		if n > 60 {
			t.Fatal("the run does not come to an end")
		}
		before, _ := os.ReadFile(checkpoint)
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), childEnv+"="+killed)
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(n*n%7)*700*time.Millisecond+500*time.Millisecond, func() {
			if n%3 > 0 && n < 12 {
				child.Process.Kill()
			}
		})
		child.Wait()
		timer.Stop()
		if a.answer(t, killed, 3+n) > 0 && n%4 == 1 && before != nil {
			// As if it had been killed when its questions were written and it was not saved.
			if err := os.WriteFile(checkpoint, before, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	sameOutcome(t, "killed", outcome(t, killed), want)
}

// unlabelled makes a folder of images without classes: photos's, and a third domain.
func unlabelled(t *testing.T) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "flat")
	for k, domain := range []string{"dawn", "day", "night"} {
		if err := os.MkdirAll(filepath.Join(root, domain), 0o777); err != nil {
			t.Fatal(err)
		}
		for i := range 16 {
			paint(t, filepath.Join(root, domain, fmt.Sprintf("%s%d.png", []string{"cat", "dog"}[i%2], i)), uint8(40*k+5*i))
		}
	}
	return root
}

// Without any label of a target a run comes to its end, and says what it lacks; skipped
// images are replaced within their domain, bad ones leave, corrections are taken up.
func TestPeopleLabelAFolder(t *testing.T) {
	root := unlabelled(t)
	c, err := ceg.NewConfig("folder", ceg.NoTarget, "ceg", ceg.Authors)
	if err != nil {
		t.Fatal(err)
	}
	c.SetEpochs(4)
	if err := c.SetTiming(ceg.Early); err != nil {
		t.Fatal(err)
	}
	c.Data.ImageSize, c.Network.Width, c.Exploration.Budget, c.Exploration.InitialShare, c.Schedule.QueryAfter = 16, 4, "12", 0.5, []int{0, 1}
	c.Exploration.Oracle = ceg.People
	o := ceg.Options{Dir: filepath.Join(t.TempDir(), "run"), Root: root, Backend: "go", CacheDir: t.TempDir()}
	var setting *ceg.SettingError
	if _, err := ceg.Run(t.Context(), c, o); !errors.As(err, &setting) || setting.Setting != "classes" {
		t.Errorf("no classes: %v", err)
	}
	c.Data.Classes = []string{"cat", "dog"}
	var given []datasets.Label
	for i := range 6 {
		name := []string{"cat", "dog"}[i%2]
		given = append(given, datasets.Label{ID: fmt.Sprintf("day/%s%d.png", name, i), Class: name})
	}
	o.Labels = writeLabels(t, given)
	c.Data.Labels = labels.Digest(given)

	ledger := func(events ...labels.Event) {
		t.Helper()
		l, err := labels.Open(o.Dir, nil, labels.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if _, err := l.Append(events...); err != nil {
			t.Fatal(err)
		}
	}
	say := func(kind labels.Kind, id string) labels.Event {
		e := labels.Event{Kind: kind, ID: id, By: "ann"}
		if kind == labels.Answered || kind == labels.Corrected {
			e.Class = strings.TrimRight(filepath.Base(id), "0123456789.pn")[:3]
		}
		return e
	}
	domain := func(id string) string { return filepath.Dir(id) }
	var skipped, bad, wrong string
	var res *result.Result
	for n := 0; ; n++ {
		var awaiting *ceg.ErrAwaitingLabels
		res, err = ceg.Run(t.Context(), c, o)
		o.Resume, o.Labels, o.Root = true, "", ""
		if err == nil {
			break
		}
		if !errors.As(err, &awaiting) || n > 9 {
			t.Fatal(err)
		}
		for i, q := range awaiting.Queries {
			switch {
			case slices.ContainsFunc(given, func(l datasets.Label) bool { return l.ID == q.ID }):
				t.Errorf("%s is asked for, which was given", q.ID)
			case n == 0 && i == 0:
				skipped = q.ID
				ledger(say(labels.Skipped, q.ID))
			case n == 0 && i == 1:
				bad = q.ID
				ledger(say(labels.Bad, q.ID))
			case wrong == "" && q.Round == 0:
				wrong = q.ID
				e := say(labels.Answered, q.ID)
				e.Class = map[string]string{"cat": "dog", "dog": "cat"}[e.Class]
				ledger(e)
			default:
				ledger(say(labels.Answered, q.ID))
			}
		}
		switch n {
		case 1:
			if len(awaiting.Queries) != 2 || awaiting.Round != 0 || domain(awaiting.Queries[0].ID) != domain(skipped) || domain(awaiting.Queries[1].ID) != domain(bad) {
				t.Errorf("asked instead of %s and %s: %+v", skipped, bad, awaiting.Queries)
			}
		case 2:
			ledger(say(labels.Corrected, wrong))
		}
	}
	if res.Target != ceg.NoTarget || res.Note == "" || res.Accuracy.Measured() || res.Bad != 1 || res.Given == 0 {
		t.Errorf("result %+v", res)
	}
	queries, err := result.ReadQueries(os.DirFS(o.Dir), result.QueriesFile)
	if err != nil || len(queries) != res.Labels || slices.ContainsFunc(queries, func(q result.Query) bool { return q.ID == bad }) {
		t.Errorf("%d queries of %d labels, %v", len(queries), res.Labels, err)
	}
	e, err := ceg.Embed(t.Context(), ceg.Options{Dir: o.Dir, Backend: "go", CacheDir: o.CacheDir})
	if err != nil || len(e.DomainNames) != 3 {
		t.Errorf("embedding: %v", err)
	}
	records, _, err := result.ReadRecords(os.DirFS(o.Dir), result.RecordsFile, result.WholeFile)
	if err != nil || len(records) != 4 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	if err := res.Verify(records); err != nil {
		t.Error(err)
	}
}

// writeLabels writes a file of labels.
func writeLabels(t *testing.T, list []datasets.Label) string {
	t.Helper()
	text := "id,label\n"
	for _, l := range list {
		text += l.ID + "," + l.Class + "\n"
	}
	path := filepath.Join(t.TempDir(), "labels.csv")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// A run that waits goes on by itself, and holds nothing meanwhile.
func TestWait(t *testing.T) {
	root := unlabelled(t)
	c, err := ceg.NewConfig("folder", "night", "uniform-ce", ceg.Authors)
	if err != nil {
		t.Fatal(err)
	}
	c.SetEpochs(2)
	if err := c.SetTiming(ceg.Once); err != nil {
		t.Fatal(err)
	}
	c.Data.ImageSize, c.Network.Width, c.Exploration.Budget, c.Data.Classes = 16, 4, "6", []string{"cat", "dog"}
	c.Exploration.Oracle = ceg.People
	dir := filepath.Join(t.TempDir(), "run")
	asked := make(chan struct{})
	go func() {
		defer close(asked)
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
			l.View(func(s *labels.State) { list = s.Open(-1) })
			if open = len(list); open > 0 {
				if d, err := waitForLock(dir, c); err != nil {
					t.Errorf("while it waits: %v", err)
				} else {
					d.Close()
				}
			}
			for i, v := range list {
				if _, err := l.Append(labels.Event{Kind: labels.Answered, ID: v.ID, Class: c.Data.Classes[i%2], By: "ann"}); err != nil {
					t.Error(err)
				}
			}
			l.Close()
		}
	}()
	res, err := ceg.Run(t.Context(), c, ceg.Options{Dir: dir, Root: root, Backend: "go", CacheDir: t.TempDir(), Wait: true})
	<-asked
	if err != nil || res.Labels != 6 || !strings.Contains(res.Note, "night") {
		t.Errorf("%+v, %v", res, err)
	}
}

// waitForLock takes the run's folder as soon as nobody holds it.
func waitForLock(dir string, c ceg.Config) (d *result.Dir, err error) {
	for range 500 {
		if d, err = result.Resume(dir, c); !errors.Is(err, result.ErrLocked) {
			return d, err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil, err
}

// Whoever labels everything is told that a method with losses on unlabelled images has
// nothing left to do.
func TestPeopleLabelEverything(t *testing.T) {
	root := unlabelled(t)
	c, err := ceg.NewConfig("folder", "night", "ceg", ceg.Authors)
	if err != nil {
		t.Fatal(err)
	}
	c.SetEpochs(2)
	if err := c.SetTiming(ceg.Once); err != nil {
		t.Fatal(err)
	}
	c.Data.ImageSize, c.Network.Width, c.Exploration.Budget, c.Data.Classes = 16, 4, "4", []string{"cat", "dog"}
	c.Exploration.Oracle = ceg.People
	o := ceg.Options{Dir: filepath.Join(t.TempDir(), "run"), Root: root, Backend: "go", CacheDir: t.TempDir()}
	var awaiting *ceg.ErrAwaitingLabels
	if _, err := ceg.Run(t.Context(), c, o); !errors.As(err, &awaiting) {
		t.Fatal(err)
	}
	l, err := labels.Open(o.Dir, nil, labels.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var all []labels.Event
	for _, domain := range []string{"dawn", "day"} {
		for i := range 16 {
			class := c.Data.Classes[i%2]
			all = append(all, labels.Event{Kind: labels.Answered, ID: fmt.Sprintf("%s/%s%d.png", domain, class, i), Class: class, By: "ann"})
		}
	}
	if _, err := l.Append(all...); err != nil {
		t.Fatal(err)
	}
	l.Close()
	o.Resume = true
	if _, err := ceg.Run(t.Context(), c, o); err == nil || !strings.Contains(err.Error(), "all 32 images that are trained on have labels now") {
		t.Errorf("error %v", err)
	}
}

// What holds where annotators differ is said in the ledger. A domain whose labels are all
// taken back gets another question, beside the budget, until there is nothing to ask; and
// what somebody is unsure of is listed in the end.
func TestPeopleWithdrawADomain(t *testing.T) {
	root := unlabelled(t)
	c, err := ceg.NewConfig("folder", ceg.NoTarget, "uniform-ce", ceg.Authors)
	if err != nil {
		t.Fatal(err)
	}
	c.SetEpochs(2)
	if err := c.SetTiming(ceg.Once); err != nil {
		t.Fatal(err)
	}
	c.Data.ImageSize, c.Network.Width, c.Exploration.Budget, c.Data.Classes = 16, 4, "6", []string{"cat", "dog"}
	c.Exploration.Oracle = ceg.People
	dir, cache := filepath.Join(t.TempDir(), "run"), t.TempDir()
	ledger := func(dir string, events ...labels.Event) (labelled []labels.Label) {
		t.Helper()
		l, err := labels.Open(dir, nil, labels.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for _, e := range events {
			if e.At.IsZero() {
				e.At = time.Now()
			}
			if _, err := l.Append(e); err != nil {
				t.Fatal(err)
			}
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
	observe := func(e ceg.Event) {
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
		res, err := ceg.Run(t.Context(), c, ceg.Options{Dir: dir, Root: root, Backend: "go", CacheDir: cache, Resume: statErr == nil, Observe: observe})
		var awaiting *ceg.ErrAwaitingLabels
		if errors.As(err, &awaiting) {
			return awaiting.Queries, res, nil
		}
		return nil, res, err
	}

	asked, _, err := next(dir)
	if err != nil || len(asked) != 6 {
		t.Fatalf("%v, %v", asked, err)
	}
	unsure, split := asked[0].ID, asked[1].ID
	domain = filepath.Dir(split)
	ledger(dir, labels.Event{Kind: labels.Ruled, Rule: labels.Majority.String(), By: "ann"}, say(labels.Unsure, "ann", unsure, ""),
		say(labels.Answered, "bob", split, class(split)), say(labels.Answered, "carol", split, other[class(split)]))
	for _, q := range asked[1:] {
		ledger(dir, labels.Event{Kind: labels.Answered, By: "ann", ID: q.ID, Class: class(q.ID), At: time.Now().Add(-time.Hour)})
	}
	if asked, _, err = next(dir); err != nil || len(asked) != 1 || filepath.Dir(asked[0].ID) != filepath.Dir(unsure) {
		t.Fatalf("instead of %s: %+v, %v", unsure, asked, err)
	}
	ledger(dir, say(labels.Answered, "ann", asked[0].ID, class(asked[0].ID)))

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
	if err := os.CopyFS(empty, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	for i := range 16 {
		ledger(empty, say(labels.Bad, "gus", fmt.Sprintf("%s/%s%d.png", domain, []string{"cat", "dog"}[i%2], i), ""))
	}
	if _, _, err := next(empty); err == nil || !strings.Contains(err.Error(), "source domain "+domain+" has no label any more, and none of its 16 images") {
		t.Errorf("all of %s are bad: %v", domain, err)
	}

	again, _, err := next(dir) // nothing was said
	if err != nil || len(again) != 1 || again[0].ID != first[0].ID {
		t.Errorf("asked for %+v, then %+v, %v", first, again, err)
	}
	ledger(dir, say(labels.Bad, "ann", first[0].ID, ""))
	if again, _, err = next(dir); err != nil || len(again) != 1 || again[0].ID == first[0].ID || again[0].Domain != domain {
		t.Fatalf("instead of %s: %+v, %v", first[0].ID, again, err)
	}
	ledger(dir, say(labels.Answered, "ann", again[0].ID, class(again[0].ID)))
	rest, res, err := next(dir)
	if err != nil || rest != nil {
		t.Fatalf("%+v, %v", rest, err)
	}
	if !slices.Equal(res.Unsure, []string{unsure}) || res.Given != 1 || res.Labels != 6-res.Withdrawn+1 || res.Withdrawn == 0 || res.Bad != res.Withdrawn+1 {
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
