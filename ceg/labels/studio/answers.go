package studio

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/labels/exchange"
)

// project is Label Studio's description of a project in a webhook.
type project struct {
	ID      int       `json:"id"`
	Created time.Time `json:"created_at"`
	Config  string    `json:"label_config"`
}

// uid names a project as requests of predictions do: its number, which another server's
// project can have, too, and the second in which it was made.
func (p project) uid() string { return fmt.Sprintf("%d.%d", p.ID, p.Created.Unix()) }

// annotation is as much of an annotation as tells which one it is.
type annotation struct {
	ID   int `json:"id"`
	Task int `json:"task"`
}

// tool is the Tool of an annotation's events; it begins with the project's tool.
func tool(project string, annotation int) string {
	return toolOf(project) + strconv.Itoa(annotation)
}

func toolOf(project string) string { return "label-studio project " + project + " annotation " }

// event makes an annotation an event of the ledger about the image id.
func (c *control) event(raw json.RawMessage, id, project string, classes []string) (labels.Event, error) {
	var e labels.Event
	var a annotation
	if err := json.Unmarshal(raw, &a); err != nil {
		return e, labels.Undecoded(err)
	}
	x, err := exchange.StudioLabel(raw, c.From)
	if err != nil {
		return e, err
	}
	x.Kind, x.Class = exchange.NoneOf(x.Kind, x.Class, classes)
	if x.Class != "" && !slices.Contains(classes, x.Class) {
		return e, fmt.Errorf("class %q is none of %s", x.Class, exchange.Few(classes))
	}
	return labels.Event{Kind: x.Kind, ID: id, Class: x.Class, By: x.By, At: x.At, Seconds: x.Seconds, Tool: tool(project, a.ID)}, nil
}

// say appends an annotation's label, unless the ledger has it or a newer one.
func say(l *labels.Ledger, e labels.Event) (changed bool, err error) {
	e.By = cmp.Or(e.By, "label-studio")
	_, err = l.Update(func(s *labels.State) ([]labels.Event, error) {
		var undo []labels.Event
		newest := labels.Event{}
		stands := false
		events, undone := s.History(e.ID)
		for i, x := range events {
			if x.Tool != e.Tool || x.Kind == labels.Queried {
				continue
			}
			if newest, stands = x, !undone[i]; stands && x.Kind != e.Kind {
				undo = append(undo, labels.Event{Kind: labels.Undone, By: x.By, Tool: e.Tool, Of: x.Act})
			}
		}
		if newest.N != 0 && (!e.At.After(newest.At) || stands && newest.Kind == e.Kind && newest.Class == e.Class) {
			return nil, nil
		}
		changed = true
		return append(undo, e), nil
	})
	return changed, err
}

// withdraw undoes the events, up to a number, whose Tool satisfies which.
func withdraw(l *labels.Ledger, until int64, which func(tool string) bool) (n int, err error) {
	_, err = l.Update(func(s *labels.State) (list []labels.Event, err error) {
		for k := int64(1); k <= min(until, s.Last()); k++ {
			e, _ := s.Event(k)
			if e.ID == "" || !which(e.Tool) {
				continue
			}
			events, undone := s.History(e.ID)
			if i := slices.IndexFunc(events, func(x labels.Event) bool { return x.N == k }); !undone[i] {
				list = append(list, labels.Event{Kind: labels.Undone, By: e.By, Tool: e.Tool, Of: e.Act})
			}
		}
		n = len(list)
		return list, nil
	})
	return n, err
}
