package studio

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/labels/exchange"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// source is where Label Studio is, and a token of its API.
type source struct{ address, key string }

// What is read of Label Studio's API at most, in bytes, and how long an image may take.
const (
	maxExport    = 256 << 20
	fetchTimeout = 10 * time.Second
)

// newClient returns the client by which images and annotations are read.
func newClient() *http.Client { return &http.Client{Timeout: 5 * time.Minute} }

func (s *Server) source() source {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.studio
}

// uploaded is the path of a file that was uploaded: its name has a random part in front.
var uploaded = regexp.MustCompile(`/data/upload/\d+/[0-9a-f]{8}-([^/]+)$`)

// find returns the image of a task: of the data set by what ledg has exported of it or by
// its path, or else by its bytes, which are those of an image elsewhere if
// the data set does not have them.
func (s *Server) find(ctx context.Context, t task, c *control) (Image, error) {
	a := exchange.StudioImage(t.Data)
	var address string
	if json.Unmarshal(t.Data[c.Key], &address) != nil || address == "" {
		return Image{}, fmt.Errorf("its data has no address of an image as %q", c.Key)
	}
	a.Path = exchange.StudioPath(address)
	name := uploaded.FindStringSubmatch(a.Path)
	if name != nil {
		a.Path = "" // the same name can be that of another image
	}
	s.mu.Lock()
	id, ok := s.known[address]
	if err := error(nil); !ok && (a.ID != "" || a.Digest != "" || a.Path != "") {
		id, err = s.matcher.Match(a)
		ok = err == nil
	}
	s.mu.Unlock()
	if ok {
		return s.remember(address, id), nil
	}
	data, fetched := s.fetch(ctx, address)
	if fetched == nil {
		h := datasets.ContentHash(data)
		h.Write(data)
		a = exchange.Answer{Digest: hex.EncodeToString(h.Sum(nil))}
	} else if name != nil {
		a = exchange.Answer{Path: name[1]}
	}
	s.mu.Lock()
	id, err := s.matcher.Match(a)
	s.mu.Unlock()
	switch {
	case err == nil:
		return s.remember(address, id), nil
	case fetched == nil:
		return Image{Data: data}, nil
	}
	return Image{}, fmt.Errorf("%.200q is no image of the run, and cannot be read: %w", address, fetched)
}

func (s *Server) remember(address, id string) Image {
	const most = 1 << 20
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) < most {
		s.known[address] = id
	}
	return Image{ID: id}
}

// fetch reads the image at an address, which Label Studio serves where it has no host.
func (s *Server) fetch(ctx context.Context, address string) ([]byte, error) {
	from := s.source()
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("its address is none")
	}
	key := ""
	base, err := url.Parse(from.address)
	if u.Host == "" && u.Scheme == "" {
		if err != nil || base.Host == "" || from.key == "" {
			return nil, errors.New("Label Studio has it, and no token of its API is known (LABEL_STUDIO_URL and LABEL_STUDIO_API_KEY)")
		}
		if !strings.HasPrefix(u.Path, "/data/") || slices.Contains(strings.Split(u.Path, "/"), "..") {
			return nil, errors.New("its address is not below /data/ of Label Studio")
		}
		at := *base
		at.Path, at.RawQuery = strings.TrimSuffix(base.Path, "/")+u.Path, u.RawQuery
		u, key = &at, from.key
	} else if err == nil && u.Host == base.Host && u.Scheme == base.Scheme {
		key = from.key
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("its address begins with %q, want http or https", u.Scheme)
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	data, err := s.get(ctx, u.String(), key, rgb.MaxFile)
	if err == nil && rgb.Format(data[:min(len(data), rgb.Magic)]) == "" {
		err = errors.New("what is there is no image")
	}
	return data, err
}

// get reads what is at an address, at most so many bytes.
func (s *Server) get(ctx context.Context, address, key string, most int64) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	if key != "" {
		if err := s.authorize(r, key); err != nil {
			return nil, err
		}
	}
	reply, err := s.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", r.URL.Redacted(), reply.Status)
	}
	data, err := io.ReadAll(io.LimitReader(reply.Body, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s is longer than %d bytes", r.URL.Redacted(), most)
	}
	return data, err
}

// authorize adds a token to a request: a legacy one as it is, and for a personal one, which
// is a JSON Web Token, the short-lived one that it is good for.
func (s *Server) authorize(r *http.Request, key string) error {
	if strings.Count(key, ".") != 2 {
		r.Header.Set("Authorization", "Token "+key)
		return nil
	}
	body, _ := json.Marshal(map[string]string{"refresh": key})
	ask, err := http.NewRequestWithContext(r.Context(), http.MethodPost, s.source().address+"/api/token/refresh", bytes.NewReader(body))
	if err != nil {
		return err
	}
	ask.Header.Set("Content-Type", "application/json")
	reply, err := s.client.Do(ask)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	var got struct {
		Access string `json:"access"`
	}
	if err := json.NewDecoder(io.LimitReader(reply.Body, 1<<20)).Decode(&got); err != nil || got.Access == "" {
		return fmt.Errorf("Label Studio does not take the token of its API: it answers %s", reply.Status)
	}
	r.Header.Set("Authorization", "Bearer "+got.Access)
	return nil
}

// catchUp reads the annotations of a project once, for what was said while nobody listened.
func (s *Server) catchUp(project, config string) {
	s.mu.Lock()
	done := s.synced[project] || s.studio.key == ""
	if !done {
		s.synced[project] = true
	}
	s.mu.Unlock()
	if !done {
		s.background(func() { s.catchUpNow(project, config) })
	}
}

// catchUpNow does, and says what came of it.
func (s *Server) catchUpNow(project, config string) {
	from := s.source()
	number, _, _ := strings.Cut(project, ".")
	if from.address == "" || from.key == "" {
		s.o.Log("project %s: what was answered while ledg did not run is not known: LABEL_STUDIO_URL and LABEL_STUDIO_API_KEY let it look", number)
		return
	}
	n, gone, err := s.compare(from, project, number, config)
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

// compare makes the ledger say what the annotations of a project say.
func (s *Server) compare(from source, project, number, config string) (n, gone int, err error) {
	c, err := readConfig(config, s.o.Classes)
	if err != nil {
		return 0, 0, err
	}
	last := int64(0)
	s.o.Ledger.View(func(state *labels.State) { last = state.Last() }) // what comes meanwhile is told, too
	text, err := s.get(s.ctx, from.address+"/api/projects/"+url.PathEscape(number)+"/export?exportType=JSON&download_all_tasks=true", from.key, maxExport)
	if err != nil {
		return 0, 0, err
	}
	var tasks []task
	if err := json.Unmarshal(text, &tasks); err != nil {
		return 0, 0, fmt.Errorf("the export of Label Studio cannot be read: %w", err)
	}
	there := make(map[string]bool)
	var failed []error
	for _, t := range tasks {
		for _, raw := range t.Annotations {
			var a annotation
			if err := json.Unmarshal(raw, &a); err != nil {
				return n, 0, fmt.Errorf("task %d: %w", t.ID, err)
			}
			there[tool(project, a.ID)] = true
		}
		more, err := s.take(s.ctx, t, c, project)
		n, failed = n+more, append(failed, err)
	}
	gone, err = withdraw(s.o.Ledger, last, func(tool string) bool { return strings.HasPrefix(tool, toolOf(project)) && !there[tool] })
	return n, gone, cmp.Or(err, errors.Join(failed...))
}
