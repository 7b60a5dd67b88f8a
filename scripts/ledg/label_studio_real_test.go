package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// labelStudio is a running Label Studio.
type labelStudio struct {
	t       *testing.T
	address string // of its page and its API
}

// studioToken is the API token of its user, ann@example.com.
const studioToken = "0123456789abcdef0123456789abcdef01234567"

// startStudio starts the program that LEDG_LABEL_STUDIO names, with an empty database and the folder
// documents for local files. It skips the test if the variable is not set.
func startStudio(t *testing.T, documents string) labelStudio {
	t.Helper()
	program := os.Getenv("LEDG_LABEL_STUDIO")
	if program == "" {
		t.Skip("LEDG_LABEL_STUDIO is not the path of label-studio's executable (pip install label-studio), " +
			"nor the address of one that runs with the settings below and the folder of temporary files as its documents")
	}
	if strings.HasPrefix(program, "http://") {
		return labelStudio{t: t, address: program}
	}
	l := fatal.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	cmd := exec.Command(program, "start", "--no-browser", "--port", fmt.Sprint(port), "--internal-host", "127.0.0.1", "--data-dir", t.TempDir())
	cmd.Env = append(os.Environ(), "LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED=true", "LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT="+documents,
		"LABEL_STUDIO_USERNAME=ann@example.com", "LABEL_STUDIO_PASSWORD=only for the test", "LABEL_STUDIO_USER_TOKEN="+studioToken,
		"LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN=true", "ML_BLOCK_LOCAL_IP=false", "SSRF_PROTECTION_ENABLED=false", "COLLECT_ANALYTICS=false", "LATEST_VERSION_CHECK=false", "SENTRY_DSN=", "FRONTEND_SENTRY_DSN=")
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	fatal.If(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			t.Logf("label-studio: %.4000s", log.String())
		}
	})
	s := labelStudio{t: t, address: fmt.Sprintf("http://127.0.0.1:%d", port)}
	for end := time.Now().Add(10 * time.Minute); ; time.Sleep(time.Second) {
		if reply, err := http.Get(s.address + "/health"); err == nil {
			reply.Body.Close()
			if reply.StatusCode == http.StatusOK {
				return s
			}
		}
		if time.Now().After(end) {
			t.Fatal("label-studio does not answer")
		}
	}
}

// call calls the API, with JSON unless body is nil, and returns the response.
func (s labelStudio) call(method, path string, body any, into any) []byte {
	s.t.Helper()
	var send io.Reader
	if text, ok := body.([]byte); ok {
		send = bytes.NewReader(text)
	} else if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			s.t.Fatal(err)
		}
		send = bytes.NewReader(text)
	}
	r, err := http.NewRequest(method, s.address+path, send)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Token "+studioToken)
	r.Header.Set("Content-Type", "application/json")
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode >= 300 {
		s.t.Fatalf("%s %s: %s: %.1000s %v", method, path, reply.Status, text, err)
	}
	if into != nil {
		if err := json.Unmarshal(text, into); err != nil {
			s.t.Fatalf("%s %s: %v in %.1000s", method, path, err, text)
		}
	}
	return text
}

// Label Studio itself: a project of 36 tasks is connected, annotated through the API while the
// backend is killed in between, trained, and predicted.
func TestRealLabelStudioBackend(t *testing.T) {
	root := flat(t)
	s := startStudio(t, filepath.Dir(root))
	if strings.HasPrefix(os.Getenv("LEDG_LABEL_STUDIO"), "http://") {
		t.Skip("a Label Studio that runs already may refuse backends on this machine")
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	run, cache := filepath.Join(dir, "run"), filepath.Join(dir, "cache")
	files := studioRunOf(t, root, run, cache)
	args := []string{run, "--backend", "go", "--cache", cache}
	t.Setenv("LABEL_STUDIO_URL", s.address)
	b := startBackend(t, dir, args...)

	var project, ml struct {
		ID    int
		State string
	}
	s.call("POST", "/api/projects/", map[string]any{"title": "flat", "label_config": animals}, &project)
	s.call("POST", "/api/storages/localfiles/", map[string]any{"project": project.ID, "path": root, "title": "flat", "use_blob_urls": true}, nil)
	var tasks []any
	for _, file := range files {
		tasks = append(tasks, map[string]string{"file": "/data/local-files/?d=flat/" + url.QueryEscape(file)})
	}
	s.call("POST", fmt.Sprintf("/api/projects/%d/import", project.ID), tasks, nil)
	s.call("POST", "/api/ml/", map[string]any{"project": project.ID, "url": b.address, "title": "ledg"}, &ml)
	if ml.State != "CO" {
		t.Fatalf("the backend's state is %s, want CO; %s", ml.State, b.output())
	}
	type page struct {
		Tasks []struct {
			ID          int
			Data        struct{ File string }
			Predictions []struct {
				Score   float64
				Version string `json:"model_version"`
			}
		}
	}
	read := func() (p page) {
		s.call("POST", fmt.Sprintf("/api/dm/actions?id=retrieve_tasks_predictions&project=%d", project.ID), map[string]any{"selectedItems": map[string]any{"all": true, "excluded": []int{}}, "ordering": []any{}}, nil)
		s.call("GET", fmt.Sprintf("/api/tasks?project=%d&fields=all&page_size=100", project.ID), nil, &p)
		return p
	}
	list := read().Tasks
	if len(list) != 36 || len(list[0].Predictions) != 1 {
		t.Fatalf("%d tasks; %s", len(list), b.output())
	}
	var changed, deleted int
	labelled := make(map[int]bool)
	for i := range 20 {
		task := list[i*7%36] // of all domains
		labelled[task.ID] = true
		if i == 10 {
			b.kill()
		}
		class, _, _ := strings.Cut(files[slices.IndexFunc(files, func(file string) bool { return strings.HasSuffix(task.Data.File, url.QueryEscape(file)) })], " ")
		class = filepath.Base(class)
		var a struct{ ID int }
		s.call("POST", fmt.Sprintf("/api/tasks/%d/annotations/", task.ID), annotated(1, "", class)["annotation"], &a)
		switch i {
		case 0:
			deleted = a.ID
		case 1:
			changed = a.ID
		}
	}
	s.call("DELETE", fmt.Sprintf("/api/annotations/%d/", deleted), nil, nil)
	s.call("PATCH", fmt.Sprintf("/api/annotations/%d/", changed), map[string]any{"result": annotated(1, "", "cat")["annotation"].(map[string]any)["result"]}, nil)
	if n := len(ledgerOf(t, run).Labels()); n != 10 {
		t.Errorf("%d labels before the restart, want 10", n)
	}
	b = startBackend(t, dir, args...)
	s.call("GET", fmt.Sprintf("/api/ml/?project=%d", project.ID), nil, nil) // as the page with the button does
	b.waits(func() bool { return len(ledgerOf(t, run).Labels()) == 19 })
	s.call("POST", fmt.Sprintf("/api/ml/%d/train", ml.ID), map[string]any{}, nil)
	b.waits(b.trained("run-studio-1"))
	lowest, want, version := 2., 0, ""
	for _, task := range read().Tasks {
		last := task.Predictions[len(task.Predictions)-1]
		if !strings.HasPrefix(last.Version, "run-studio-1 ") {
			t.Errorf("%s: the newest prediction is of %s", task.Data.File, last.Version)
		}
		if version = last.Version; !labelled[task.ID] && last.Score < lowest {
			lowest, want = last.Score, task.ID
		}
	}
	// With this version chosen for predictions, its data manager sorted by the prediction score
	// shows that first, and so does uncertainty sampling.
	s.call("PATCH", fmt.Sprintf("/api/projects/%d/", project.ID), map[string]any{"model_version": version, "sampling": "Uncertainty sampling"}, nil)
	var view, next struct{ ID int }
	s.call("POST", "/api/dm/views/", map[string]any{"project": project.ID, "data": map[string]any{"title": "by score", "ordering": []string{"tasks:predictions_score"}, "filters": map[string]any{"conjunction": "and", "items": []any{}}}}, &view)
	var sorted page
	s.call("GET", fmt.Sprintf("/api/tasks?project=%d&view=%d&fields=all&page_size=1", project.ID, view.ID), nil, &sorted)
	s.call("GET", fmt.Sprintf("/api/projects/%d/next", project.ID), nil, &next)
	if sorted.Tasks[0].ID != want || next.ID != want {
		t.Errorf("Label Studio shows task %d first, and %d next, want %d", sorted.Tasks[0].ID, next.ID, want)
	}
}
