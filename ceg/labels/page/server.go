package page

import (
	"cmp"
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

// Prediction is a model's prediction of an image.
type Prediction struct {
	Class string
	// Probability is in [0, 1], 0 if unknown.
	Probability float64
	// Source is who says it, such as a detector; empty for the model.
	Source string
}

// Options are the settings of a Server.
type Options struct {
	// Title is the page's heading.
	Title string
	// Data is the data set; Root is its folder, empty for data that is not in files.
	Data *datasets.Dataset
	Root string
	// Classes are the classes, in the order of their keys.
	Classes []string
	// Ledger receives the labels. It must have been opened with these classes and the data set's
	// Domain, for instance by OpenLedger.
	Ledger *labels.Ledger
	// By lists the annotators, each with a page at Path(name); Tool names the program in the
	// ledger.
	By   []string
	Tool string
	// Rest also offers images that were not queried, after the queries, in an order drawn from
	// Seed with alternating domains, one of each group before a second. Known reports images, or
	// groups, that need no label; it may be nil.
	Rest  bool
	Known func(i int) bool
	Seed  uint64
	// Blind offers each annotator all images that were queried or that others have labelled,
	// without showing others' labels, for measuring agreement. It excludes Rest.
	Blind bool
	// Predictions are a model's predictions by ID, in addition to those recorded with queries.
	Predictions map[string]Prediction
	// Unaided shows no predictions, not even recorded ones: they bias labels.
	Unaided bool
	// Next tells what to do when everything is labelled, Empty why there is nothing to label.
	Next, Empty string
	// Run returns the state of the run that the labels are for, after event number last of the
	// ledger; nil if they are not for a run. Again is the command that serves the page again.
	Run   func(last int64) Run
	Again string
	// FollowLinks shows images outside of Root behind symbolic links.
	FollowLinks bool
	// Running is the result of Listen; one without a token is the loopback, with a new token.
	Running Running
}

// Server serves the page. It is safe for concurrent use.
type Server struct {
	o        Options
	people   []*annotator
	mux      *http.ServeMux // of annotators
	pictures *pictures
	reviews  *reviews // nil without features
	class    map[string]int
	rest     []int32 // examples in query order
	place    []int32 // of examples in rest, -1 for none
	unknown  []int   // examples of rest in every domain
	groups   [][]int // examples of every group; nil without

	mu          sync.Mutex // guards the fields below
	clients     map[string]*client
	holder      map[string]string // the window that holds each lease, by image
	first       int               // no example before this index of rest is open
	seen        int64             // number of the last event that first includes
	predictions []classPredictions
	aside       map[string]bool // leases of images set aside in the grid
	searched    int64           // last event that was searched for predictions
	silence     time.Duration   // time after which a silent window's leases end
	ending      bool            // the server is about to stop
}

// minToken is the minimum length of a secret, in characters.
const minToken = 20

// OpenLedger opens the ledger in a folder for a data set: unknown IDs and classes are errors.
func OpenLedger(dir string, d *datasets.Dataset, classes []string, rule labels.Rule) (*labels.Ledger, error) {
	return labels.Open(dir, classes, labels.Options{Rule: rule, Domain: labels.DomainIn(d)})
}

// New returns a server, which other programs then know. The caller closes it.
func New(o Options) (*Server, error) {
	if o.Running.Token == "" {
		o.Running.Token = rand.Text()
	}
	o.Tool = cmp.Or(o.Tool, "ledg label")
	switch {
	case o.Data == nil || o.Ledger == nil:
		return nil, errors.New("page: there are no images or there is no ledger")
	case len(o.By) == 0 || slices.Contains(o.By, ""):
		return nil, errors.New("page: an annotator has no name")
	case o.Blind && o.Rest:
		return nil, errors.New("page: blind labels are for images that others have labelled, not for the rest")
	case len(o.Running.Token) < minToken:
		return nil, fmt.Errorf("page: the token has %d characters, want at least %d", len(o.Running.Token), minToken)
	}
	if err := datasets.ValidClasses(o.Classes); err != nil {
		return nil, err
	}
	s := &Server{o: o, silence: silence, clients: make(map[string]*client), holder: make(map[string]string),
		aside: make(map[string]bool), class: make(map[string]int), unknown: make([]int, len(o.Data.Domains)), groups: o.Data.GroupMembers()}
	for i, name := range o.Classes {
		s.class[name] = i
	}
	for _, by := range o.By {
		a := &annotator{name: by, token: tokenOf(o.Running.Token, by), blind: o.Blind}
		if slices.ContainsFunc(s.people, func(b *annotator) bool { return b.name == by }) {
			return nil, fmt.Errorf("page: the annotator %s is there twice", by)
		}
		s.people = append(s.people, a)
	}
	if o.Unaided {
		s.o.Predictions = nil
	}
	for id, g := range o.Predictions {
		if _, ok := s.class[g.Class]; !ok {
			return nil, fmt.Errorf("the prediction for %s is %q, which is not one of the classes", id, g.Class)
		}
	}
	var err error
	if s.pictures, err = newPictures(o); err != nil {
		return nil, err
	}
	s.reviews = newReviews(o.Data)
	if o.Rest {
		s.order()
	}
	s.readPredictions() // takes a second for a million images: not while a page waits
	s.route()
	if r := &s.o.Running; r.file != "" {
		if r.Process = os.Getpid(); store(r.file, *r) != nil {
			r.file = "" // it serves all the same
		}
	}
	return s, nil
}

// Close frees the server; the ledger stays open.
func (s *Server) Close() error {
	if s.reviews != nil {
		s.reviews.stop()
	}
	return s.pictures.close()
}

// Path returns the path of an annotator's page, with the token.
func (s *Server) Path(by string) string { return "/" + tokenOf(s.o.Running.Token, by) + "/" }

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
	read("/prediction", s.showPrediction)
	read("/grid", s.grid)
	read("/list", s.list)
	read("/review", s.review)
	s.mux.HandleFunc("POST /act", func(w http.ResponseWriter, r *http.Request) { reply(w, s.act, r) })
	s.mux.HandleFunc("POST /leave", func(w http.ResponseWriter, r *http.Request) { reply(w, s.leave, r) })
	s.mux.HandleFunc("POST /beat", func(w http.ResponseWriter, r *http.Request) { reply(w, s.beat, r) })
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

// reply writes the result of f as JSON, or its error with an HTTP status.
func reply(w http.ResponseWriter, f func(*http.Request) (any, error), r *http.Request) {
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
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(data)
}

// setupReply has what stays constant while the server runs.
type setupReply struct {
	Title       string   `json:"title"`
	Classes     []string `json:"classes"`
	Domains     []string `json:"domains"`
	Predictions bool     `json:"predictions"`
	Next        string   `json:"next"`
	Again       string   `json:"again"`
	Empty       string   `json:"empty"`
	By          string   `json:"by"`
	// None is true if "none of these" can be chosen beside the classes.
	None bool `json:"none"`
	// Reviews says whether labels can be reviewed at all.
	Reviews bool `json:"reviews"`
	// Groups says whether images belong together, Boxes whether boxes in images are labelled.
	Groups bool `json:"groups,omitempty"`
	Boxes  bool `json:"boxes,omitempty"`
}

func (s *Server) setup(r *http.Request) (any, error) {
	domains := slices.Clone(s.o.Data.Domains)
	for i, d := range domains {
		domains[i] = text(d)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readPredictions()
	some := false
	for _, g := range s.predictions {
		some = some || len(g.list) > 0
	}
	return setupReply{s.o.Title, s.o.Classes, domains, some, s.o.Next, s.o.Again, s.o.Empty, who(r).name, !s.noneIsClass(), !s.o.Blind, s.groups != nil, s.o.Data.HasBoxes()}, nil
}

// noneIsClass reports whether "none of these" is one of the classes, as for a site.
func (s *Server) noneIsClass() bool { return slices.Contains(s.o.Classes, string(labels.None)) }
