package experiment

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/result"
)

// childEnv makes the test binary run studyFile with the fake runner in a folder;
// it prints a line for each thing that a runner does.
const childEnv = "LEDG_TEST_STUDY"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		os.Exit(child(dir))
	}
	os.Exit(m.Run())
}

func child(dir string) int {
	s, err := Parse("s.yaml", []byte(studyFile))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var mu sync.Mutex
	f := fake{epoch: time.Millisecond, fail: brokenSeed, log: func(what string, o ceg.Options) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Println(what, filepath.Base(o.Dir))
	}}
	_, err = s.Run(context.Background(), Options{Dir: dir, Jobs: 2, Runner: f.run, Poll: 5 * time.Millisecond})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// brokenSeed makes one run fail after its second epoch.
func brokenSeed(c ceg.Config, epoch int) error {
	if c.Method == "uniform" && c.Seed == 1 && c.Data.Target == "photo" && c.Exploration.Budget == "5%" && epoch == 1 {
		return errors.New("the disk is on fire")
	}
	return nil
}

// files reads all files in a folder but locks.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == ".lock" {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, path))
		all[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Killed again and again, then finished by two processes at once, a study ends
// with the files of one that ran through: each run finished once, none lost.
func TestKilledAndSharedStudy(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a dozen processes")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	start := func(dir string) (*exec.Cmd, *bufio.Scanner, *bytes.Buffer) {
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), childEnv+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd, bufio.NewScanner(out), &errs
	}
	wholeDir, dir := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "killed")
	if code := func() int { c, out, _ := start(wholeDir); drain(out); c.Wait(); return c.ProcessState.ExitCode() }(); code != 0 {
		t.Fatalf("the whole study ended with %d", code)
	}
	ended := map[string]int{}
	for _, lines := range []int{1, 2, 9, 30, 17} {
		cmd, out, _ := start(dir)
		for range lines {
			out.Scan()
			if run, ok := strings.CutPrefix(out.Text(), "end "); ok {
				ended[run]++
			}
		}
		cmd.Process.Kill()
		for _, line := range drain(out) { // said before the signal came
			if run, ok := strings.CutPrefix(line, "end "); ok {
				ended[run]++
			}
		}
		cmd.Wait()
	}
	type process struct {
		cmd   *exec.Cmd
		errs  *bytes.Buffer
		lines []string
	}
	var two [2]process
	var reading sync.WaitGroup
	for i := range two {
		cmd, out, errs := start(dir)
		two[i] = process{cmd: cmd, errs: errs}
		reading.Go(func() { two[i].lines = drain(out) })
	}
	reading.Wait()
	for i, p := range two {
		if err := p.cmd.Wait(); err != nil {
			t.Fatalf("process %d: %v: %s", i, err, p.errs)
		}
		for _, line := range p.lines {
			if run, ok := strings.CutPrefix(line, "end "); ok {
				ended[run]++
			}
		}
	}
	for run, n := range ended {
		if n > 1 {
			t.Errorf("%s was finished %d times", run, n)
		}
	}
	got, want := files(t, dir), files(t, wholeDir)
	for path := range want {
		if got[path] != want[path] {
			t.Errorf("%s is %q, want %q", path, got[path], want[path])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}

	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	count := map[State]int{}
	for _, r := range f.Runs {
		s, err := f.State(r)
		if err != nil {
			t.Fatal(err)
		}
		count[s]++
	}
	if len(f.Runs) != 36 || count[Complete] != 35 || count[HasFailed] != 1 {
		t.Errorf("states are %v of %d runs", count, len(f.Runs))
	}
	list, err := f.Failures()
	if err != nil || len(list) != 1 || list[0].Err.Error() != "the disk is on fire" || list[0].Run.Label() != "uniform" {
		t.Errorf("failures are %v, %v", list, err)
	}
}

func drain(out *bufio.Scanner) (lines []string) {
	for out.Scan() {
		lines = append(lines, out.Text())
	}
	return lines
}

func smallStudy() Study {
	return Study{Name: "small", Block: Block{
		Dataset: "glyphs", Preset: ceg.Paper, Methods: []string{"uniform", "ceg"}, Targets: []string{"photo", "sketch"},
		Seeds: []uint64{1, 2}, Set: map[string]any{"schedule.epochs": 3},
	}}
}

// calls counts what a fake runner does.
type calls struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *calls) log(what string, _ ceg.Options) {
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
	f := fake{log: c.log, fail: func(c ceg.Config, epoch int) error {
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
		report, err := s.Run(context.Background(), Options{Dir: dir, Runner: f.run, Jobs: 3})
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	r := run(smallStudy())
	if len(r.Finished) != 6 || len(r.Failed) != 2 || r.Repeated != 0 || c.n["end"] != 6 {
		t.Fatalf("report is %+v, calls %v", r, c.n)
	}
	if e := r.Failed[0].Err.Error(); !strings.HasPrefix(e, "panic: no such matrix\n") || !strings.Contains(e, "fake_test.go") {
		t.Errorf("the panic is %q", e)
	}
	if e := r.Failed[1].Err.Error(); e != "not yet" {
		t.Errorf("the other failure is %q", e)
	}
	folder, err := Open(dir)
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
	// More seeds: the old runs stay. Another study shares what is the same.
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
	if folder, err = Open(dir); err != nil || !slices.Equal(folder.Plans, []string{"other", "small"}) || len(folder.Runs) != 20 {
		t.Errorf("folder is %+v, %v", folder, err)
	}
	if _, err := Open(dir, "third"); err == nil || !strings.Contains(err.Error(), `has no study "third"`) {
		t.Errorf("opened a study that is not there: %v", err)
	}
}

func TestShards(t *testing.T) {
	dir := t.TempDir()
	seen := map[string]int{}
	for i := range 3 {
		r, err := smallStudy().Run(context.Background(), Options{Dir: dir, Runner: fake{}.run, Shard: Shard{i, 3}})
		if err != nil {
			t.Fatal(err)
		}
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
	for text, want := range map[string]Shard{"0/1": {0, 1}, "2/3": {2, 3}} {
		if s, err := ParseShard(text); err != nil || s != want {
			t.Errorf("ParseShard(%q) = %v, %v", text, s, err)
		}
	}
	for _, text := range []string{"", "1", "3/3", "-1/3", "0/0", "a/b", "1/2/3"} {
		if s, err := ParseShard(text); err == nil {
			t.Errorf("ParseShard(%q) = %v", text, s)
		}
	}
}

// A run that another process holds is left alone and found finished later.
func TestBusyRuns(t *testing.T) {
	dir := t.TempDir()
	p := plan(t, smallStudy())
	other, err := result.Create(filepath.Join(dir, p.Runs[0].Dir), p.Runs[0].Config)
	if err != nil {
		t.Fatal(err)
	}
	folder := &Folder{Path: dir}
	if s, err := folder.State(p.Runs[0]); err != nil || s != InWork {
		t.Errorf("a locked run is %v, %v", s, err)
	}
	var busy, begun int
	r, err := p.Run(context.Background(), Options{Dir: dir, Runner: fake{}.run, Poll: time.Millisecond, Observe: func(e Event) {
		switch e.Kind {
		case Busy:
			if busy++; busy == 3 {
				if e.Progress.Finished != 7 {
					t.Errorf("with %d of the others finished we ask again", e.Progress.Finished)
				}
				other.Close() // killed
				if s, err := folder.State(p.Runs[0]); err != nil || s != Partial {
					t.Errorf("an abandoned run is %v, %v", s, err)
				}
			}
		case Started:
			begun++
		}
	}})
	if err != nil || len(r.Finished) != 8 || busy != 3 || begun != 8+3 {
		t.Errorf("report is %+v, %v; busy %d times, begun %d", r, err, busy, begun)
	}
}

// What a process on the same folder has just failed at is not tried again.
func TestFailedElsewhere(t *testing.T) {
	dir := t.TempDir()
	p := plan(t, smallStudy())
	old, fresh := p.Runs[1], p.Runs[2]
	if err := writeMark(dir, old.Dir, errors.New("yesterday")); err != nil {
		t.Fatal(err)
	}
	first := true
	r, err := p.Run(context.Background(), Options{Dir: dir, Runner: fake{}.run, Observe: func(e Event) {
		if first {
			first = false
			if err := writeMark(dir, fresh.Dir, errors.New("just now")); err != nil {
				t.Error(err)
			}
		}
	}})
	if err != nil || len(r.Finished) != 7 || len(r.Failed) != 1 || r.Failed[0].Run.Dir != fresh.Dir || r.Failed[0].Err.Error() != "just now" {
		t.Errorf("report is %+v, %v", r, err)
	}
	if _, ok := markTime(dir, old.Dir); ok {
		t.Error("a run that succeeded keeps the mark of its failure")
	}
}

func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("stop")
	r, err := smallStudy().Run(ctx, Options{Dir: dir, Runner: fake{}.run, Observe: func(e Event) {
		if e.Kind == Training && e.Progress.Finished == 2 {
			cancel(stop)
		}
	}})
	if !errors.Is(err, stop) || len(r.Finished) != 2 || len(r.Left) != 6 || len(r.Failed) != 0 {
		t.Errorf("%d finished, %d left, %v failed, %v", len(r.Finished), len(r.Left), r.Failed, err)
	}
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var states []string
	for _, run := range f.Runs {
		s, err := f.State(run)
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, s.String())
	}
	if got := strings.Join(states[:4], ", "); got != "finished, finished, interrupted, not started" {
		t.Errorf("states are %s", got)
	}
}
