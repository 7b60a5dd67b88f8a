package studio

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/ledg-go/ledg/ceg/labels"
)

// Limits of replies of Label Studio's API.
const (
	maxExport      = 256 << 20 // bytes
	maxExported    = 1_000_000 // tasks
	maxAnnotations = 2_000_000 // of an export
)

// header returns the Authorization header for a token of Label Studio's API.
func (s *Server) header(ctx context.Context, key string) (string, error) {
	if strings.Count(key, ".") != 2 {
		return "Token " + key, nil
	}
	body, _ := json.Marshal(map[string]string{"refresh": key})
	reply, err := s.reach.do(ctx, http.MethodPost, s.reach.base.String()+"/api/token/refresh", bytes.NewReader(body), nil)
	if err != nil {
		return "", fmt.Errorf("the API of Label Studio does not take the token: %w", err)
	}
	defer reply.Body.Close()
	var got struct {
		Access string `json:"access"`
	}
	if err := json.NewDecoder(io.LimitReader(reply.Body, 1<<20)).Decode(&got); err != nil || got.Access == "" {
		return "", errors.New("the API of Label Studio does not accept the token: its reply has no access token")
	}
	return "Bearer " + got.Access, nil
}

// canRead reports whether Label Studio's API is available.
func (s *Server) canRead() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reach.base != nil && s.key != ""
}

// catchUp reads all annotations of a project once, including those from before the server
// started.
func (s *Server) catchUp(project, config string) {
	can := s.canRead()
	s.mu.Lock()
	defer s.mu.Unlock()
	if can && !s.synced[project] && len(s.synced) < maxTasks {
		s.synced[project] = true
		s.work.Go(func() { s.catchUpNow(project, config) })
	}
}

// catchUpNow reads them and logs the result.
func (s *Server) catchUpNow(project, config string) {
	number, _, _ := strings.Cut(project, ".")
	if !s.canRead() {
		s.o.Log("project %s: what was answered while ledg did not run is not known: LABEL_STUDIO_URL and LABEL_STUDIO_API_KEY let it look", number)
		return
	}
	s.catching.Lock() // one export in memory
	defer s.catching.Unlock()
	n, gone, err := s.compare(project, number, config)
	if n+gone > 0 {
		s.o.Log("project %s: %d answers came while ledg did not listen, %d are withdrawn", number, n, gone)
		s.o.Changed()
	}
	if err != nil {
		s.mu.Lock()
		delete(s.synced, project) // next time
		s.mu.Unlock()
		s.o.Log("project %s: its annotations cannot be compared: %v", number, strings.Join(strings.Fields(err.Error()), " "))
	}
}

// compare makes the ledger agree with a project's annotations.
func (s *Server) compare(project, number, config string) (n, gone int, err error) {
	c, err := readConfig(config, s.o.Classes)
	if err != nil {
		return 0, 0, err
	}
	if _, err := strconv.ParseUint(number, 10, 32); err != nil { // it becomes part of a path
		return 0, 0, fmt.Errorf("%.100q is no number of a project", number)
	}
	last := int64(0)
	s.o.Ledger.View(func(state *labels.State) { last = state.Last() }) // annotations that arrive meanwhile come by webhook, too
	export, err := s.reach.do(s.ctx, http.MethodGet, s.reach.base.String()+"/api/projects/"+number+"/export?exportType=JSON&download_all_tasks=true", nil, s.authorize)
	if err != nil {
		return 0, 0, err
	}
	defer export.Body.Close()
	there := make(map[int]bool)
	var failed []error
	var fetched int64
	err = eachTask(http.MaxBytesReader(nil, export.Body, maxExport), func(t task) error {
		for _, raw := range t.Annotations {
			var a annotation
			if err := json.Unmarshal(raw, &a); err != nil {
				return fmt.Errorf("task %d: %w", t.ID, labels.Undecoded(err))
			}
			if there[a.ID] = true; len(there) > maxAnnotations {
				return tooMuch(fmt.Sprintf("more than %d annotations", maxAnnotations))
			}
		}
		more, err := s.take(s.ctx, t, c, project, &fetched)
		if n += more; err != nil && len(failed) < maxFailed {
			failed = append(failed, err)
		}
		return nil
	})
	if err != nil { // incomplete: what it does not have may be there
		return n, 0, err
	}
	prefix := toolOf(project)
	gone, err = withdraw(s.o.Ledger, last, func(tool string) bool {
		rest, ok := strings.CutPrefix(tool, prefix)
		number, err := strconv.Atoi(rest)
		return ok && err == nil && !there[number]
	})
	return n, gone, cmp.Or(err, errors.Join(failed...))
}
