package datasets

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/datasets/foreign"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/sheet"
)

// Label is an image's class from a file, by names.
type Label struct {
	ID, Class string
	// Group names the image's group, empty for none. With a group the class may be empty for
	// unknown.
	Group string
	// Site names the image's domain, empty for the one of its layout.
	Site string
	// Split is the image's split as the file has it, such as "valid"; see parseSplit. Empty for none.
	Split string
	// Where is the position in a file, such as "labels.csv:7", for errors; it may be empty.
	Where string

	box string // "#X,Y,W,H" while ID is the path alone
}

// Limits of files of classes and labels: bytes of the first and the second, of one line, and
// lines.
const (
	maxClasses, maxList = 16 << 20, 1 << 30
	maxLine, maxLabels  = 1 << 20, 4 << 20
)

// Table is the content of a file of labels. Note says in one line which columns were used; it is
// empty for files without columns.
type Table struct {
	Labels []Label
	Note   string

	media string // the table of media of a Camtrap DP package, which has the times
}

// ReadTable reads a file of labels. The columns of a CSV file (.csv or .tsv; see package sheet) are
// chosen by [ReadColumns]. A JSON Lines file (.jsonl) has an object with the fields id (or path, file_name),
// label (or class), site, group and split on each line. Lines with an id alone are ignored: a list of queries is a valid file
// of labels. In a metadata.csv or metadata.jsonl of Hugging Face, file_name is the path from its
// folder. IDs are not checked. An error names file and line.
func ReadTable(path string, names ColumnNames) (t Table, err error) {
	if err := foreign.Check(path, foreign.Camtrap); err != nil {
		return t, err
	}
	if IsCamtrap(path) && names.ID == "" {
		return readCamtrap(path, names.Class)
	}
	switch {
	case hasSuffix(path, ".csv"), hasSuffix(path, ".tsv"):
		return readTableCSV(path, names)
	case names != ColumnNames{}:
		return t, fmt.Errorf("%s: columns can be chosen in .csv and .tsv files only", path)
	case hasSuffix(path, ".jsonl"):
		f, err := regular.Open(path, maxList)
		if err != nil {
			return t, err
		}
		defer f.Close()
		r := bufio.NewReader(regular.Lines(f, maxLine))
		if head, _ := r.Peek(3); string(head) == "\ufeff" {
			r.Discard(3)
		}
		t.Labels, err = readLabelsJSON(r, path)
		return t, err
	}
	f, err := regular.Open(path, maxList) // anything but a regular file is reported first
	if err != nil {
		return t, err
	}
	defer f.Close()
	return t, fmt.Errorf("%s: labels are read from files that end in .csv, .tsv or .jsonl", path)
}

func hasSuffix(path, suffix string) bool { return strings.HasSuffix(strings.ToLower(path), suffix) }

func readTableCSV(path string, names ColumnNames) (t Table, err error) {
	c, err := ReadColumns(path, names)
	if err != nil {
		return t, err
	}
	t.Note = c.Note
	var places []string // of events
	err = readRows(path, func(r sheet.Row) (err error) {
		l, n := c.Label(r), len(t.Labels)
		if t.Labels, err = addLabel(t.Labels, l); len(t.Labels) > n {
			places = append(places, c.eventPlace(r, l))
		}
		return err
	})
	if c.numbered {
		separateEvents(t.Labels, places)
	}
	return t, err
}

// isHubTable reports whether a file is a metadata.csv or metadata.jsonl of a Hugging Face
// ImageFolder, whose file names lead from its own folder.
func isHubTable(path string) bool {
	name := strings.ToLower(filepath.Base(path))
	return name == "metadata.csv" || name == "metadata.jsonl"
}

// beside returns the absolute path of a file from a table's folder.
func beside(table, name string) string {
	if abs, err := filepath.Abs(table); err == nil && name != "" && !filepath.IsAbs(name) {
		return filepath.Join(filepath.Dir(abs), filepath.FromSlash(name))
	}
	return name
}

func readLabelsJSON(r *bufio.Reader, path string) ([]Label, error) {
	var list []Label
	for line := 1; ; line++ {
		text, err := r.ReadBytes('\n')
		if len(bytes.TrimSpace(text)) > 0 {
			var v struct {
				ID    *string `json:"id"`
				Path  *string `json:"path"`
				File  string  `json:"file_name"`
				Label string  `json:"label"`
				Class string  `json:"class"`
				Group string  `json:"group"`
				Site  string  `json:"site"`
				Split string  `json:"split"`
				Event string  `json:"event"`
			}
			if err := json.Unmarshal(text, &v); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, line, err)
			}
			if v.Event != "" {
				return nil, fmt.Errorf("%s:%d: it is an event of a ledger, not a label", path, line)
			}
			if v.File != "" && isHubTable(path) {
				v.File = beside(path, v.File)
			}
			id := cmp.Or(v.ID, v.Path)
			if id == nil && v.File != "" {
				id = &v.File
			}
			if id == nil {
				return nil, fmt.Errorf("%s:%d: it has no id", path, line)
			}
			if list, err = addLabel(list, Label{ID: *id, Class: cmp.Or(v.Label, v.Class), Group: present(v.Group), Site: present(v.Site), Split: present(v.Split), Where: fmt.Sprintf("%s:%d", path, line)}); err != nil {
				return nil, err
			}
		}
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, regular.Bare(err))
		}
	}
}

func addLabel(list []Label, l Label) ([]Label, error) {
	if strings.TrimSpace(l.ID) == "" {
		return nil, l.errorf("it has no id")
	}
	if len(list) == maxLabels {
		return nil, l.errorf("more than %d labels", maxLabels)
	}
	if l.Class != "" {
		if err := ValidClass(l.Class); err != nil && !Missing(l.Class) {
			return nil, l.errorf("%w", err)
		} else if err != nil {
			l.Class = ""
		}
	}
	if l.Class == "" && l.Group == "" && l.Site == "" && l.Split == "" {
		return list, nil
	}
	return append(list, l), nil
}

// NoneOfThese is the class of a label, in any case, of an image that shows none of the classes. Such
// an image is left out, unless it is the name of a class.
const NoneOfThese = "none of these"

// isNone is why it is left out.
const isNone = "it is labelled none of these"

// spellNone returns the labels with NoneOfThese in its spelling where it is no class.
func spellNone(labels []Label, isClass func(string) bool) []Label {
	labels = slices.Clone(labels)
	for i, l := range labels {
		if strings.EqualFold(strings.TrimSpace(l.Class), NoneOfThese) && !isClass(l.Class) {
			labels[i].Class = NoneOfThese
		}
	}
	return labels
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
