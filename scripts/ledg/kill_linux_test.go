package main

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/labels/page"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/ceg/testing/testall"
)

// peopleArgs returns the arguments of a run on photos with human annotators.
func peopleArgs(root string, more ...string) []string {
	return append([]string{"train", "--dataset", "folder", "--root", root, "--classes", "cat,dog", "--target", "none", "--oracle", "ask",
		"--budget", "6", "--epochs", "1", "--width", "4", "--image-size", "16", "--backend", "go", "--cache", "cache", "--out", "run"}, more...)
}

// beginPeople starts a run on photos with human annotators, in the folder run of dir.
func beginPeople(t *testing.T, dir, root string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(ledg, peopleArgs(root)...)
	cmd.Dir = dir
	fatal.If(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd
}

// appears waits until a process has written a file.
func appears(t *testing.T, path string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !exists(path); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatalf("%s does not appear", path)
		}
	}
}

// A run that is killed when any of its first files appears goes on.
func TestKilledAtTheBeginning(t *testing.T) {
	root := flat(t)
	for _, file := range []string{".lock", "local.json", "config.json", "labels.jsonl"} {
		dir := t.TempDir()
		cmd := beginPeople(t, dir, root)
		appears(t, filepath.Join(dir, "run", file))
		cmd.Process.Kill()
		cmd.Wait()
		again := []string{"train", "--resume", "--out", "run"}
		if !exists(filepath.Join(dir, "run", "config.json")) { // the same command begins it
			again = append(cmd.Args[1:], "--resume")
		}
		if _, stderr, status := call(t, dir, again...); status != 3 {
			t.Errorf("killed at %s: status %d, stderr %s", file, status, stderr)
		}
	}
}

// The labelling page of a run can be shown before the run has prepared its images, however
// long that takes: here it takes for ever.
func TestPageOfSlowRun(t *testing.T) {
	dir := t.TempDir()
	cmd := beginPeople(t, dir, flat(t))
	appears(t, filepath.Join(dir, "run", "labels.jsonl"))
	lock := flock.New(filepath.Join(dir, "run", labels.LockFile)) // the run must not stop while it has the lock
	fatal.If(t, errors.Join(lock.Lock(), cmd.Process.Signal(syscall.SIGSTOP)))
	fatal.Get(syscall.Wait4(cmd.Process.Pid, nil, syscall.WUNTRACED, nil))(t)
	fatal.If(t, lock.Unlock())
	prints(t, "http://127.0.0.1:", dir, "label", "run", "--detach")
	works(t, dir, "label", "run", "--stop")
}

// --label shows the page, which ends with the run.
func TestTrainShowsPage(t *testing.T) {
	dir := t.TempDir()
	r, w := fatal.Get2(os.Pipe())(t)
	defer r.Close()
	cmd := exec.Command(ledg, peopleArgs(flat(t), "--label")...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, w, w
	fatal.If(t, cmd.Start())
	w.Close()
	var address, text string
	for lines := bufio.NewScanner(r); lines.Scan(); {
		text += lines.Text() + "\n"
		i := strings.Index(lines.Text(), "http://127.0.0.1:")
		if i < 0 || address != "" {
			continue
		}
		address, _, _ = strings.Cut(lines.Text()[i:], " ")
		reply, err := http.Get(address)
		if err != nil || reply.StatusCode != http.StatusOK {
			t.Errorf("the page: %v, %v", reply, err)
		}
		fatal.If(t, cmd.Process.Signal(os.Interrupt))
	}
	cmd.Wait()
	if address == "" || !strings.Contains(text, "interrupted") {
		t.Fatalf("it says %s", text)
	}
	if _, err := http.Get(address); err == nil {
		t.Error("the page has outlived the run")
	}
}

// The page ends with a run that is killed, which a second Ctrl-C does, and so does a step that
// takes too long after the first.
func TestPageEndsWithKilledRun(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(ledg, peopleArgs(flat(t), "--label")...)
	out := fatal.Get(cmd.StdoutPipe())(t)
	if cmd.Dir = dir; cmd.Start() != nil {
		t.Fatal("it does not start")
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "http://127.0.0.1:") {
	}
	address := lines.Text()
	if reply, err := http.Get(address); err != nil || reply.StatusCode != http.StatusOK {
		t.Fatalf("the page at %q: %v, %v", address, reply, err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		reply, err := http.Get(address)
		if errors.Is(err, syscall.ECONNREFUSED) {
			return
		}
		if err == nil {
			reply.Body.Close()
		}
		if time.Now().After(end) {
			t.Fatal("the page has outlived the run")
		}
	}
}

// When all is labelled the page shows that the run trains and how it ended, with commands that
// work as printed: a report, and once a label was corrected, a run that uses it.
func TestTrainShowsResult(t *testing.T) {
	testall.Need(t, "trains two runs")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("PATH", "/usr/bin:/bin")
	dir := t.TempDir()
	fatal.If(t, os.Mkdir(filepath.Join(dir, "bin"), 0o777))
	fatal.If(t, os.Symlink(ledg, filepath.Join(dir, "bin", "ledg")))
	works(t, dir, "embed", "--dataset", "folder", "--root", flat(t), "--classes", "cat,dog", "--net", "smallcnn", "--width", "4", "--weights", "none",
		"--size", "16", "--views", "3", "--backend", "go", "--out", "x.safetensors", "--quiet")
	cmd := exec.Command("bin/ledg", "train", "--preset", "ledg", "--dataset", "features", "--root", "x.safetensors", "--classes", "cat,dog", "--target", "none", "--oracle", "ask",
		"--budget", "9", "--epochs", "8", "--out", "run", "--backend", "go", "--quiet", "--label")
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out := fatal.Get(cmd.StdoutPipe())(t)
	fatal.If(t, cmd.Start())
	defer cmd.Process.Kill()
	lines := bufio.NewScanner(out)
	lines.Scan()
	address := lines.Text()
	type seen struct {
		Question *struct{ ID, Rev string }
		Ending   bool
		Run      *page.Run
	}
	look := func() (v seen) {
		t.Helper()
		getJSON(t, address, "view?client=test", &v)
		return v
	}
	act := func(op string, v seen, class string) {
		t.Helper()
		body := fmt.Sprintf(`{"client":"test","op":%q,"id":%q,"rev":%q,"class":%q}`, op, v.Question.ID, v.Question.Rev, class)
		reply, err := http.Post(address+"act", "application/json", strings.NewReader(body))
		if err != nil || reply.StatusCode != http.StatusOK {
			t.Fatal(reply, err)
		}
		reply.Body.Close()
	}
	labelled := ""
	trained := false
	var v seen
	for end := time.Now().Add(time.Minute); !v.Ending; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the last view is %+v, %+v", v, v.Run)
		}
		if v = look(); v.Question != nil {
			if labelled == "" {
				time.Sleep(time.Second) // the run reports meanwhile
			}
			labelled = v.Question.ID
			act("label", v, path.Base(labelled)[:3])
		} else {
			trained = trained || v.Run.Active
		}
	}
	if !trained || !v.Run.Finished || !strings.Contains(v.Run.Estimate, "Estimated accuracy, from 9 labels") || v.Run.Next != "bin/ledg report run --out report.html\nbin/ledg predict run --images FOLDER --out predictions.csv" {
		t.Errorf("it has trained: %v; in the end: %+v", trained, v.Run)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err, stderr.String())
	}
	typed := func(line string) {
		t.Helper()
		line, _, _ = strings.Cut(line, "\n") // a second one wants a folder of new photos
		sh := exec.Command("sh", "-c", line)
		sh.Dir = dir
		if out, err := sh.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", line, err, out)
		}
	}
	typed(v.Run.Next)
	label := exec.Command("bin/ledg", "label", "run", "--detach")
	label.Dir = dir
	stdout, err := label.Output()
	if address = strings.TrimSpace(string(stdout)); err != nil {
		t.Fatal(err)
	}
	defer call(t, dir, "label", "run", "--stop")
	if v = look(); !v.Run.Finished || v.Run.Changed != 0 {
		t.Errorf("later: %+v", v.Run)
	}
	getJSON(t, address, "view?client=test&id="+url.QueryEscape(labelled), &v)
	act("label", v, map[string]string{"cat": "dog", "dog": "cat"}[path.Base(labelled)[:3]])
	if v = look(); v.Run.Changed != 1 || v.Run.Next != "bin/ledg extend run" {
		t.Fatalf("after a correction: %+v", v.Run)
	}
	typed(v.Run.Next)
	if !exists(filepath.Join(dir, "run-2", result.ResultFile)) {
		t.Error("no run has the corrected label")
	}
}
