package study

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/learner/embedding/shard"
	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/study/studytest"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func smallStudy() Study {
	return Study{Name: "small", Block: Block{
		Dataset: "glyphs", Preset: config.Paper, Methods: []string{"uniform", "ceg"}, Targets: []string{"photo", "sketch"},
		Seeds: []uint64{1, 2}, Set: map[string]any{"schedule.epochs": 3},
	}}
}

// calls counts what a fake runner does.
type calls struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *calls) log(what string, _ run.Options) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.n[what]++
}

func TestRunAgain(t *testing.T) {
	dir := t.TempDir()
	var c calls
	broken := true
	f := studytest.Fake{Log: c.log, Fail: func(c run.Config, epoch int) error {
		if broken && epoch == 1 && c.Seed == 2 && c.Method == "ceg" {
			if c.Data.Target == "photo" {
				panic("no such matrix")
			}
			return errors.New("not yet")
		}
		return nil
	}}
	run := func(s Study) Report {
		t.Helper()
		return fatal.Get(s.Run(context.Background(), Options{Dir: dir, Runner: f.Run, Jobs: 3}))(t)
	}
	r := run(smallStudy())
	if len(r.Finished) != 6 || len(r.Failed) != 2 || r.Repeated != 0 || c.n["end"] != 6 {
		t.Fatalf("report is %+v, calls %v", r, c.n)
	}
	if e := r.Failed[0].Err.Error(); !strings.HasPrefix(e, "panic: no such matrix\n") || !strings.Contains(e, "fake.go") {
		t.Errorf("the panic is %q", e)
	}
	if e := r.Failed[1].Err.Error(); e != "not yet" {
		t.Errorf("the other failure is %q", e)
	}
	folder, err := report.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if list, err := folder.Failures(); err != nil || len(list) != 2 {
		t.Errorf("failures are %v, %v", list, err)
	}
	// Failed runs are tried again, and go on from where they were; others are not.
	broken, c.n = false, nil
	r = run(smallStudy())
	if len(r.Finished) != 8 || len(r.Failed) != 0 || r.Repeated != 6 || c.n["begin"] != 2 || c.n["epoch"] != 2 {
		t.Errorf("report is %+v, calls %v", r, c.n)
	}
	if list, err := folder.Failures(); err != nil || len(list) != 0 {
		t.Errorf("failures are %v, %v", list, err)
	}
	// More seeds: the old runs stay. Another study shares equal runs.
	more := smallStudy()
	more.Seeds = []uint64{1, 2, 3}
	other := smallStudy()
	other.Name, other.Methods, other.Sweep = "other", []string{"ceg"}, map[string][]float64{"delta": {0.3, 0.5}}
	c.n = nil
	if r = run(more); len(r.Finished) != 12 || r.Repeated != 8 || c.n["begin"] != 4 {
		t.Errorf("report is %+v, calls %v", r, c.n)
	}
	c.n = nil
	if r = run(other); len(r.Finished) != 8 || r.Repeated != 4 || c.n["begin"] != 4 {
		t.Errorf("report is %+v, calls %v", r, c.n)
	}
	if folder, err = report.Open(dir); err != nil || !slices.Equal(folder.Plans, []string{"other", "small"}) || len(folder.Runs) != 20 {
		t.Errorf("folder is %+v, %v", folder, err)
	}
	fatal.Says(t, fatal.Err(report.Open(dir, "third")), `has no study "third"`)
}

func TestShards(t *testing.T) {
	dir := t.TempDir()
	seen := map[string]int{}
	for i := range 3 {
		r := fatal.Get(smallStudy().Run(context.Background(), Options{Dir: dir, Runner: studytest.Fake{}.Run, Shard: shard.Shard{Index: i, Count: 3}}))(t)
		if r.Repeated != 0 || len(r.Finished) < 2 {
			t.Errorf("shard %d: %+v", i, r)
		}
		for _, run := range r.Finished {
			seen[run.Dir]++
		}
	}
	for dir, n := range seen {
		if n != 1 {
			t.Errorf("%s is in %d shards", dir, n)
		}
	}
	if len(seen) != 8 {
		t.Errorf("the shards have %d of 8 runs", len(seen))
	}
}

// A run that another process holds is left alone and found finished later.
func TestBusyRuns(t *testing.T) {
	dir := t.TempDir()
	p := plan(t, smallStudy())
	other := fatal.Get(result.Open(filepath.Join(dir, p.Runs[0].Dir), p.Runs[0].Config, result.Place{}, false))(t)
	folder := report.NewFolder(dir)
	if s, err := folder.State(p.Runs[0].PlannedRun); err != nil || s != result.Running {
		t.Errorf("a locked run is %v, %v", s, err)
	}
	var busy, begun int
	r, err := p.Run(context.Background(), Options{Dir: dir, Runner: studytest.Fake{}.Run, Poll: time.Millisecond, Observe: func(e Event) {
		switch e.Kind {
		case Busy:
			if busy++; busy == 3 {
				if e.Progress.Finished != 7 {
					t.Errorf("with %d of the others finished we ask again", e.Progress.Finished)
				}
				other.Close() // killed
				if s, err := folder.State(p.Runs[0].PlannedRun); err != nil || s != result.Interrupted {
					t.Errorf("an abandoned run is %v, %v", s, err)
				}
			}
		case Started:
			begun++
		}
	}})
	if err != nil || len(r.Finished) != 8 || busy != 3 || begun != 8 {
		t.Errorf("report is %+v, %v; busy %d times, begun %d", r, err, busy, begun)
	}
}

// What a process on the same folder has just failed at is not tried again.
func TestFailedElsewhere(t *testing.T) {
	dir := t.TempDir()
	p := plan(t, smallStudy())
	old, fresh := p.Runs[1], p.Runs[2]
	fatal.If(t, result.WriteFailure(dir, old.Dir, errors.New("yesterday")))
	first := true
	r, err := p.Run(context.Background(), Options{Dir: dir, Runner: studytest.Fake{}.Run, Observe: func(e Event) {
		if first {
			first = false
			if err := result.WriteFailure(dir, fresh.Dir, errors.New("just now")); err != nil {
				t.Error(err)
			}
		}
	}})
	if err != nil || len(r.Finished) != 7 || len(r.Failed) != 1 || r.Failed[0].Run.Dir != fresh.Dir || r.Failed[0].Err.Error() != "just now" {
		t.Errorf("report is %+v, %v", r, err)
	}
	if _, ok := result.FailureTime(dir, old.Dir); ok {
		t.Error("a run that succeeded keeps the mark of its failure")
	}
}

// A run whose folder is taken away fails, and writes nothing beside the folder's new content.
func TestTakenAway(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("open files hold their folder")
	}
	dir := t.TempDir()
	p := plan(t, smallStudy())
	lost := p.Runs[0].Dir
	runner := studytest.Fake{Log: func(what string, o run.Options) {
		if what == "epoch" && filepath.Base(o.Dir) == lost {
			if err := os.Rename(o.Dir, o.Dir+".moved"); err != nil {
				t.Error(err)
			}
		}
	}}.Run
	r, err := p.Run(context.Background(), Options{Dir: dir, Runner: runner})
	if err != nil || len(r.Finished) != 7 || len(r.Failed) != 1 || !errors.Is(r.Failed[0].Err, result.ErrTaken) {
		t.Errorf("report is %+v, %v", r, err)
	}
	if text, err := result.ReadFailure(dir, lost); err == nil {
		t.Errorf("the failure is noted: %s", text)
	}
}

func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("stop")
	r, err := smallStudy().Run(ctx, Options{Dir: dir, Runner: studytest.Fake{}.Run, Observe: func(e Event) {
		if e.Kind == Training && e.Progress.Finished == 2 {
			cancel(stop)
		}
	}})
	if !errors.Is(err, stop) || len(r.Finished) != 2 || len(r.Left) != 6 || len(r.Failed) != 0 {
		t.Errorf("%d finished, %d left, %v failed, %v", len(r.Finished), len(r.Left), r.Failed, err)
	}
	f := fatal.Get(report.Open(dir))(t)
	var states []string
	for _, run := range f.Runs {
		s := fatal.Get(f.State(run))(t)
		states = append(states, s.String())
	}
	if got := strings.Join(states[:4], ", "); got != "finished, finished, interrupted, not started" {
		t.Errorf("states are %s", got)
	}
}

// Weights are opened, counted by their name, and missing ones fail the run.
func TestWeights(t *testing.T) {
	dir := t.TempDir()
	s := smallStudy()
	s.Methods, s.Targets, s.Weights = []string{"ceg"}, []string{"photo"}, filepath.Join("..", "nets", "weights", "testdata", "tiny.safetensors")
	var got []string
	runner := func(ctx context.Context, c run.Config, o run.Options) (*result.Result, error) {
		got = append(got, fmt.Sprint(c.Network.Weights, " ", c.Optimizer.BackboneRate, " ", o.Weights.File != nil))
		return studytest.Fake{}.Run(ctx, c, o)
	}
	r, err := s.Run(context.Background(), Options{Dir: dir, Runner: runner})
	want := "tiny.safetensors (unknown, sha256 e12b2519dc78) 0.003 true"
	if err != nil || len(r.Failed) > 0 || !slices.Equal(got, []string{want, want}) {
		t.Errorf("runs start from %q, %v, %v", got, r.Failed, err)
	}
	f := fatal.Get(report.Open(dir))(t)
	tables := fatal.Get(f.Table("methods", report.TableOptions{}))(t)
	if text := strings.Join(tables[0].Notes, "\n"); !strings.Contains(text, "px from tiny.safetensors (unknown, sha256 e12b2519dc78), ") {
		t.Errorf("the table does not name the weights:\n%s", text)
	}
	s.Weights = "/elsewhere/tiny.safetensors"
	if p := plan(t, s); p.Runs[0].Dir != r.Finished[0].Dir {
		t.Errorf("the place of the weights moves %s to %s", r.Finished[0].Dir, p.Runs[0].Dir)
	}
	s.Weights = "none.safetensors"
	if r, err = s.Run(context.Background(), Options{Dir: dir, Runner: runner}); err != nil || len(r.Failed) != 2 || !strings.Contains(r.Failed[0].Err.Error(), "no such file") {
		t.Errorf("missing weights: %+v, %v", r, err)
	}
}

// A data set without a folder fails its own runs and no others.
func TestRoots(t *testing.T) {
	s := smallStudy()
	s.Methods, s.Seeds = nil, []uint64{1}
	s.Runs = []Block{{Methods: []string{"ceg"}}, {Methods: []string{"ceg"}, Dataset: "pacs", Targets: []string{"photo"}}}
	runner := func(ctx context.Context, c run.Config, o run.Options) (*result.Result, error) {
		if c.Data.Dataset == "pacs" && o.SplitsDir != "/data/lists" {
			t.Errorf("PACS lists in %q, want /data/lists", o.SplitsDir)
		}
		if want := map[string]string{"pacs": "/data/pacs"}[c.Data.Dataset]; o.Root != want {
			t.Errorf("the root of %s is %q", c.Data.Dataset, o.Root)
		}
		return studytest.Fake{}.Run(ctx, c, o)
	}
	dir := t.TempDir()
	r, err := s.Run(context.Background(), Options{Dir: dir, Runner: runner})
	if err != nil || len(r.Finished) != 2 || len(r.Failed) != 1 || !strings.Contains(r.Failed[0].Err.Error(), "the data set pacs needs a folder (--root pacs=DIR, or $LEDG_DATA/pacs)") {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = s.Run(context.Background(), Options{Dir: dir, Runner: runner, Roots: map[string]string{"pacs": "/data/pacs"}, SplitsDir: "/data/lists"})
	if err != nil || len(r.Finished) != 3 || r.Repeated != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A run with data.labels gets the file of that digest, and fails without one.
func TestStudyLabels(t *testing.T) {
	table := filepath.Join(t.TempDir(), "sites.csv")
	fatal.If(t, os.WriteFile(table, []byte("path,site\na,north\n"), 0o666))
	list := fatal.Get(labels.ReadFile(table))(t)
	s := Study{Name: "sites", Block: Block{Dataset: "features", Methods: []string{"uniform-ce"}, Targets: []string{"north"}, Seeds: []uint64{1},
		Set: map[string]any{"data.labels": labels.Digest(list)}}}
	var got []string
	runner := func(ctx context.Context, c config.Config, o run.Options) (*result.Result, error) {
		got = append(got, o.Labels)
		return studytest.Fake{}.Run(ctx, c, o)
	}
	dir, roots := t.TempDir(), map[string]string{"features": "features.npz"}
	r, err := s.Run(t.Context(), Options{Dir: dir, Runner: runner, Roots: roots})
	if err != nil || len(r.Failed) != 1 || !strings.Contains(r.Failed[0].Err.Error(), "no file of labels has this digest") {
		t.Errorf("without the file: %+v, %v", r, err)
	}
	if r, err = s.Run(t.Context(), Options{Dir: dir, Runner: runner, Roots: roots, Labels: []string{table}}); err != nil || len(r.Failed) != 0 {
		t.Errorf("with the file: %+v, %v", r, err)
	}
	if !slices.Equal(got, []string{table}) {
		t.Errorf("runs got %q, want %q", got, table)
	}
}
