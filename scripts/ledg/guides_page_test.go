package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/labels"
)

// annotator labels what the commands of blocks query, through the page that they serve.
type annotator struct {
	dir   string            // a copy of the folder of the other blocks
	truth map[string]string // the classes of its images
}

// served finds the addresses of pages.
var served = regexp.MustCompile(`http://[\w.]+:(\d+)(/[\w/-]*)`)

// run runs a block and labels. It returns the block's output, or "" after an error.
func (a *annotator) run(t *testing.T, b block, in string, env []string) (output string) {
	t.Helper()
	at := fmt.Sprintf("%s:%d", b.page, b.line)
	if err := a.prepare(b, in); err != nil {
		t.Errorf("%s: %v", at, err)
		return ""
	}
	before := a.labels(t)
	way := ways.FindStringSubmatch(b.how)
	most, _ := strconv.Atoi(way[1])
	path := way[3] // that has to be served, in place of labels
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	var out shared
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", b.text)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = a.dir, env, &out, &out
	if err := cmd.Start(); err != nil {
		t.Errorf("%s: %v", at, err)
		return ""
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	labelled, interrupted := 0, false
	for tick := time.NewTicker(50 * time.Millisecond); ; <-tick.C {
		select {
		case err := <-ended:
			tick.Stop()
			text := out.String()
			var exit *exec.ExitError
			switch {
			case err != nil && !(interrupted && errors.As(err, &exit) && exit.Exited()):
				t.Errorf("%s: %v\n%s\n%s", at, err, b.text, text)
				return ""
			case (most > 0 || path != "") && !interrupted:
				t.Errorf("%s: it ended after %d labels without Ctrl-C\n%s", at, labelled, text)
			case labelled == 0 && path == "":
				t.Errorf("%s: no image was labelled\n%s", at, text)
			}
			t.Logf("%s: %d labels\n%s", at, labelled, text)
			if after := a.labels(t); after-before != labelled {
				t.Errorf("%s: %d labels were posted, and %d are on disk\n%s", at, labelled, after-before, text)
			}
			return text
		default:
		}
		if interrupted {
			continue
		}
		addresses := served.FindAllStringSubmatch(out.String(), -1)
		for _, m := range addresses {
			var reply any
			if path != "" && !fetch(fmt.Sprintf("http://127.0.0.1:%s%s%s", m[1], m[2], path), &reply) {
				addresses = nil // not yet
			}
			if path == "" && most == 0 || path == "" && labelled < most {
				labelled += a.label(t, fmt.Sprintf("http://127.0.0.1:%s%s", m[1], m[2]))
			}
		}
		if most > 0 && labelled >= most || path != "" && addresses != nil {
			interrupted = true
			cmd.Process.Signal(os.Interrupt)
		}
	}
}

// prepare makes the copy that a block is run in.
func (a *annotator) prepare(b block, in string) error {
	if strings.HasPrefix(b.how, "page again") {
		return nil
	}
	if err := errors.Join(os.RemoveAll(a.dir), os.CopyFS(a.dir, os.DirFS(in))); err != nil {
		return err
	}
	if strings.HasPrefix(b.how, "page new") {
		if err := os.RemoveAll(filepath.Join(a.dir, "mine")); err != nil {
			return err
		}
	}
	f, err := os.Open(filepath.Join(a.dir, "labels.csv"))
	if err != nil {
		return err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	a.truth = map[string]string{}
	for _, r := range rows {
		a.truth[r[0]] = r[1]
	}
	return err
}

// labels counts the labels in the ledgers of the copy.
func (a *annotator) labels(t *testing.T) (n int) {
	t.Helper()
	err := filepath.WalkDir(a.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == labels.File {
			st, _, err := labels.Read(os.DirFS(filepath.Dir(path)), labels.File, nil, labels.Options{})
			if err != nil {
				return err
			}
			for i := range st.Last() {
				if e, ok := st.Event(i + 1); ok && e.Kind == labels.Labelled {
					n++
				}
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return n
}

// label labels the image that a page shows, and returns the number of labels: 0 if it shows none.
func (a *annotator) label(t *testing.T, address string) int {
	var setup struct{ Classes []string }
	var view struct {
		Question *struct{ ID, Rev, Current string }
	}
	if !fetch(address+"setup", &setup) || !fetch(address+"view?client=guide", &view) || view.Question == nil || view.Question.ID == "" {
		return 0 // no longer served, or nothing to label now
	}
	class := a.truth[view.Question.ID]
	if class == "" {
		class = setup.Classes[0]
	}
	body, err := json.Marshal(map[string]string{"client": "guide", "op": "label", "id": view.Question.ID, "rev": view.Question.Rev, "class": class})
	if err != nil {
		t.Error(err)
		return 0
	}
	reply, err := http.Post(address+"act", "application/json", bytes.NewReader(body))
	if err != nil {
		return 0
	}
	defer reply.Body.Close()
	if text, _ := io.ReadAll(reply.Body); reply.StatusCode != http.StatusOK {
		t.Errorf("%s: %s: %s", view.Question.ID, reply.Status, text)
		return 0
	}
	return 1
}

// fetch reads JSON from an address, if there is any.
func fetch(address string, into any) bool {
	reply, err := http.Get(address)
	if err != nil {
		return false
	}
	defer reply.Body.Close()
	return reply.StatusCode == http.StatusOK && json.NewDecoder(reply.Body).Decode(into) == nil
}

// shared is a buffer that several goroutines use.
type shared struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
