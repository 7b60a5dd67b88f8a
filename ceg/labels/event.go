package labels

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ledg-go/ledg/datasets"
)

// File is the name of the ledger in a run's folder; LockFile is locked during an append.
const (
	File     = "labels.jsonl"
	LockFile = "labels.jsonl.lock"
)

// Kind is the kind of an event.
type Kind string

const (
	// Queried: the image was queried. The values of Queried and Labelled are the format of older
	// ledgers.
	Queried Kind = "asked"
	// Labelled: an annotator assigned the class.
	Labelled Kind = "answered"
	// Skipped: the annotator does not label it.
	Skipped Kind = "skipped"
	// Later: the annotator wants to see it again when all other queries have a label.
	Later Kind = "later"
	// None: the image shows none of the classes; it leaves the pool.
	None Kind = datasets.NoneOfThese
	// Unsure: the annotator assigned a class, or none, and wants a second look.
	Unsure Kind = "unsure"
	// Bad: the image is damaged or unusable; it leaves the pool.
	Bad Kind = "bad image"
	// Corrected: the class was corrected, which overrides older labels of all annotators.
	Corrected Kind = "corrected"
	// Undone and Redone: an act was reverted or restored.
	Undone Kind = "undone"
	Redone Kind = "redone"
	// Ruled: the rule for conflicting labels was changed.
	Ruled Kind = "rule"
)

// kinds lists all, in the order of their numbers in a record.
var kinds = []Kind{Queried, Labelled, Skipped, Unsure, Bad, Corrected, Undone, Redone, Ruled, Later, None}

// acts reports whether an event of the kind can be undone.
func (k Kind) acts() bool { return k != Queried && k != Undone && k != Redone && k != Ruled }

// NoRound is the round of an image that was not queried.
const NoRound = -1

// Event is a line of the ledger.
type Event struct {
	// N is the number of the event, from 1, set by Append.
	N    int64
	Kind Kind
	// ID and Domain name the image and its domain. Undone, Redone and Ruled have none.
	ID, Domain string
	// Class is the assigned class; Unsure may have one.
	Class string
	// Round is the image's query round: 0 for the initial labels, then from 1, NoRound if it was
	// not queried. Append sets it, except for Queried.
	Round int
	// By names the annotator or, for Queried, the querying program. At is the time, by default the
	// current one. Seconds is how long the annotator looked at the image, 0 if unknown.
	By      string
	At      time.Time
	Seconds float64
	// Tool names the labelling program.
	Tool string
	// Act is the number of the first event of the act, set by Append.
	Act int64
	// Of is the act that is undone or redone.
	Of int64
	// Rule is the new rule of a Ruled event.
	Rule string
	// QueryInfo is set only for Queried, and may be nil.
	QueryInfo *QueryInfo
}

// ByNames is the Model of predictions by class names alone.
const ByNames = "names"

// QueryInfo holds what was known about an image when it was queried.
type QueryInfo struct {
	// Scores are the query strategy's, by the column names of queries.csv.
	Scores map[string]float64 `json:"scores,omitempty"`
	// Predicted is the class that the model predicted, followed by its probability; Model names
	// the model.
	Predicted   string  `json:"predicted,omitempty"`
	Probability float64 `json:"probability,omitempty"`
	Model       string  `json:"model,omitempty"`
	// Instead is the ID of a skipped or bad image that this one replaces.
	Instead string `json:"instead,omitempty"`
	// Digest is the SHA-256 of the image file in hexadecimal, if known.
	Digest string `json:"sha256,omitempty"`
}

// line is an Event in the file.
type line struct {
	N      int64  `json:"n"`
	Kind   Kind   `json:"event"`
	ID     string `json:"id,omitempty"`
	RawID  []byte `json:"raw_id,omitempty"` // of a name that is no text
	Domain string `json:"domain,omitempty"`
	Class  string `json:"class,omitempty"`
	Round  *int   `json:"round,omitempty"`
	By     string `json:"by,omitempty"`
	At     string `json:"at"`
	// Seconds are rounded to milliseconds.
	Seconds float64 `json:"seconds,omitempty"`
	Tool    string  `json:"tool,omitempty"`
	Act     int64   `json:"act,omitempty"` // of events that are not the first of it
	Of      int64   `json:"of,omitempty"`
	Rule    string  `json:"rule,omitempty"`
	*QueryInfo
}

// MarshalJSON returns the line of the ledger, without its newline.
func (e Event) MarshalJSON() ([]byte, error) {
	l := line{N: e.N, Kind: e.Kind, ID: e.ID, Domain: e.Domain, Class: e.Class, By: e.By,
		At: e.At.UTC().Format(time.RFC3339Nano), Seconds: e.Seconds, Tool: e.Tool, Of: e.Of, Rule: e.Rule, QueryInfo: e.QueryInfo}
	if !utf8.ValidString(e.ID) {
		l.ID, l.RawID = "", []byte(e.ID)
	}
	if e.Round != NoRound {
		l.Round = &e.Round
	}
	if e.Act != e.N {
		l.Act = e.Act
	}
	return json.Marshal(l)
}

// UnmarshalJSON reads a line of the ledger. An unknown field is an error.
func (e *Event) UnmarshalJSON(data []byte) error {
	l := line{QueryInfo: new(QueryInfo)}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("there is something behind the event")
	}
	at, err := time.Parse(time.RFC3339Nano, l.At)
	if err != nil {
		return fmt.Errorf("at is %q, want a time such as 2006-01-02T15:04:05Z", l.At)
	}
	*e = Event{N: l.N, Kind: l.Kind, ID: l.ID, Domain: l.Domain, Class: l.Class, Round: NoRound, By: l.By, At: at.UTC(),
		Seconds: l.Seconds, Tool: l.Tool, Act: l.Act, Of: l.Of, Rule: l.Rule}
	if l.RawID != nil {
		e.ID = string(l.RawID)
	}
	if l.Round != nil {
		e.Round = *l.Round
	}
	if e.Act == 0 && e.Kind.acts() {
		e.Act = e.N
	}
	if !l.QueryInfo.empty() {
		e.QueryInfo = l.QueryInfo
	}
	return nil
}

func (a *QueryInfo) empty() bool {
	return len(a.Scores) == 0 && a.Predicted+a.Model+a.Instead+a.Digest == "" && a.Probability == 0
}

// check looks at what can be wrong with an event by itself.
func (e Event) check() error {
	known := false
	for _, k := range kinds {
		known = known || k == e.Kind
	}
	refers := e.Kind == Undone || e.Kind == Redone
	ofImage := !refers && e.Kind != Ruled
	if _, err := ParseRule(e.Rule); (e.Rule != "" || e.Kind == Ruled) && (err != nil || e.Kind != Ruled) {
		return fmt.Errorf("%s: it has the rule %q", e.Kind, e.Rule)
	}
	year := e.At.UTC().Year()
	switch {
	case !known:
		return fmt.Errorf("unknown kind %q", e.Kind)
	case !ofImage && (e.ID != "" || e.Class != "" || e.Domain != ""):
		return fmt.Errorf("%s: it is of no image, but has an ID, a domain or a class", e.Kind)
	case refers != (e.Of != 0):
		return fmt.Errorf("%s: it is of act %d", e.Kind, e.Of)
	case ofImage && e.ID == "":
		return fmt.Errorf("%s: it has no ID", e.Kind)
	case strings.ContainsRune(e.ID, 0):
		return fmt.Errorf("%s: ID %q has a zero byte", e.Kind, e.ID)
	case (e.Kind == Labelled || e.Kind == Corrected) && e.Class == "":
		return fmt.Errorf("%s: %q has no class", e.Kind, e.ID)
	case (e.Kind == Queried || e.Kind == Skipped || e.Kind == Later || e.Kind == Bad || e.Kind == None) && e.Class != "":
		return fmt.Errorf("%s: %q has the class %q, want none", e.Kind, e.ID, e.Class)
	case e.Round < NoRound || e.Round > math.MaxInt32:
		return fmt.Errorf("%s: %q has round %d", e.Kind, e.ID, e.Round)
	case e.Kind == Queried && e.Round == NoRound:
		return fmt.Errorf("%s: %q has no round", e.Kind, e.ID)
	case !(e.Seconds >= 0 && e.Seconds <= math.MaxInt32):
		return fmt.Errorf("%s: %q took %v seconds", e.Kind, e.ID, e.Seconds)
	case year < 1970 || year > 2200:
		return fmt.Errorf("%s: %q is of the year %d", e.Kind, e.ID, year)
	case !utf8.ValidString(e.Domain + e.By + e.Tool):
		return fmt.Errorf("%s: %q: domain, annotator or tool is not UTF-8", e.Kind, e.ID)
	}
	if e.Class != "" {
		if err := datasets.ValidClass(e.Class); err != nil {
			return fmt.Errorf("%s: %q: %w", e.Kind, e.ID, err)
		}
	}
	if e.QueryInfo == nil {
		return nil
	}
	if e.Kind != Queried {
		return fmt.Errorf("%s: %q has scores, which only a query has", e.Kind, e.ID)
	}
	if p := e.QueryInfo.Probability; !(p >= 0 && p <= 1) {
		return fmt.Errorf("%s: %q: the prediction has probability %v", e.Kind, e.ID, p)
	}
	for name, v := range e.QueryInfo.Scores {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s: %q: score %s is %v", e.Kind, e.ID, name, v)
		}
	}
	return nil
}

// Undecoded returns an error of decoding JSON without the names of Go's types.
func Undecoded(err error) error {
	if t := (*json.UnmarshalTypeError)(nil); errors.As(err, &t) {
		return fmt.Errorf("its %s (%s) is not taken", cmp.Or(t.Field, "value"), t.Value)
	}
	return err
}
