package page_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"testing"

	"github.com/ledg-go/ledg/ceg/labels"
)

// window is a client of the page as a program.
type window struct {
	tb            testing.TB
	address, name string
}

// view is what a window shows.
type view struct {
	Question *struct {
		ID, Rev, Domain, Current, File string
		Later                          bool
	}
	Next      []string
	N         struct{ Total, Open, Later, Labelled, Unsure, Skipped, Bad int }
	ByDomain  [][2]int
	Elsewhere int
	Undo      bool
	Redo      bool
}

func (w window) get(path string, args url.Values, into any) int {
	w.tb.Helper()
	args.Set("client", w.name)
	reply, err := http.Get(w.address + path + "?" + args.Encode())
	if err != nil {
		w.tb.Fatal(err)
	}
	defer reply.Body.Close()
	data, err := io.ReadAll(reply.Body)
	if err != nil {
		w.tb.Fatal(err)
	}
	if into != nil && reply.StatusCode == http.StatusOK {
		if err := json.Unmarshal(data, into); err != nil {
			w.tb.Fatalf("%s: %v: %s", path, err, data)
		}
	}
	return reply.StatusCode
}

func (w window) view() (v view) {
	w.tb.Helper()
	if status := w.get("view", url.Values{}, &v); status != http.StatusOK {
		w.tb.Fatalf("view: status %d", status)
	}
	return v
}

// act sends an act, and returns the status, the view that follows and the notice.
func (w window) act(body map[string]any) (int, view, string) {
	w.tb.Helper()
	body = maps.Clone(body)
	body["client"] = w.name
	data, err := json.Marshal(body)
	if err != nil {
		w.tb.Fatal(err)
	}
	reply, err := http.Post(w.address+"act", "application/json", bytes.NewReader(data))
	if err != nil {
		w.tb.Fatal(err)
	}
	defer reply.Body.Close()
	var out struct {
		View   view
		Notice string
	}
	json.NewDecoder(reply.Body).Decode(&out)
	return reply.StatusCode, out.View, out.Notice
}

// say answers a question, and returns the view that follows.
func (w window) say(v view, op, class string) view {
	w.tb.Helper()
	body := map[string]any{"op": op, "id": v.Question.ID, "rev": v.Question.Rev, "seconds": 1.5}
	if class != "" {
		body["class"] = class
	}
	status, next, notice := w.act(body)
	if status != http.StatusOK || notice != "" {
		w.tb.Fatalf("%s of %s: status %d, %s", op, v.Question.ID, status, notice)
	}
	return next
}

// count counts the events of a kind.
func count(st *labels.State, k labels.Kind) (n int) {
	for i := int64(1); i <= st.Last(); i++ {
		if e, _ := st.Event(i); e.Kind == k {
			n++
		}
	}
	return n
}
