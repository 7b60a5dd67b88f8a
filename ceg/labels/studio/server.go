package studio

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/labels/exchange"
	"github.com/ledg-go/ledg/ceg/labels/page"
	"github.com/ledg-go/ledg/datasets"
)

// Model predicts classes of images. Its methods are safe for concurrent use.
type Model interface {
	// Version names the model for Label Studio, which requests new predictions when it changes.
	Version() string
	// Predict predicts images of the data set, in order.
	Predict(ctx context.Context, ids []string) ([]Prediction, error)
}

// Prediction is a model's prediction of an image.
type Prediction struct {
	// Class is the most probable class, empty for none, followed by its probability.
	Class       string
	Probability float64
	// Score is in [0, 1]; smaller ones are to be labelled first.
	Score float64
}

// Options are the settings of a Server.
type Options struct {
	// Data is the data set, Classes its class names, Ledger the ledger for annotations.
	Data    *datasets.Dataset
	Classes []string
	Ledger  *labels.Ledger
	// Digests returns the SHA-256 of every image file, in the order of the examples.
	Digests func() ([]string, error)
	// Token is the first element of every request's path.
	Token string
	// Model returns the newest model.
	Model func() Model
	// Train starts training, unless it is running, and describes this in a sentence. Changed is
	// called after new annotations.
	Train   func() string
	Changed func()
	// Address is Label Studio's address, Key a token of its API. Without an address Label Studio
	// is not called; without a key, the one that it sends is used.
	Address, Key string
	// Log receives one line an event.
	Log func(format string, args ...any)
}

// Server handles Label Studio's requests.
type Server struct {
	o     Options
	mux   *http.ServeMux
	reach *reach
	ctx   context.Context // of background work
	work  sync.WaitGroup  // what does

	catching sync.Mutex  // one export in memory
	starting atomic.Bool // training was requested and has not started

	mu      sync.Mutex
	matcher *exchange.Matcher
	key     string                       // of Label Studio's API
	hinted  bool                         // that its address is not known
	synced  map[string]bool              // projects whose annotations were read, by their uid
	seen    map[[sha256.Size]byte]string // IDs by the digests of addresses that have shown them
}

// Check returns an error for invalid settings of the connection to Label Studio.
func (o Options) Check() error {
	_, err := o.reach()
	return err
}

func (o Options) reach() (*reach, error) {
	if o.Address == "" && o.Key != "" {
		return nil, errors.New("LABEL_STUDIO_API_KEY is set without LABEL_STUDIO_URL: the token is sent to that address alone, so set both")
	}
	return newReach(o.Address)
}

// New returns a server. Its background work ends with ctx.
func New(ctx context.Context, o Options) (*Server, error) {
	reach, err := o.reach()
	if err != nil {
		return nil, err
	}
	s := &Server{o: o, ctx: ctx, mux: http.NewServeMux(), reach: reach, matcher: exchange.NewMatcher(o.Data, o.Digests), key: o.Key,
		synced: make(map[string]bool), seen: make(map[[sha256.Size]byte]string)}
	up := func(http.ResponseWriter, *http.Request) (any, error) {
		return map[string]string{"status": "UP", "model_class": "ledg"}, nil
	}
	telling := make(chan struct{}, maxTelling)
	healthy := make(chan struct{}, maxConnections)
	s.handle("GET /health", 0, healthy, up)
	s.handle("GET /{$}", 0, healthy, up)
	s.handle("POST /setup", maxNotice, telling, s.setup)
	s.handle("POST /predict", maxBody, make(chan struct{}, maxPredicting), s.predict)
	s.handle("POST /webhook", maxNotice, telling, s.webhook)
	return s, nil
}

// handle registers a handler for bodies of up to most bytes; each request needs a slot. Its
// error is one line of the response and of the log.
func (s *Server) handle(pattern string, most int64, slots chan struct{}, h func(w http.ResponseWriter, r *http.Request) (any, error)) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		var v any
		err := acquire(r.Context(), slots)
		if err == nil {
			r.Body = http.MaxBytesReader(w, r.Body, most)
			v, err = h(w, r)
			<-slots
		}
		status := http.StatusOK
		if err != nil {
			status = statusOf(err)
			line := strings.Join(strings.Fields(err.Error()), " ")
			s.o.Log("%s: %s", strings.TrimPrefix(r.URL.Path, "/"), line)
			v = map[string]string{"error": line}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(v)
	})
}

// ServeHTTP handles requests with a valid token.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	token, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if subtle.ConstantTimeCompare([]byte(token), []byte(s.o.Token)) != 1 {
		s.o.Log("a request from %s without the token of this server was refused", r.RemoteAddr)
		w.Header().Set("Connection", "close")
		http.Error(w, "wrong token: the backend's URL is the one that ledg label studio has printed", http.StatusUnauthorized)
		return
	}
	r2 := r.WithContext(r.Context())
	u := *r.URL
	u.Path, u.RawPath = "/"+rest, ""
	r2.URL = &u
	s.mux.ServeHTTP(w, r2)
}

// Serve serves on l until ctx is done, and waits for background work.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	defer s.work.Wait()
	return page.Bounded(ctx, l, maxConnections, &http.Server{Handler: s, IdleTimeout: time.Minute,
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 5 * time.Minute, MaxHeaderBytes: 32 << 10})
}

// undecoded returns the error of a request that cannot be decoded.
func undecoded(err error) error {
	return fmt.Errorf("the request cannot be read: %w", labels.Undecoded(err))
}

func read(r *http.Request, into any) error {
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		return undecoded(err)
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
	hint := s.reach.base == nil && !s.hinted
	if s.hinted = true; s.o.Address != "" && s.o.Key == "" && len(q.Key) <= maxText {
		s.key = q.Key
	}
	s.mu.Unlock()
	if hint {
		s.o.Log("uploads and annotations that were missed are not read: set LABEL_STUDIO_URL to the address of Label Studio (it says %.100q), and LABEL_STUDIO_API_KEY", q.Address)
	}
	s.catchUp(q.Project, q.Config)
	return map[string]string{"model_version": s.o.Model().Version()}, nil
}

// webhook processes an event of a project. It continues if Label Studio stops waiting for the
// response, after a second.
func (s *Server) webhook(_ http.ResponseWriter, r *http.Request) (any, error) {
	var q struct {
		Action      string                `json:"action"`
		Project     project               `json:"project"`
		Tasks       list[task]            `json:"task"`
		Annotations list[json.RawMessage] `json:"annotation"`
		Gone        list[annotation]      `json:"annotations"`
	}
	if err := read(r, &q); err != nil {
		return nil, err
	}
	ctx := context.WithoutCancel(r.Context())
	var fetched int64
	switch q.Action {
	case "START_TRAINING":
		if _, err := readConfig(q.Project.Config, s.o.Classes); err != nil {
			return nil, fmt.Errorf("project %d: %w", q.Project.ID, err)
		}
		if s.starting.Swap(true) {
			return map[string]string{"status": "ok"}, nil
		}
		s.work.Go(func() { // after events from before the server started
			defer s.starting.Store(false)
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
			return nil, fmt.Errorf("project %d: the annotation cannot be read: %w", q.Project.ID, labels.Undecoded(err))
		}
		t := tasks[a.Task]
		t.Annotations = append(t.Annotations, raw)
		tasks[a.Task] = t
	}
	n := 0
	var failed []error
	for _, t := range tasks {
		more, err := s.take(ctx, t, c, q.Project.uid(), &fetched)
		if n += more; err != nil && len(failed) < maxFailed {
			failed = append(failed, err)
		}
	}
	if n > 0 {
		s.o.Changed()
	}
	s.catchUp(q.Project.uid(), q.Project.Config)
	return map[string]any{"status": "ok", "changed": n}, errors.Join(failed...)
}

// take enters the annotations of a task, and returns how many of them changed something.
func (s *Server) take(ctx context.Context, t task, c *control, project string, fetched *int64) (n int, err error) {
	if len(t.Annotations) == 0 {
		return 0, nil
	}
	id, err := s.find(ctx, t.Data, c, fetched)
	var failed []error
	for _, raw := range t.Annotations {
		if err != nil {
			break
		}
		e, bad := c.event(raw, id, project, s.o.Classes)
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
