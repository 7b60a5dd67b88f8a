package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
)

// readLabelStudio reads an export as JSON, JSON_MIN, CSV or TSV.
func readLabelStudio(name string) ([]Answer, error) {
	f, err := regular.Open(name, maxFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, 64)
	n, _ := io.ReadFull(f, head)
	if start := bytes.TrimLeft(bytes.TrimPrefix(head[:n], []byte("\ufeff")), " \t\r\n"); len(start) == 0 || start[0] != '[' {
		return readStudioRows(name)
	}
	data, err := regular.Read(name, maxFile)
	if err != nil {
		return nil, err
	}
	var list []Answer
	err = eachElement(name, data, func(where string, raw json.RawMessage) error {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(raw, &fields); err != nil {
			return err
		}
		var more []Answer
		var err error
		if _, full := fields["annotations"]; full {
			more, err = StudioTask(raw)
		} else {
			more, err = readStudioMin(fields)
		}
		for i := range more {
			more[i].Where = where
		}
		if err != nil {
			return err
		}
		list, err = add(list, more...)
		return err
	})
	return list, err
}

// lineCounter returns a function that returns the line of an offset in data. Offsets must not
// decrease from call to call.
func lineCounter(data []byte) func(offset int64) int {
	at, line := 0, 1
	return func(offset int64) int {
		to := min(int(offset), len(data))
		line += bytes.Count(data[at:to], []byte("\n"))
		at = to
		return line
	}
}

// eachElement calls f with the elements of a JSON array and where they begin.
func eachElement(name string, data []byte, f func(where string, raw json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(data))
	lineAt := lineCounter(data)
	fail := func(err error) error {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("%s:%d: %w", name, lineAt(d.InputOffset()), err)
	}
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return fail(errors.Join(errors.New("want a JSON array of tasks"), err))
	}
	for n := 1; d.More(); n++ {
		start := d.InputOffset()
		for int(start) < len(data) && strings.IndexByte(", \t\r\n", data[start]) >= 0 {
			start++
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return fail(err)
		}
		where := fmt.Sprintf("%s:%d (task %d of the file)", name, lineAt(start), n)
		if err := f(where, raw); err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
	}
	if _, err := d.Token(); err != nil {
		return fail(err)
	}
	return nil
}

// StudioImage returns the image of a Label Studio task, from its data.
func StudioImage(data map[string]json.RawMessage) (a Answer) {
	studioImage(&a, data)
	return a
}

// studioImage identifies the image from the data of a task.
func studioImage(a *Answer, data map[string]json.RawMessage) {
	text := func(key string) (s string) {
		json.Unmarshal(data[key], &s)
		return s
	}
	a.ID, a.Digest = text(keyID), text(keyDigest)
	a.Path = StudioPath(text(picture))
	if a.Path == "" && a.ID == "" && a.Digest == "" { // a custom config
		for _, key := range slices.Sorted(maps.Keys(data)) {
			if p := StudioPath(text(key)); strings.Contains(p, ".") && key != "created_at" && key != "updated_at" {
				a.Path = p
				break
			}
		}
	}
}

// StudioPath returns the path of a file from an image's address in Label Studio.
func StudioPath(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	if d := u.Query().Get("d"); d != "" {
		return d
	}
	return u.Path
}

// StudioTask reads the labels of a task with annotations in Label Studio's JSON export; images
// are as in StudioImage.
func StudioTask(raw json.RawMessage) ([]Answer, error) {
	var t struct {
		ID          json.Number                `json:"id"`
		Data        map[string]json.RawMessage `json:"data"`
		Annotations []struct {
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
		} `json:"annotations"`
	}
	if err := json.Unmarshal(raw, &t); err != nil {
		return nil, err
	}
	var list []Answer
	for _, n := range t.Annotations {
		a := Answer{Kind: labels.Answered, By: studioAnnotator(n.By), Seconds: max(n.Seconds, 0)}
		studioImage(&a, t.Data)
		var err error
		if a.At, err = studioTime(n.Updated, n.Created); err != nil {
			return nil, err
		}
		if n.Cancelled {
			a.Kind = labels.Skipped
			list = append(list, a)
			continue
		}
		var found []string
		for _, r := range n.Result {
			if r.Type != "choices" {
				continue
			}
			var v choiceValue
			if err := json.Unmarshal(r.Value, &v); err != nil {
				return nil, err
			}
			found = append(found, v.Choices...)
		}
		if len(found) != 1 {
			return nil, fmt.Errorf("the annotation of %s has %d choices, want one", a.By, len(found))
		}
		a.Class = found[0]
		list = append(list, a)
	}
	return list, nil
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

// studioTime parses the first of times that is not empty.
func studioTime(texts ...string) (t time.Time, err error) {
	for _, text := range texts {
		if text != "" {
			return parseTime(text)
		}
	}
	return t, nil
}

// readStudioMin reads an annotation of a JSON_MIN export, or a row of a CSV export whose
// cells are JSON or text.
func readStudioMin(fields map[string]json.RawMessage) ([]Answer, error) {
	text := func(key string) string {
		var s string
		if json.Unmarshal(fields[key], &s) != nil {
			s = strings.TrimSpace(string(fields[key]))
		}
		if s == "null" {
			s = ""
		}
		return s
	}
	key := ""
	for _, k := range []string{control, "choice", "choices"} {
		if _, ok := fields[k]; ok && key == "" {
			key = k
		}
	}
	if key == "" || text(key) == "" {
		return nil, nil // without an annotation
	}
	a := Answer{Kind: labels.Answered, By: studioAnnotator(fields["annotator"])}
	studioImage(&a, fields)
	var err error
	if a.At, err = studioTime(text("updated_at"), text("created_at")); err != nil {
		return nil, err
	}
	if s := text("lead_time"); s != "" {
		if a.Seconds, err = strconv.ParseFloat(s, 64); err != nil {
			return nil, fmt.Errorf("lead_time is %q, want a number", s)
		}
		a.Seconds = max(a.Seconds, 0)
	}
	a.Class = text(key)
	if strings.HasPrefix(a.Class, "[") || strings.HasPrefix(a.Class, "{") {
		if several, ok := severalChoices(a.Class); ok {
			return nil, fmt.Errorf("it has %d choices, %s, want one", len(several), strings.Join(several, ", "))
		}
	}
	return []Answer{a}, nil
}

// severalChoices reads the value of an annotation with more than one choice.
func severalChoices(text string) ([]string, bool) {
	var v choiceValue
	var list []choiceValue
	var names []string
	switch {
	case json.Unmarshal([]byte(text), &v) == nil && v.Choices != nil:
		return v.Choices, true
	case json.Unmarshal([]byte(text), &names) == nil:
		return names, true
	case json.Unmarshal([]byte(text), &list) == nil:
		for _, v := range list {
			names = append(names, v.Choices...)
		}
		return names, true
	}
	return nil, false
}

// readStudioRows reads a CSV or TSV export.
func readStudioRows(name string) ([]Answer, error) {
	var list []Answer
	err := eachRow(name, func(where string, head, row []string) error {
		if !slices.ContainsFunc(head, func(h string) bool { return h == control || h == "choice" || h == "choices" }) || !slices.Contains(head, "annotation_id") {
			return fmt.Errorf("the columns are %q: it is no CSV export of Label Studio; ledg's own CSV files are of the format csv", head)
		}
		fields := make(map[string]json.RawMessage)
		for i, cell := range row {
			raw, err := json.Marshal(cell)
			if err != nil {
				return err
			}
			fields[head[i]] = raw
		}
		more, err := readStudioMin(fields)
		for i := range more {
			more[i].Where = where
			more[i].ID = datasets.Unguard(more[i].ID)
		}
		if err != nil {
			return err
		}
		list, err = add(list, more...)
		return err
	})
	return list, err
}
