package run_test

import (
	"errors"
	"image"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// An image of none of the classes uses one label of the budget and is not trained on. The trained
// run flags it as new, and a run that has one class more asks about it again, within the budget.
func TestNone(t *testing.T) {
	t.Parallel()
	root := unlabelled(t)
	c := peopleConfig(t, "night", "uniform-ce", "8")
	c.Network.Width = 16
	o := run.Options{Dir: filepath.Join(t.TempDir(), "run"), Root: root, Backend: "go", CacheDir: t.TempDir()}
	awaited := func(c run.Config, o run.Options) []labels.Image {
		t.Helper()
		var awaiting *run.ErrAwaitingLabels
		if _, err := run.Run(t.Context(), c, o); !errors.As(err, &awaiting) {
			t.Fatalf("nothing is awaited: %v", err)
		}
		return awaiting.Queries
	}
	say := func(dir string, e labels.Event) {
		t.Helper()
		l := fatal.Get(labels.Open(dir, nil, labels.Options{}))(t)
		defer l.Close()
		e.By = "ann"
		fatal.Get(l.Append(e))(t)
	}
	queries := awaited(c, o)
	none := queries[3].ID
	for _, q := range queries {
		if q.ID == none {
			say(o.Dir, labels.Event{Kind: labels.None, ID: q.ID})
		} else {
			say(o.Dir, labels.Event{Kind: labels.Labelled, ID: q.ID, Class: filepath.Base(q.ID)[:3]})
		}
	}
	o.Resume = true
	res := fatal.Get(run.Run(t.Context(), c, o))(t)
	if len(queries) != 8 || res.Labels != 7 || !slices.Equal(res.None, []string{none}) || res.Bad != 0 {
		t.Errorf("%d queries, result %+v", len(queries), res)
	}
	queried, err := result.ReadQueries(os.DirFS(o.Dir), result.QueriesFile)
	if err != nil || slices.ContainsFunc(queried, func(q result.Query) bool { return q.ID == none }) {
		t.Errorf("queries %+v, %v", queried, err)
	}

	f := fatal.Get(os.Open(filepath.Join(root, filepath.FromSlash(none))))(t)
	defer f.Close()
	m, _ := fatal.Get2(image.Decode(f))(t)
	p := fatal.Get(predict.OpenWith(run.Options{Dir: o.Dir, Backend: "go"}))(t)
	defer p.Close()
	if list, err := p.Images(m); err != nil || !list[0].New() {
		t.Errorf("the image itself: %+v, %v, %+v", list, err, p.Novelty)
	}
	// So are images that show nothing, whatever the labelled ones are.
	black, noise := image.NewGray(image.Rect(0, 0, 40, 30)), image.NewNRGBA(image.Rect(0, 0, 32, 32))
	for i := range noise.Pix {
		if noise.Pix[i] = 255; i%4 != 3 {
			noise.Pix[i] = uint8(i * i * 2654435761 >> 13)
		}
	}
	if list, err := p.Images(black, noise); err != nil || !list[0].New() || !list[1].New() {
		t.Errorf("a black image and noise: %+v, %v", list, err)
	}

	if e, err := run.Extend(run.Extension{Of: o.Dir, Budget: "10"}); err != nil || len(e.Again) != 0 || e.ToQuery != 3 {
		t.Errorf("without a new class: %+v, %v", e, err)
	}
	fatal.Says(t, fatal.Err(run.Extend(run.Extension{Of: o.Dir, Classes: []string{"+guitar"}, Budget: "7"})), "with 1 images of none of the old classes")
	for budget, more := range map[string]int{"": 0, "10": 2} {
		e, err := run.Extend(run.Extension{Of: o.Dir, Classes: []string{"+guitar"}, Budget: budget})
		if err != nil || !slices.Equal(e.Again, []string{none}) || e.Taken != 7 || e.ToQuery != 1+more {
			t.Fatalf("budget %q: %+v, %v", budget, e, err)
		}
		dir := filepath.Join(t.TempDir(), "more")
		fatal.If(t, e.Write(dir))
		again := run.Options{Dir: dir, Resume: true, Backend: "go", CacheDir: o.CacheDir}
		for range 2 { // the second time it goes on
			if list := awaited(e.Config, again); len(list) != 1+more || list[0].ID != none {
				t.Fatalf("budget %q: %+v are asked", budget, list)
			}
		}
		for _, q := range awaited(e.Config, again) {
			say(dir, labels.Event{Kind: labels.Labelled, ID: q.ID, Class: "guitar"})
		}
		if res, err := run.Run(t.Context(), e.Config, again); err != nil || res.Labels != 8+more || len(res.None) != 0 {
			t.Errorf("budget %q: %+v, %v", budget, res, err)
		}
	}
}

// With query rounds during training, images of none of the old classes that are queried again count
// in the budget.
func TestNoneWithinBudget(t *testing.T) {
	t.Parallel()
	c := configtest.New(t, "folder", "night", "entropy-ce", config.Authors, "schedule.epochs", 10, "schedule.timing", config.Published)
	c.Data.ImageSize, c.Network.Width, c.Exploration.Budget, c.Data.Classes = 16, 4, "8", []string{"cat", "dog"}
	c.Exploration.Oracle = config.People
	if len(c.Schedule.QueryAfter) == 0 || c.Exploration.InitialShare != 0.5 {
		t.Fatalf("%+v, %+v", c.Schedule, c.Exploration)
	}
	// label labels all queries of a run, all after the first n as showing none of the classes.
	label := func(c run.Config, o run.Options, n int) (queries int) {
		t.Helper()
		for {
			var awaiting *run.ErrAwaitingLabels
			_, err := run.Run(t.Context(), c, o)
			if o.Resume = true; err == nil {
				return queries
			}
			if !errors.As(err, &awaiting) {
				t.Fatal(err)
			}
			l := fatal.Get(labels.Open(o.Dir, nil, labels.Options{}))(t)
			for _, q := range awaiting.Queries {
				e := labels.Event{Kind: labels.Labelled, ID: q.ID, Class: filepath.Base(q.ID)[:3], By: "ann"}
				if queries++; queries > n {
					e.Kind, e.Class = labels.None, ""
				}
				fatal.Get(l.Append(e))(t)
			}
			fatal.If(t, l.Close())
		}
	}
	o := run.Options{Dir: filepath.Join(t.TempDir(), "run"), Root: unlabelled(t), Backend: "go", CacheDir: t.TempDir()}
	if n := label(c, o, 6); n != 8 {
		t.Fatalf("%d queries, want 8", n)
	}
	e, err := run.Extend(run.Extension{Of: o.Dir, Classes: []string{"+guitar"}, Budget: "10"})
	if err != nil || e.Taken != 6 || len(e.Again) != 2 {
		t.Fatalf("%+v, %v", e, err)
	}
	dir := filepath.Join(t.TempDir(), "more")
	fatal.If(t, e.Write(dir))
	if n := label(e.Config, run.Options{Dir: dir, Resume: true, Backend: "go", CacheDir: o.CacheDir}, 4); n != 4 {
		t.Errorf("%d queries after 6 labels, want 4 of a budget of 10", n)
	}
}
