package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// studioProcess is a process of ledg label studio.
type studioProcess struct {
	t       *testing.T
	cmd     *exec.Cmd
	address string
	log     string // path
}

func startBackend(t *testing.T, dir string, args ...string) *studioProcess {
	t.Helper()
	b := &studioProcess{t: t, cmd: exec.Command(ledg, append([]string{"label", "studio"}, args...)...), log: filepath.Join(dir, "log")}
	log := fatal.Get(os.Create(b.log))(t)
	defer log.Close()
	b.cmd.Dir, b.cmd.Stderr = dir, log
	out, err := b.cmd.StdoutPipe()
	if err == nil {
		err = b.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if b.address = strings.TrimSpace(line); err != nil || !strings.HasPrefix(b.address, "http://127.0.0.1:") {
		b.kill()
		t.Fatalf("%q %v %s", line, err, b.output())
	}
	return b
}

// output returns its stderr so far.
func (b *studioProcess) output() string {
	text, _ := os.ReadFile(b.log)
	return string(text)
}

// waits waits until something is so.
func (b *studioProcess) waits(until func() bool) {
	b.t.Helper()
	for end := time.Now().Add(time.Minute); !until(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("it takes more than a minute; %s", b.output())
		}
	}
}

// trained says whether predictions are now from a run.
func (b *studioProcess) trained(run string) func() bool {
	return func() bool {
		var state struct {
			Version string `json:"model_version"`
		}
		b.post("setup", map[string]any{"project": "0.0", "schema": animals}, &state)
		return strings.HasPrefix(state.Version, run+" ")
	}
}

func (b *studioProcess) kill() {
	b.cmd.Process.Kill()
	b.cmd.Wait()
}

// post asks the backend, and returns the status and the answer.
func (b *studioProcess) post(path string, body any, into any) int {
	b.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		b.t.Fatal(err)
	}
	r, err := http.NewRequest("POST", b.address+path, bytes.NewReader(text))
	if err != nil {
		b.t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer reply.Body.Close()
	if text, err = io.ReadAll(reply.Body); err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		b.t.Fatalf("%s: %v in %s", path, err, text)
	}
	return reply.StatusCode
}

const animals = `<View><Image name="photo" value="$file"/><Choices name="animal" toName="photo"><Choice value="cat"/><Choice value="dog"/></Choices></View>`

// annotated is the webhook of an annotation of an image, as far as it is read.
func annotated(n int, file, class string) map[string]any {
	return map[string]any{"action": "ANNOTATION_CREATED", "project": map[string]any{"id": 1, "created_at": "2026-01-01T00:00:00Z", "label_config": animals},
		"task": map[string]any{"id": n, "data": map[string]string{"file": "/data/local-files/?d=flat/" + url.QueryEscape(file)}},
		"annotation": map[string]any{"id": n, "task": n, "completed_by": 1, "lead_time": 1, "updated_at": time.Date(2026, 1, 2, 0, 0, n, 0, time.UTC),
			"result": []any{map[string]any{"from_name": "animal", "to_name": "photo", "type": "choices", "value": map[string]any{"choices": []string{class}}}}}}
}

type predicted struct {
	Results []struct {
		Score   float64 `json:"score"`
		Version string  `json:"model_version"`
		Result  []struct {
			Score float64
			Value struct{ Choices []string }
		}
	}
}

// predict asks about images in their order.
func (b *studioProcess) predict(files []string) (p predicted) {
	b.t.Helper()
	var tasks []any
	for i, file := range files {
		tasks = append(tasks, map[string]any{"id": i, "data": map[string]string{"file": "/data/local-files/?d=flat/" + url.QueryEscape(file)}})
	}
	if status := b.post("predict", map[string]any{"project": "1.1767225600", "label_config": animals, "tasks": tasks}, &p); status != http.StatusOK || len(p.Results) != len(files) {
		b.t.Fatalf("status %d, %d predictions of %d; %s", status, len(p.Results), len(files), b.output())
	}
	return p
}

// order sorts images by the scores of their predictions.
func (b *studioProcess) order(files []string) []string {
	b.t.Helper()
	p := b.predict(files)
	at := make(map[string]float64)
	for i, r := range p.Results {
		at[files[i]] = r.Score
	}
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(x, y string) int {
		switch {
		case at[x] < at[y]:
			return -1
		case at[x] > at[y]:
			return 1
		}
		return 0
	})
	return files
}

// state reads the ledger of a run.
func ledgerOf(t *testing.T, dir string) *labels.State {
	t.Helper()
	s, _ := fatal.Get2(labels.Read(os.DirFS(dir), labels.File, nil, labels.Options{}))(t)
	return s
}

// studioRunOf begins a run that asks people about the images of flat, and names them.
func studioRunOf(t *testing.T, root, out, cache string) (files []string) {
	t.Helper()
	_, stderr, status := call(t, filepath.Dir(root), "train", "--dataset", "folder", "--root", root, "--classes", "cat,dog", "--target", "none", "--oracle", "ask", "--timing", "early",
		"--budget", "12", "--epochs", "4", "--width", "4", "--image-size", "16", "--backend", "go", "--out", out, "--cache", cache, "--quiet")
	if status != 3 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	list, err := filepath.Glob(filepath.Join(root, "*", "*.png"))
	if err != nil || len(list) != 36 {
		t.Fatalf("%d images, %v", len(list), err)
	}
	for _, path := range list {
		rel, _ := filepath.Rel(root, path)
		files = append(files, filepath.ToSlash(rel))
	}
	return files
}

// Answers survive kill -9 after every one of them, training that was killed goes on, and the
// images come in the order in which ledg query chooses them.
func TestLabelStudio(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	root, dir := flat(t), t.TempDir()
	run, cache := filepath.Join(dir, "run"), filepath.Join(dir, "cache")
	files := studioRunOf(t, root, run, cache)
	args := []string{run, "--backend", "go", "--cache", cache, "--strategy", "bvsb"}
	b := startBackend(t, dir, args...)
	first := b.address

	// Before training there is no prediction, and the run's queries come first.
	var queried []string
	for _, v := range ledgerOf(t, run).OpenImages(-1) {
		queried = append(queried, v.ID)
	}
	if got := b.order(files)[:len(queried)]; len(queried) == 0 || !slices.Equal(got, queried) {
		t.Errorf("first %q, asked for %q", got, queried)
	}
	if p := b.predict(files[:1]); len(p.Results[0].Result) != 0 || p.Results[0].Version != "run untrained" {
		t.Errorf("%+v", p)
	}

	train := map[string]any{"action": "START_TRAINING", "project": map[string]any{"id": 1, "created_at": "2026-01-01T00:00:00Z", "label_config": animals}}
	b.post("webhook", annotated(99, files[0], "cat"), nil)
	b.post("webhook", train, nil)
	b.waits(func() bool {
		return strings.Contains(b.output(), "every site needs a label before training; missing: day, night")
	})
	if exists(run + "-studio-1") {
		t.Error("a run is there that waits for answers to itself")
	}
	slices.SortStableFunc(files, func(x, y string) int { return strings.Compare(filepath.Base(x), filepath.Base(y)) }) // of all domains

	for n, file := range files[:14] {
		class, _, _ := strings.Cut(filepath.Base(file), " ")
		for range 2 {
			if status := b.post("webhook", annotated(n+1, file, class), nil); status != http.StatusOK {
				t.Fatalf("status %d; %s", status, b.output())
			}
		}
		if n%4 == 0 {
			b.kill()
			b = startBackend(t, dir, args...)
		}
	}
	if b.address != first {
		t.Errorf("the address was %s, and is %s", first, b.address)
	}
	if got := len(ledgerOf(t, run).Labels()); got != 14 {
		t.Errorf("%d labels, want 14", got)
	}

	if status := b.post("webhook", train, nil); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	b.waits(func() bool { return exists(run + "-studio-1") })
	b.kill()
	b = startBackend(t, dir, args...)
	b.waits(b.trained("run-studio-1"))
	p := b.predict(files)
	for i, r := range p.Results {
		if len(r.Result) != 1 || !slices.Contains([]string{"cat", "dog"}, r.Result[0].Value.Choices[0]) || r.Result[0].Score < 0.5 || r.Result[0].Score > 1 || (r.Score == 1) != (i < 14) {
			t.Errorf("%s: %+v", files[i], r)
		}
	}

	// The order is that of ledg query for the margins that the predictions have: of two classes it
	// is the order of the probabilities.
	order := b.order(files[14:])
	probability := make(map[string]float64)
	for i, r := range p.Results {
		probability[files[i]] = r.Result[0].Score
	}
	for i, file := range order[1:] {
		if probability[file] < probability[order[i]]-1e-6 {
			t.Errorf("%s with %v comes after %s with %v", file, probability[file], order[i], probability[order[i]])
		}
	}

	// A deleted annotation is taken back, and --every trains by itself.
	b.kill()
	b = startBackend(t, dir, append(args, "--every", "2")...)
	gone := map[string]any{"action": "ANNOTATIONS_DELETED", "project": train["project"], "annotations": []any{map[string]any{"id": 2}}}
	if status := b.post("webhook", gone, nil); status != http.StatusOK || len(ledgerOf(t, run).Labels()) != 13 || exists(run+"-studio-2") {
		t.Errorf("status %d, %d labels", status, len(ledgerOf(t, run).Labels()))
	}
	b.post("webhook", annotated(15, files[14], "cat"), nil)
	b.waits(b.trained("run-studio-2"))
}

// A project whose images all have labels is trained again, by losses on unlabelled images, too.
// Training that fails leaves no folder.
func TestLabelStudioAllLabelled(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	root, dir := flat(t), t.TempDir()
	train := map[string]any{"action": "START_TRAINING", "project": map[string]any{"id": 1, "created_at": "2026-01-01T00:00:00Z", "label_config": animals}}
	run, cache := filepath.Join(dir, "run"), filepath.Join(dir, "cache")
	files := studioRunOf(t, root, run, cache)
	b := startBackend(t, dir, run, "--backend", "go", "--cache", cache)
	for n, file := range files {
		class, _, _ := strings.Cut(filepath.Base(file), " ")
		if status := b.post("webhook", annotated(n+1, file, class), nil); status != http.StatusOK {
			t.Fatalf("status %d; %s", status, b.output())
		}
	}
	b.post("webhook", train, nil)
	b.waits(b.trained("run-studio-1"))
	queries, err := result.ReadQueries(os.DirFS(run+"-studio-1"), result.QueriesFile)
	if err != nil || len(queries) != len(files) {
		t.Errorf("trained on %d labels, %v, want %d", len(queries), err, len(files))
	}

	config := filepath.Join(run, result.ConfigFile)
	text := fatal.Get(os.ReadFile(config))(t)
	wrong := regexp.MustCompile(`("[a-z]+_rate"): [0-9.e-]+`).ReplaceAll(text, []byte(`$1: 1e30`))
	if err := os.WriteFile(config, wrong, 0o666); err != nil || bytes.Equal(wrong, text) {
		t.Fatalf("%v in %s", err, text)
	}
	b.post("webhook", train, nil)
	b.waits(func() bool { return strings.Contains(b.output(), "training failed") })
	if !strings.Contains(b.output(), "training diverged: ") || exists(run+"-studio-2") || !exists(run+"-studio-1") {
		t.Errorf("%s", b.output())
	}
}

// What cannot be a backend is said in one line.
func TestLabelStudioRefuses(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	run, root := filepath.Join(dir, "run"), flat(t)
	studioRunOf(t, root, run, filepath.Join(dir, "cache"))
	if err := os.Remove(filepath.Join(run, labels.File)); err != nil { // as of a run that asks nobody
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{run}, 1, "the run does not query people"},
		{[]string{filepath.Join(dir, "none")}, 1, "none"},
		{[]string{run, "--strategy", "best"}, 2, `--strategy "best": want one of`},
		{[]string{run, "--every", "-1"}, 2, `"-1" for "--every" flag`},
		{[]string{run, "--port", "70000"}, 2, `"70000" for "--port" flag`},
		{[]string{run}, 2, "LABEL_STUDIO_API_KEY is set without LABEL_STUDIO_URL"},
	} {
		if c.status == 2 && len(c.args) == 1 {
			t.Setenv("LABEL_STUDIO_API_KEY", "key")
		}
		refused(t, c.want, c.status, dir, append([]string{"label", "studio"}, c.args...)...)
	}
}

// Passwords of earlier set-ups are not taken for protection.
func TestLabelStudioRefusesPasswords(t *testing.T) {
	t.Setenv("BASIC_AUTH_PASS", "secret")
	_, stderr, status := call(t, t.TempDir(), "label", "studio", "run")
	if status != 2 || !strings.Contains(stderr, "BASIC_AUTH_PASS is set, and ledg asks for no password") {
		t.Errorf("status %d: %s", status, stderr)
	}
}
