package exchange

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
)

// annotated is a task of an export with its annotations.
type annotated struct {
	image Label
	notes []studioNote
}

// studioNote is an annotation: who made it, and what was chosen, by the names of the questions.
type studioNote struct {
	Label
	chosen map[string][]string
	err    error
}

// label returns the label of an annotation for a question.
func (n studioNote) label(question string) (Label, error) {
	a := n.Label
	if n.err != nil || a.Kind == labels.Skipped {
		return a, n.err
	}
	found := n.chosen[question]
	if len(found) != 1 {
		return a, fmt.Errorf("the annotation of %s has %d choices, want one%s", a.By, len(found), strings.TrimSuffix(": "+Few(found), ": "))
	}
	a.Class = found[0]
	return a, nil
}

// readLabelStudio reads an export as JSON.
func (im *Import) readLabelStudio(name string) error {
	data, err := regular.Read(name, maxFile)
	if err != nil {
		return err
	}
	var list []json.RawMessage
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &list); err != nil {
		return fmt.Errorf("%s: want a JSON array of tasks, as Label Studio exports them as JSON: %w", name, labels.Undecoded(err))
	}
	tasks := make([]annotated, len(list))
	for i, raw := range list {
		where := fmt.Sprintf("%s (task %d of the file)", name, i+1)
		var t struct {
			Data        map[string]json.RawMessage `json:"data"`
			Annotations []json.RawMessage          `json:"annotations"`
		}
		if err := json.Unmarshal(raw, &t); err != nil {
			return fmt.Errorf("%s: %w", where, labels.Undecoded(err))
		}
		tasks[i].image = StudioImage(t.Data)
		tasks[i].image.Where = where
		for _, raw := range t.Annotations {
			tasks[i].notes = append(tasks[i].notes, readStudioNote(raw))
		}
	}
	question, err := im.question(tasks)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, t := range tasks {
		for _, note := range t.notes {
			a, err := note.label(question)
			a.ID, a.Digest, a.Path, a.Where = t.image.ID, t.image.Digest, t.image.Path, t.image.Where
			if err := im.take(a, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// question returns the question whose choices are the classes: the one that is named, or ledg's
// own, or the only one that has annotations with one of them.
func (im *Import) question(tasks []annotated) (string, error) {
	known := make(map[string]bool)
	for _, c := range im.o.Classes {
		known[datasets.SameName(c)] = true
	}
	known[noneChoice] = true
	questions, fits := make(map[string]bool), make(map[string]int)
	for _, t := range tasks {
		for _, n := range t.notes {
			for q, found := range n.chosen {
				questions[q] = true
				if slices.ContainsFunc(found, func(c string) bool { return known[datasets.SameName(c)] }) {
					fits[q]++
				}
			}
		}
	}
	names := slices.Sorted(maps.Keys(questions))
	if q := im.o.Question; q != "" {
		if len(names) > 0 && !questions[q] {
			return "", fmt.Errorf("there is no question %q in it, only %s", q, Few(names))
		}
		return q, nil
	}
	fitting := slices.Sorted(maps.Keys(fits))
	for _, q := range []string{control, "choice", "choices"} {
		if fits[q] > 0 || len(fitting) == 0 && questions[q] {
			return q, nil
		}
	}
	switch {
	case len(fitting) == 1:
		return fitting[0], nil
	case len(fitting) > 1:
		return "", fmt.Errorf("the questions %s have annotations with one of the classes: --question names the one that counts", Few(fitting))
	case len(names) == 1:
		return names[0], nil
	case len(names) == 0:
		return "", nil
	}
	return "", fmt.Errorf("none of %s has an annotation with one of the classes, %s", Few(names), Few(im.o.Classes))
}

// StudioImage returns the image of a Label Studio task, from its data.
func StudioImage(data map[string]json.RawMessage) (a Label) {
	text := func(key string) (s string) {
		json.Unmarshal(data[key], &s)
		return s
	}
	a.ID, a.Digest = text(keyID), text(keyDigest)
	a.Path = StudioPath(text(picture))
	if a.Path == "" && a.ID == "" && a.Digest == "" { // a custom config
		for _, key := range slices.Sorted(maps.Keys(data)) {
			if p := StudioPath(text(key)); strings.Contains(p, ".") && key != "created_at" && key != "updated_at" {
				if datasets.ImageName(p) {
					a.Path = p
					break
				}
				a.Path = cmp.Or(a.Path, p)
			}
		}
	}
	return a
}

// StudioPath returns the path of a file from an image's address in Label Studio.
func StudioPath(address string) string {
	u, err := url.Parse(address)
	if err != nil || len(u.Scheme) == 1 { // C:\photos
		return address
	}
	if d := u.Query().Get("d"); d != "" {
		return d
	}
	return u.Path
}

// uploaded is the path of a file that was uploaded, on the server or in an export: its name has a
// random part in front.
var uploaded = regexp.MustCompile(`^(?:(?:.*/)?(?:upload|images)/(?:\d+/)?)?[0-9a-f]{8}-([^/]+)$`)

// Uploaded returns the name of a file that was uploaded to Label Studio, from its path there.
// ok is false for another path.
func Uploaded(path string) (name string, ok bool) {
	base := path[strings.LastIndexByte(path, '/')+1:]
	if len(base) < 10 || base[8] != '-' { // most paths, also long ones, which the expression takes long for
		return "", false
	}
	m := uploaded.FindStringSubmatch(path)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// StudioLabel reads an annotation of Label Studio's JSON: its choice for a question. The image
// is not filled in.
func StudioLabel(raw json.RawMessage, question string) (Label, error) {
	return readStudioNote(raw).label(question)
}

// readStudioNote reads an annotation of Label Studio's JSON.
func readStudioNote(raw json.RawMessage) (note studioNote) {
	var n struct {
		Result []struct {
			Type  string          `json:"type"`
			From  string          `json:"from_name"`
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Cancelled bool            `json:"was_cancelled"`
		Seconds   float64         `json:"lead_time"`
		By        json.RawMessage `json:"completed_by"`
		Created   string          `json:"created_at"`
		Updated   string          `json:"updated_at"`
	}
	if note.err = labels.Undecoded(json.Unmarshal(raw, &n)); note.err != nil {
		return note
	}
	note.Label = Label{Kind: labels.Labelled, By: studioAnnotator(n.By), Seconds: max(n.Seconds, 0)}
	if note.At, note.err = parseTime(cmp.Or(n.Updated, n.Created)); note.err != nil {
		return note
	}
	if n.Cancelled {
		note.Kind = labels.Skipped
		return note
	}
	note.chosen = make(map[string][]string)
	for _, r := range n.Result {
		if r.Type != "choices" {
			continue
		}
		var v choiceValue
		if note.err = labels.Undecoded(json.Unmarshal(r.Value, &v)); note.err != nil {
			return note
		}
		note.chosen[r.From] = append(note.chosen[r.From], v.Choices...)
	}
	return note
}

// studioAnnotator names the annotator of an annotation: an email address, or a number.
func studioAnnotator(raw json.RawMessage) string {
	var user struct {
		ID    json.Number `json:"id"`
		Email string      `json:"email"`
	}
	var text string
	switch {
	case json.Unmarshal(raw, &text) == nil && text != "":
		if _, err := strconv.Atoi(text); err != nil {
			return text
		}
		return "label-studio user " + text
	case json.Unmarshal(raw, &user) == nil && user.Email != "":
		return user.Email
	case user.ID != "":
		return "label-studio user " + user.ID.String()
	}
	if text = strings.TrimSpace(string(raw)); text == "" || text == "null" || text == `""` {
		return ""
	}
	return "label-studio user " + text
}
