package labels

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
)

// ReadFile reads the labels of a file by [ReadTable].
func ReadFile(path string) ([]datasets.Label, error) {
	t, err := ReadTable(path, datasets.ColumnNames{})
	return t.Labels, err
}

// ReadTable reads labels from a file: the current labels of a ledger, or a list in the format of
// datasets.ReadTable, in which columns names the columns to use.
func ReadTable(path string, columns datasets.ColumnNames) (t datasets.Table, err error) {
	if is, err := IsLedger(path); err != nil {
		return t, err
	} else if !is || columns != (datasets.ColumnNames{}) {
		return datasets.ReadTable(path, columns)
	}
	dir, name := filepath.Split(path)
	s, _, err := Read(os.DirFS(filepath.Clean(dir)), name, nil, Options{})
	if err != nil {
		return t, err
	}
	for v := range s.Images() {
		if v.Status == IsNone {
			v.Class = datasets.NoneOfThese
		}
		if v.Class != "" {
			t.Labels = append(t.Labels, datasets.Label{ID: v.ID, Class: v.Class, Where: fmt.Sprintf("%s:%d", path, v.N)})
		}
	}
	return t, nil
}

// UserLabelsFile is the copy, in a run's folder, of the labels from the user's file (see ReadFile),
// so that later changes of that file have no effect.
const UserLabelsFile = "given.jsonl"

// BegunFile is the ledger, in a run's folder, of the labels taken over from another run.
const BegunFile = "begun.jsonl"

// WriteUserLabels writes labels in the format of UserLabelsFile: as a ledger, or as a list if they have
// groups, sites or splits.
func WriteUserLabels(w io.Writer, list []datasets.Label) error {
	if slices.ContainsFunc(list, func(l datasets.Label) bool { return l.Group != "" || l.Site != "" || l.Split != "" }) {
		out := json.NewEncoder(w)
		for _, l := range list {
			if err := out.Encode(struct {
				ID    string `json:"id"`
				Label string `json:"label,omitempty"`
				Group string `json:"group,omitempty"`
				Site  string `json:"site,omitempty"`
				Split string `json:"split,omitempty"`
			}{l.ID, l.Class, l.Group, l.Site, l.Split}); err != nil {
				return err
			}
		}
		return nil
	}
	events := make([]Event, len(list))
	for i, l := range list {
		events[i] = Event{Kind: Labelled, ID: l.ID, Class: l.Class, Tool: "labels", At: time.Unix(0, 0)}
	}
	return WriteEvents(w, events)
}

// WriteEvents writes events as a ledger: each label is an act by itself, about an image that was
// not queried.
func WriteEvents(w io.Writer, events []Event) error {
	out := bufio.NewWriter(w)
	for i, e := range events {
		if e.N, e.Act = int64(i+1), int64(i+1); e.Kind != Queried {
			e.Round = NoRound
		}
		line, err := e.MarshalJSON()
		if err != nil {
			return err
		}
		out.Write(append(line, '\n'))
	}
	return out.Flush()
}

// Digest returns the SHA-256 of labels in hexadecimal. It depends on images, classes, groups,
// sites and splits only, not on order or file format.
func Digest(list []datasets.Label) string {
	lines := make([]string, len(list))
	for i, l := range list {
		lines[i] = fmt.Sprintf("%q %q\n", l.ID, l.Class)
		if l.Group != "" {
			lines[i] = fmt.Sprintf("%q %q %q\n", l.ID, l.Class, l.Group)
		}
		if l.Site != "" {
			lines[i] = fmt.Sprintf("%q %q %q %q\n", l.ID, l.Class, l.Group, l.Site)
		}
		if l.Split != "" {
			lines[i] = fmt.Sprintf("%q %q %q %q %q\n", l.ID, l.Class, l.Group, l.Site, l.Split)
		}
	}
	slices.Sort(lines)
	h := sha256.New()
	for _, line := range slices.Compact(lines) {
		io.WriteString(h, line)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// IsLedger reports whether the first line of a .jsonl file is an event.
func IsLedger(path string) (bool, error) {
	if !strings.EqualFold(filepath.Ext(path), ".jsonl") {
		return false, nil
	}
	f, err := regular.Open(path, maxLedger)
	if err != nil {
		return false, err
	}
	defer f.Close()
	text, _ := bufio.NewReader(io.LimitReader(f, maxLine)).ReadBytes('\n')
	var v struct {
		Event string `json:"event"`
	}
	return json.Unmarshal(text, &v) == nil && v.Event != "", nil
}
