package studio

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/labels/exchange"
	"github.com/ledg-go/ledg/datasets"
)

// Model says what is in images. Its methods may be called concurrently.
type Model interface {
	// Version names the model, for Label Studio, which asks again when it changes.
	Version() string
	// Predict says what is in images, in their order.
	Predict(ctx context.Context, images []Image) ([]Prediction, error)
}

// Image is an image of the data set, or of another one the bytes of its file.
type Image struct {
	ID   string
	Data []byte
}

// Prediction is what a model says about an image.
type Prediction struct {
	// Class is the name of the most probable class, empty for none, and Probability its.
	Class       string
	Probability float64
	// Score is from 0 to 1, the smaller the sooner the image is to be asked about.
	Score float64
	// Failed says why there is no class, nil where there is one.
	Failed error
}

// Options are what a Server works with.
type Options struct {
	// Data is the data set, Classes the names of its classes, Ledger where answers go.
	Data    *datasets.Dataset
	Classes []string
	Ledger  *labels.Ledger
	// Digests returns the SHA-256 of every image file, in the order of the examples.
	Digests func() ([]string, error)
	// Token is the first part of every request's path.
	Token string
	// Model returns the newest one.
	Model func() Model
	// Train begins to train, unless that goes on already, and says in a sentence what it
	// does. Changed is called after answers came.
	Train   func() string
	Changed func()
	// Address is that of Label Studio, Key a token of its API; where they are empty those
	// hold that it tells.
	Address, Key string
	// Log is told what happens, a line each.
	Log func(format string, args ...any)
}

// maxBody is the longest request that is read, in bytes: Label Studio sends the data of
// some hundred tasks at once.
const maxBody = 64 << 20

// Server answers Label Studio.
type Server struct {
	o      Options
	mux    *http.ServeMux
	client *http.Client
	ctx    context.Context // of what goes on after a request
	work   sync.WaitGroup  // what does

	mu      sync.Mutex
	matcher *exchange.Matcher
	studio  source            // where Label Studio is
	synced  map[string]bool   // projects whose annotations were read, by their uid
	known   map[string]string // IDs by the addresses of their images
}

// New returns a server. What it begins after a request ends with ctx.
func New(ctx context.Context, o Options) *Server {
	s := &Server{o: o, ctx: ctx, mux: http.NewServeMux(), client: newClient(), matcher: exchange.NewMatcher(o.Data, o.Digests),
		studio: source{strings.TrimSuffix(o.Address, "/"), o.Key}, synced: make(map[string]bool), known: make(map[string]string)}
	up := func(http.ResponseWriter, *http.Request) (any, error) {
		return map[string]string{"status": "UP", "model_class": "ledg"}, nil
	}
	s.handle("GET /health", up)
	s.handle("GET /{$}", up)
	s.handle("POST /setup", s.setup)
	s.handle("POST /predict", s.predict)
	s.handle("POST /webhook", s.webhook)
	return s
}

// handle registers a handler, whose error is one line of the answer and of the log.
func (s *Server) handle(pattern string, h func(w http.ResponseWriter, r *http.Request) (any, error)) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		v, err := h(w, r)
		status := http.StatusOK
		if err != nil {
			status = http.StatusUnprocessableEntity
			var long *http.MaxBytesError
			if errors.As(err, &long) {
				status = http.StatusRequestEntityTooLarge
			}
			line := strings.Join(strings.Fields(err.Error()), " ")
			s.o.Log("%s: %s", strings.TrimPrefix(r.URL.Path, "/"), line)
			v = map[string]string{"error": line}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(v)
	})
}

// ServeHTTP answers who knows the token.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	token, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if subtle.ConstantTimeCompare([]byte(token), []byte(s.o.Token)) != 1 {
		s.o.Log("a request from %s without the token of this server was refused", r.RemoteAddr)
		w.Header().Set("Connection", "close")
		http.Error(w, "wrong token: the backend's URL is the one that ledg label-studio has printed", http.StatusUnauthorized)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	r2 := r.WithContext(r.Context())
	u := *r.URL
	u.Path, u.RawPath = "/"+rest, ""
	r2.URL = &u
	s.mux.ServeHTTP(w, r2)
}

// Serve serves on l until ctx is done, and until what requests have begun has ended.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	h := &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 5 * time.Minute, MaxHeaderBytes: 32 << 10}
	done := make(chan error, 1)
	go func() { done <- h.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	out, stop := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer stop()
	if err := h.Shutdown(out); err != nil {
		h.Close()
	}
	s.work.Wait()
	return nil
}

// read reads a request.
func read(r *http.Request, into any) error {
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		return fmt.Errorf("the request cannot be read: %w", err)
	}
	return nil
}

// setup is what Label Studio asks before everything else.
func (s *Server) setup(_ http.ResponseWriter, r *http.Request) (any, error) {
	var q struct {
		Project string `json:"project"`
		Config  string `json:"schema"`
		Address string `json:"hostname"`
		Key     string `json:"access_token"`
	}
	if err := read(r, &q); err != nil {
		return nil, err
	}
	if _, err := readConfig(q.Config, s.o.Classes); err != nil {
		return nil, fmt.Errorf("project %s: %w", q.Project, err)
	}
	s.mu.Lock()
	if s.o.Address == "" {
		s.studio.address = strings.TrimSuffix(q.Address, "/")
	}
	if s.o.Key == "" {
		s.studio.key = q.Key
	}
	s.mu.Unlock()
	s.catchUp(q.Project, q.Config)
	return map[string]string{"model_version": s.o.Model().Version()}, nil
}

// choice is a result of a prediction.
type choice struct {
	From  string              `json:"from_name"`
	To    string              `json:"to_name"`
	Type  string              `json:"type"`
	Score float64             `json:"score"`
	Value map[string][]string `json:"value"`
}

// answer is a prediction as Label Studio takes it.
type answer struct {
	Version string   `json:"model_version"`
	Score   float64  `json:"score"`
	Result  []choice `json:"result"`
}

// predict says what is in the images of tasks.
func (s *Server) predict(_ http.ResponseWriter, r *http.Request) (any, error) {
	var q struct {
		Tasks   []task `json:"tasks"`
		Project string `json:"project"`
		Config  string `json:"label_config"`
	}
	if err := read(r, &q); err != nil {
		return nil, err
	}
	c, err := readConfig(q.Config, s.o.Classes)
	if err != nil {
		return nil, fmt.Errorf("project %s: %w", q.Project, err)
	}
	m := s.o.Model()
	answers := make([]answer, len(q.Tasks))
	var images []Image
	var at []int
	for i, t := range q.Tasks {
		answers[i] = answer{m.Version(), 1, []choice{}}
		image, err := s.find(r.Context(), t, c)
		if err != nil {
			s.o.Log("predict: project %s, task %d: %v", q.Project, t.ID, err)
			continue
		}
		images, at = append(images, image), append(at, i)
	}
	said, err := m.Predict(r.Context(), images)
	if err != nil {
		return nil, err
	}
	for k, p := range said {
		a := &answers[at[k]]
		if a.Score = p.Score; p.Failed != nil {
			s.o.Log("predict: project %s, task %d: %v", q.Project, q.Tasks[at[k]].ID, p.Failed)
		} else if p.Class != "" {
			a.Result = []choice{{c.From, c.To, "choices", p.Probability, map[string][]string{"choices": {p.Class}}}}
		}
	}
	return map[string]any{"results": answers}, nil
}

// list reads one of something, or a list of it.
type list[T any] []T

func (l *list[T]) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '[' {
		return json.Unmarshal(data, (*[]T)(l))
	}
	*l = make([]T, 1)
	return json.Unmarshal(data, &(*l)[0])
}

// webhook takes what happened in a project. It goes on if Label Studio does not wait for the
// answer, which it does for a second.
func (s *Server) webhook(_ http.ResponseWriter, r *http.Request) (any, error) {
	var q struct {
		Action      string                `json:"action"`
		Project     project               `json:"project"`
		Tasks       list[task]            `json:"task"`
		Annotations list[json.RawMessage] `json:"annotation"`
		Gone        []annotation          `json:"annotations"`
	}
	if err := read(r, &q); err != nil {
		return nil, err
	}
	ctx := context.WithoutCancel(r.Context())
	switch q.Action {
	case "START_TRAINING":
		if _, err := readConfig(q.Project.Config, s.o.Classes); err != nil {
			return nil, fmt.Errorf("project %d: %w", q.Project.ID, err)
		}
		s.background(func() { // after what came while nobody listened
			s.catchUpNow(q.Project.uid(), q.Project.Config)
			s.o.Log("project %d asks for training: %s", q.Project.ID, s.o.Train())
		})
		return map[string]string{"status": "ok"}, nil
	case "ANNOTATION_CREATED", "ANNOTATIONS_CREATED", "ANNOTATION_UPDATED":
	case "ANNOTATION_DELETED", "ANNOTATIONS_DELETED":
		gone := make(map[string]bool)
		for _, a := range q.Gone {
			gone[tool(q.Project.uid(), a.ID)] = true
		}
		n, err := withdraw(s.o.Ledger, math.MaxInt64, func(tool string) bool { return gone[tool] })
		if err == nil && n > 0 {
			s.o.Log("project %d: %d answers withdrawn", q.Project.ID, n)
			s.o.Changed()
		}
		return map[string]any{"status": "ok", "changed": n}, err
	default:
		return map[string]string{"status": "ignored"}, nil
	}
	c, err := readConfig(q.Project.Config, s.o.Classes)
	if err != nil {
		return nil, fmt.Errorf("project %d: %w", q.Project.ID, err)
	}
	tasks := make(map[int]task)
	for _, t := range q.Tasks {
		tasks[t.ID] = t
	}
	for _, raw := range q.Annotations {
		var a annotation
		if err := json.Unmarshal(raw, &a); err != nil {
			return nil, fmt.Errorf("project %d: the annotation cannot be read: %w", q.Project.ID, err)
		}
		t := tasks[a.Task]
		t.Annotations = append(t.Annotations, raw)
		tasks[a.Task] = t
	}
	n := 0
	var failed []error
	for _, t := range tasks {
		more, err := s.take(ctx, t, c, q.Project.uid())
		n, failed = n+more, append(failed, err)
	}
	if n > 0 {
		s.o.Changed()
	}
	s.catchUp(q.Project.uid(), q.Project.Config)
	return map[string]any{"status": "ok", "changed": n}, errors.Join(failed...)
}

// take enters the annotations of a task, and returns how many of them changed something.
func (s *Server) take(ctx context.Context, t task, c *control, project string) (n int, err error) {
	if len(t.Annotations) == 0 {
		return 0, nil
	}
	image, err := s.find(ctx, t, c)
	if err == nil && image.ID == "" {
		err = errors.New("the image is none of the run's")
	}
	var failed []error
	for _, raw := range t.Annotations {
		if err != nil {
			break
		}
		e, bad := c.event(raw, t, image.ID, project, s.o.Classes)
		changed := false
		if bad == nil {
			changed, bad = say(s.o.Ledger, e)
		}
		if changed {
			n++
		}
		failed = append(failed, bad)
	}
	if err = errors.Join(append(failed, err)...); err != nil {
		err = fmt.Errorf("project %s, task %d: %w", project, t.ID, err)
	}
	return n, err
}

// background does something that outlives its request.
func (s *Server) background(f func()) { s.work.Go(f) }
