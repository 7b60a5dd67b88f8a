package study

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
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/study/studytest"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
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
	f := studytest.Fake{Epoch: time.Millisecond, Fail: brokenSeed, Log: func(what string, o run.Options) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Println(what, filepath.Base(o.Dir))
	}}
	_, err = s.Run(context.Background(), Options{Dir: dir, Jobs: 2, Runner: f.Run, Poll: 5 * time.Millisecond})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// brokenSeed makes one run fail after its second epoch.
func brokenSeed(c run.Config, epoch int) error {
	if c.Method == "uniform" && c.Seed == 1 && c.Data.Target == "photo" && c.Exploration.Budget == "5%" && epoch == 1 {
		return errors.New("the disk is on fire")
	}
	return nil
}

// files reads all files in a folder but locks.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	fatal.If(t, fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == ".lock" {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, path))
		all[path] = string(data)
		return err
	}))
	return all
}

// Killed again and again, then finished by two processes at once, a study ends
// with the files of one that ran through: each run finished once, none lost.
func TestKilledAndSharedStudy(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a dozen processes")
	}
	exe := fatal.Get(os.Executable())(t)
	start := func(dir string) (*exec.Cmd, *bufio.Scanner, *bytes.Buffer) {
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), childEnv+"="+dir)
		out := fatal.Get(cmd.StdoutPipe())(t)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		fatal.If(t, cmd.Start())
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

	f := fatal.Get(report.Open(dir))(t)
	count := map[result.State]int{}
	for _, r := range f.Runs {
		s := fatal.Get(f.State(r))(t)
		count[s]++
	}
	if len(f.Runs) != 36 || count[result.Complete] != 35 || count[result.Failed] != 1 {
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
