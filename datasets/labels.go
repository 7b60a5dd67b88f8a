package datasets

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/datasets/regular"
)

// Label is an image's class from a file, by names.
type Label struct {
	ID, Class string
	// Group names the image's group, empty for none. With a group the class may be empty for
	// unknown.
	Group string
	// Where is the position in a file, such as "labels.csv:7", for errors; it may be empty.
	Where string
}

// What is read of files of classes and labels: bytes of the first and the second, of one
// line, and lines.
const (
	maxClasses, maxList = 16 << 20, 1 << 30
	maxLine, maxLabels  = 1 << 20, 4 << 20
)

// ReadLabels reads a file of labels. A CSV file (.csv) has a header with the columns id and
// label or group, or both; a JSON Lines file (.jsonl) has an object with these fields on each
// line. Other columns and fields are ignored, and so are lines with neither label nor group, so
// a list of queries is a valid file of labels. IDs are not checked. An error names file and
// line.
func ReadLabels(path string) ([]Label, error) {
	f, err := regular.Open(path, maxList)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := bufio.NewReader(regular.Lines(f, maxLine))
	if head, _ := r.Peek(3); string(head) == "\ufeff" { // as spreadsheets write it
		r.Discard(3)
	}
	var list []Label
	switch {
	case hasSuffix(path, ".csv"):
		list, err = readLabelsCSV(r, path)
	case hasSuffix(path, ".jsonl"):
		list, err = readLabelsJSON(r, path)
	default:
		return nil, fmt.Errorf("%s: labels are read from files that end in .csv or .jsonl", path)
	}
	if err != nil {
		return nil, err
	}
	return list, nil
}

func hasSuffix(path, suffix string) bool { return strings.HasSuffix(strings.ToLower(path), suffix) }

func readLabelsCSV(r *bufio.Reader, path string) ([]Label, error) {
	c := csv.NewReader(r)
	c.FieldsPerRecord = -1
	c.ReuseRecord = true
	if head, _ := r.Peek(r.Size()); !bytes.Contains(firstLine(head), []byte(",")) && bytes.Contains(firstLine(head), []byte(";")) {
		c.Comma = ';' // as spreadsheets write it where the comma is in numbers
	}
	head, err := c.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s:1: it is empty, want a line that names the columns id and label", path)
	}
	if err != nil {
		return nil, csvLine(path, err)
	}
	head = slices.Clone(head)
	column := func(names ...string) int {
		return slices.IndexFunc(head, func(name string) bool { return slices.Contains(names, strings.ToLower(strings.TrimSpace(name))) })
	}
	id, label, group := column("id"), column("label"), column("group")
	if id < 0 {
		id = column("path")
	}
	if label < 0 {
		label = column("class")
	}
	if id < 0 || label < 0 && group < 0 {
		return nil, fmt.Errorf("%s:1: the columns are %q, want id (or path) and label (or class) among them", path, head)
	}
	var list []Label
	for {
		row, err := c.Read()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, csvLine(path, err)
		}
		line, _ := c.FieldPos(0)
		if len(row) <= max(id, label, group) {
			return nil, fmt.Errorf("%s:%d: it has %d fields, want %d", path, line, len(row), len(head))
		}
		field := func(k int) string {
			if k < 0 {
				return ""
			}
			return row[k]
		}
		if list, err = addLabel(list, row[id], field(label), field(group), path, line); err != nil {
			return nil, err
		}
	}
}

func firstLine(b []byte) []byte {
	line, _, _ := bytes.Cut(b, []byte("\n"))
	return line
}

func csvLine(path string, err error) error {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return fmt.Errorf("%s:%d: %w", path, parse.Line, parse.Err)
	}
	return fmt.Errorf("%s: %w", path, bare(err))
}

func readLabelsJSON(r *bufio.Reader, path string) ([]Label, error) {
	var list []Label
	for line := 1; ; line++ {
		text, err := r.ReadBytes('\n')
		if len(bytes.TrimSpace(text)) > 0 {
			var v struct {
				ID    *string `json:"id"`
				Label string  `json:"label"`
				Group string  `json:"group"`
				Event string  `json:"event"`
			}
			if err := json.Unmarshal(text, &v); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, line, err)
			}
			if v.Event != "" {
				return nil, fmt.Errorf("%s:%d: it is an event of a ledger, not a label", path, line)
			}
			if v.ID == nil {
				return nil, fmt.Errorf("%s:%d: it has no id", path, line)
			}
			if list, err = addLabel(list, *v.ID, v.Label, v.Group, path, line); err != nil {
				return nil, err
			}
		}
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, bare(err))
		}
	}
}

func addLabel(list []Label, id, class, group, path string, line int) ([]Label, error) {
	where := fmt.Sprintf("%s:%d", path, line)
	if id == "" {
		return nil, fmt.Errorf("%s: it has no id", where)
	}
	if len(list) == maxLabels {
		return nil, fmt.Errorf("%s: more than %d labels", where, maxLabels)
	}
	if class == "" && group == "" {
		return list, nil
	}
	if class != "" {
		class = Unguard(class)
		if err := ValidClass(class); err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
	}
	return append(list, Label{ID: strings.Clone(id), Class: strings.Clone(class), Group: strings.Clone(Unguard(group)), Where: where}), nil
}

// ofClass returns the labels that say a class.
func ofClass(list []Label) []Label {
	return slices.DeleteFunc(slices.Clone(list), func(l Label) bool { return l.Class == "" })
}

// Guard escapes a text for a CSV cell, so that spreadsheets do not evaluate it: a text that
// begins like a formula is prefixed with an apostrophe.
func Guard(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r'", rune(text[0])) {
		return "'" + text
	}
	return text
}

// Unguard removes the apostrophe of Guard.
func Unguard(text string) string {
	if len(text) > 1 && text[0] == '\'' && Guard(text[1:]) == text {
		return text[1:]
	}
	return text
}

// ReadClasses returns the classes of a list, "a,b,c", or of a text file of that name with a
// class on each line. An error names the line.
func ReadClasses(list string) ([]string, error) {
	data, err := regular.Read(list, maxClasses)
	if errors.Is(err, regular.ErrKind) || errors.Is(err, regular.ErrSize) {
		return nil, err
	}
	if err != nil {
		names := strings.Split(list, ",")
		for i, name := range names {
			names[i] = strings.TrimSpace(name)
		}
		if len(names) == 1 {
			return nil, fmt.Errorf("classes %q are neither a file nor several names with commas between them", list)
		}
		if err := ValidClasses(names); err != nil {
			return nil, fmt.Errorf("classes %q: %w", list, err)
		}
		return sameNames(names), nil
	}
	var names []string
	seen := make(map[string]bool)
	for n, name := range strings.Split(strings.TrimPrefix(string(data), "\ufeff"), "\n") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if err := ValidClass(name); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", list, n+1, err)
		}
		if seen[name] {
			return nil, fmt.Errorf("%s:%d: class %q is there twice", list, n+1, name)
		}
		seen[name] = true
		names = append(names, name)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: there are no classes", list)
	}
	return sameNames(names), nil
}
