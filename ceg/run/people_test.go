package run_test

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

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/learner/checkpoint"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

// answerer answers the open questions of runs over a data set.
type answerer struct {
	data  *datasets.Dataset
	truth datasets.Truth
}

func glyphs(t *testing.T) answerer {
	t.Helper()
	d, truth := fatal.Get2(datasets.Open("glyphs", "", datasets.Options{}))(t)
	return answerer{d, truth}
}

// class returns the name of an image's class.
func (a answerer) class(id string) string {
	i, _ := a.data.Index(id)
	return a.data.Classes[a.truth.Class(i)]
}

// label labels up to limit open queries, the last one first, in the name of the
// simulated oracle, and returns how many were open.
func (a answerer) label(t *testing.T, dir string, limit int) int {
	t.Helper()
	l := fatal.Get(labels.Open(dir, nil, labels.Options{}))(t)
	defer l.Close()
	var open []labels.Image
	l.View(func(s *labels.State) { open = s.OpenImages(-1) })
	slices.Reverse(open)
	for _, v := range open[:min(limit, len(open))] {
		fatal.Get(l.Append(labels.Event{Kind: labels.Labelled, ID: v.ID, Class: a.class(v.ID), By: "simulated"}))(t)
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
func TestPeopleLabelAsTheTruthDoes(t *testing.T) {
	if testing.Short() {
		t.Skip("trains three runs and starts processes")
	}
	a := glyphs(t)
	c := tiny(t, "ceg", config.Paper, "schedule.epoch_of", config.OverLabelled)
	simulated, _ := trained(t, c)
	want := outcome(t, simulated)
	c.Exploration.Oracle = config.People

	dir := filepath.Join(t.TempDir(), "run")
	o := run.Options{Dir: dir, Backend: "go"}
	for round := 0; ; round++ {
		_, err := run.Run(t.Context(), c, o)
		o.Resume = true
		if err == nil {
			break
		}
		var awaiting *run.ErrAwaitingLabels
		if !errors.As(err, &awaiting) || awaiting.Round != round || len(awaiting.Queries) != awaiting.Of || awaiting.Queries[0].Domain == "" {
			t.Fatalf("round %d: %v", round, err)
		}
		if round > 0 && (awaiting.Queries[0].QueryInfo == nil || awaiting.Queries[0].QueryInfo.Predicted == "" || len(awaiting.Queries[0].QueryInfo.Scores) != 7) {
			t.Errorf("a question of round %d says %+v", round, awaiting.Queries[0].QueryInfo)
		}
		half := len(awaiting.Queries) / 2
		a.label(t, dir, half)
		start := time.Now()
		if _, err := run.Run(t.Context(), c, o); !errors.As(err, &awaiting) || len(awaiting.Queries) != awaiting.Of-half {
			t.Errorf("half answered: %v", err)
		}
		if took := time.Since(start); took > 20*time.Second { // nothing is opened for that
			t.Errorf("it took %v to say so", took)
		}
		a.label(t, dir, 1000)
	}
	sameOutcome(t, "in peace", outcome(t, dir), want)

	killed := filepath.Join(t.TempDir(), "killed")
	raw := fatal.Get(json.Marshal(c))(t)
	fatal.If(t, os.WriteFile(killed+".json", raw, 0o644))
	checkpoint := filepath.Join(killed, checkpoint.File)
	for n := 0; !result.Finished(os.DirFS(killed)); n++ {
		if n > 60 {
			t.Fatal("the run does not come to an end")
		}
		before, _ := os.ReadFile(checkpoint)
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), childEnv+"="+killed)
		fatal.If(t, child.Start())
		timer := time.AfterFunc(time.Duration(n*n%7)*700*time.Millisecond+500*time.Millisecond, func() {
			if n%3 > 0 && n < 12 {
				child.Process.Kill()
			}
		})
		child.Wait()
		timer.Stop()
		if a.label(t, killed, 3+n) > 0 && n%4 == 1 && before != nil {
			// As if it had been killed when its questions were written and it was not saved.
			fatal.If(t, os.WriteFile(checkpoint, before, 0o666))
		}
	}
	sameOutcome(t, "killed", outcome(t, killed), want)
}

// unlabelled makes a folder of images without classes: photos's, and a third domain.
func unlabelled(t *testing.T) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "flat")
	for k, domain := range []string{"dawn", "day", "night"} {
		fatal.If(t, os.MkdirAll(filepath.Join(root, domain), 0o777))
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
	c := configtest.New(t, "folder", config.NoTarget, "ceg", config.Authors, "schedule.epochs", 4, "schedule.timing", config.Early)
	c.Data.ImageSize, c.Network.Width, c.Exploration.Budget, c.Exploration.InitialShare, c.Schedule.QueryAfter = 16, 4, "12", 0.5, []int{0, 1}
	c.Exploration.Oracle = config.People
	o := run.Options{Dir: filepath.Join(t.TempDir(), "run"), Root: root, Backend: "go", CacheDir: t.TempDir()}
	var setting *config.Error
	if _, err := run.Run(t.Context(), c, o); !errors.As(err, &setting) || setting.Path != "data.classes" {
		t.Errorf("no classes: %v", err)
	}
	c.Data.Classes = []string{"cat", "dog"}
	var existing []datasets.Label
	for i := range 6 {
		name := []string{"cat", "dog"}[i%2]
		existing = append(existing, datasets.Label{ID: fmt.Sprintf("day/%s%d.png", name, i), Class: name})
	}
	o.Labels = writeLabels(t, existing)
	c.Data.Labels = labels.Digest(existing)

	ledger := func(events ...labels.Event) {
		t.Helper()
		l := fatal.Get(labels.Open(o.Dir, nil, labels.Options{}))(t)
		defer l.Close()
		fatal.Get(l.Append(events...))(t)
	}
	say := func(kind labels.Kind, id string) labels.Event {
		e := labels.Event{Kind: kind, ID: id, By: "ann"}
		if kind == labels.Labelled || kind == labels.Corrected {
			e.Class = strings.TrimRight(filepath.Base(id), "0123456789.pn")[:3]
		}
		return e
	}
	domain := func(id string) string { return filepath.Dir(id) }
	var skipped, bad, wrong string
	var res *result.Result
	for n := 0; ; n++ {
		var awaiting *run.ErrAwaitingLabels
		var err error
		res, err = run.Run(t.Context(), c, o)
		o.Resume, o.Labels, o.Root = true, "", ""
		if err == nil {
			break
		}
		if !errors.As(err, &awaiting) || n > 9 {
			t.Fatal(err)
		}
		for i, q := range awaiting.Queries {
			switch {
			case slices.ContainsFunc(existing, func(l datasets.Label) bool { return l.ID == q.ID }):
				t.Errorf("%s is asked for, which was given", q.ID)
			case n == 0 && i == 0:
				skipped = q.ID
				ledger(say(labels.Skipped, q.ID))
			case n == 0 && i == 1:
				bad = q.ID
				ledger(say(labels.Bad, q.ID))
			case wrong == "" && q.Round == 0:
				wrong = q.ID
				e := say(labels.Labelled, q.ID)
				e.Class = map[string]string{"cat": "dog", "dog": "cat"}[e.Class]
				ledger(e)
			default:
				ledger(say(labels.Labelled, q.ID))
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
	if res.Target != config.NoTarget || res.Note == "" || res.Accuracy.Measured() || res.Bad != 1 || res.Unqueried == 0 {
		t.Errorf("result %+v", res)
	}
	queries, err := result.ReadQueries(os.DirFS(o.Dir), result.QueriesFile)
	if err != nil || len(queries) != res.Labels || slices.ContainsFunc(queries, func(q result.Query) bool { return q.ID == bad }) {
		t.Errorf("%d queries of %d labels, %v", len(queries), res.Labels, err)
	}
	e, err := run.Embed(t.Context(), run.Options{Dir: o.Dir, Backend: "go", CacheDir: o.CacheDir})
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
	fatal.If(t, os.WriteFile(path, []byte(text), 0o666))
	return path
}
