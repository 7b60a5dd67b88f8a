package page

import (
	"crypto/rand"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/datasets"
)

//go:embed static
var static embed.FS

// Guess is what a model thinks of an image.
type Guess struct {
	Class string
	// Probability is in [0, 1], 0 if it is not known.
	Probability float64
}

// Options are what a Server shows and where it writes.
type Options struct {
	// Title heads the page.
	Title string
	// Data are the images, Root their folder; empty for data that is not made of files.
	Data *datasets.Dataset
	Root string
	// Classes are the answers, in the order of their keys.
	Classes []string
	// Ledger takes the answers. It must have been opened with these classes and with
	// Domain of this data set, for instance by Open.
	Ledger *labels.Ledger
	// By is the annotator, Tool the program's name in the ledger.
	By, Tool string
	// Rest asks also about images that nobody has asked for, after those that were, in
	// an order drawn from Seed with the domains in turn. Known says which of them
	// need no answer; nil for none.
	Rest  bool
	Known func(i int) bool
	Seed  uint64
	// Blind asks By about all images that were asked for or that others have answered,
	// and shows nothing of what they said, so that two opinions of the same images can be
	// compared. Rest is false then.
	Blind bool
	// Guesses are a model's, by ID. Those that were recorded with a question need not
	// be among them.
	Guesses map[string]Guess
	// Next says what to do when all is answered, Empty why there is nothing to ask.
	Next, Empty string
	// FollowLinks shows images that lie outside of Root behind a symbolic link.
	FollowLinks bool
	// Token is the secret path element; empty draws one.
	Token string
}

// Server serves the page. It is safe for concurrent use.
type Server struct {
	o        Options
	token    string
	mux      *http.ServeMux
	pictures *pictures
	class    map[string]int
	rest     []int32 // examples in the order of asking
	place    []int32 // of examples in rest, -1 for none
	unknown  []int   // examples of rest in every domain
	stop     func()

	mu      sync.Mutex // of what follows
	clients map[string]*client
	holder  map[string]string // IDs that windows have, and which window
	first   int               // no example before this place of rest is open
	seen    int64             // events that first has taken into account
	guesses []classGuesses
	aside   map[string]bool // set aside in the grid
	guessed int64           // the event up to which guesses were looked for
	own     *annotatorView  // of Options.Blind, nil otherwise
}

// minToken is the length of the shortest token that is taken, in characters.
const minToken = 20

// NewToken returns a new secret.
func NewToken() string { return rand.Text() }

// OpenLedger opens the ledger in a folder for answers about a data set: IDs and
// classes that the data set does not have are errors.
func OpenLedger(dir string, d *datasets.Dataset, classes []string, rule labels.Rule) (*labels.Ledger, error) {
	return labels.Open(dir, classes, labels.Options{Rule: rule, Domain: func(id string) (string, bool) {
		i, ok := d.Index(id)
		if !ok {
			return "", false
		}
		return d.Domains[d.Examples[i].Domain], true
	}})
}

// New returns a server. Close it in the end.
func New(o Options) (*Server, error) {
	if o.Token == "" {
		o.Token = NewToken()
	}
	if o.Tool == "" {
		o.Tool = "ledg label"
	}
	switch {
	case o.Data == nil || o.Ledger == nil:
		return nil, errors.New("page: there are no images or there is no ledger")
	case o.By == "":
		return nil, errors.New("page: the annotator has no name")
	case o.Blind && o.Rest:
		return nil, errors.New("page: blind answers are about what others have answered, not about the rest")
	case len(o.Token) < minToken:
		return nil, fmt.Errorf("page: the token has %d characters, want at least %d", len(o.Token), minToken)
	}
	if err := datasets.ValidClasses(o.Classes); err != nil {
		return nil, err
	}
	s := &Server{o: o, token: o.Token, clients: make(map[string]*client), holder: make(map[string]string),
		aside: make(map[string]bool), class: make(map[string]int), unknown: make([]int, len(o.Data.Domains))}
	for i, name := range o.Classes {
		s.class[name] = i
	}
	for id, g := range o.Guesses {
		if _, ok := s.class[g.Class]; !ok {
			return nil, fmt.Errorf("the guess for %s is %q, which is no class of these", id, g.Class)
		}
	}
	var err error
	if s.pictures, err = newPictures(o); err != nil {
		return nil, err
	}
	if o.Rest {
		s.order()
	}
	if o.Blind {
		s.own = newAnnotatorView(o.By)
	}
	s.lookForGuesses() // a million take a second, in which no page should wait
	s.route()
	return s, nil
}

// Close frees what the server holds; the ledger stays open.
func (s *Server) Close() error { return s.pictures.close() }

// Path returns the path of the page, with the token.
func (s *Server) Path() string { return "/" + s.token + "/" }

func (s *Server) route() {
	s.mux = http.NewServeMux()
	files, err := fs.Sub(static, "static")
	if err != nil {
		panic(err) // the folder is embedded
	}
	for path, name := range map[string]string{"/{$}": "page.html", "/page.js": "page.js", "/page.css": "page.css", "/icon.svg": "icon.svg"} {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			panic(err)
		}
		kind := map[string]string{"page.html": "text/html; charset=utf-8", "page.js": "text/javascript; charset=utf-8",
			"page.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml"}[name]
		s.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Write(data)
		})
	}
	read := func(path string, f func(*http.Request) (any, error)) {
		s.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { reply(w, f, r) })
	}
	read("/setup", s.setup)
	read("/view", s.showView)
	read("/guess", s.showGuess)
	read("/grid", s.grid)
	read("/list", s.list)
	s.mux.HandleFunc("POST /act", func(w http.ResponseWriter, r *http.Request) { reply(w, s.act, r) })
	s.mux.HandleFunc("POST /leave", func(w http.ResponseWriter, r *http.Request) { reply(w, s.leave, r) })
	s.mux.HandleFunc("POST /stop", func(w http.ResponseWriter, r *http.Request) { reply(w, s.halt, r) })
	s.mux.HandleFunc("GET /image", func(w http.ResponseWriter, r *http.Request) { s.picture(w, r, largeSide) })
	s.mux.HandleFunc("GET /thumb", func(w http.ResponseWriter, r *http.Request) { s.picture(w, r, thumbSide) })
}

// refusal is an error with an HTTP status.
type refusal struct {
	status int
	text   string
}

func (e *refusal) Error() string { return e.text }

func refuse(status int, format string, args ...any) error {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

// reply answers with what f returns, as JSON.
func reply(w http.ResponseWriter, f func(*http.Request) (any, error), r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	v, err := f(r)
	status := http.StatusOK
	var no *refusal
	switch {
	case errors.As(err, &no):
		status, v = no.status, map[string]string{"error": no.text}
	case err != nil:
		status, v = http.StatusInternalServerError, map[string]string{"error": err.Error()}
	default:
		if c, ok := v.(conflict); ok {
			status, v = http.StatusConflict, c.reply
		}
	}
	data, err := json.Marshal(v)
	if err != nil {
		status, data = http.StatusInternalServerError, []byte(`{"error":"no reply can be made"}`)
	}
	w.WriteHeader(status)
	w.Write(data)
}

// setupReply is what does not change while the server runs.
type setupReply struct {
	Title   string   `json:"title"`
	Classes []string `json:"classes"`
	Domains []string `json:"domains"`
	Guesses bool     `json:"guesses"`
	Next    string   `json:"next"`
	Empty   string   `json:"empty"`
	By      string   `json:"by"`
	Process int      `json:"process"`
}

func (s *Server) setup(*http.Request) (any, error) {
	domains := slices.Clone(s.o.Data.Domains)
	for i, d := range domains {
		domains[i] = text(d)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lookForGuesses()
	guesses := false
	for _, g := range s.guesses {
		guesses = guesses || len(g.list) > 0
	}
	return setupReply{s.o.Title, s.o.Classes, domains, guesses, s.o.Next, s.o.Empty, s.o.By, os.Getpid()}, nil
}

// halt ends the server that Serve runs.
func (s *Server) halt(*http.Request) (any, error) {
	s.mu.Lock()
	stop := s.stop
	s.mu.Unlock()
	if stop == nil {
		return nil, refuse(http.StatusNotFound, "this server is not stopped by a request")
	}
	time.AfterFunc(50*time.Millisecond, stop) // after the reply
	return struct{}{}, nil
}
