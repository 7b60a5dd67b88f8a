package result

import (
	"bytes"
	"encoding/json"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/ledg-go/ledg/datasets/regular"
)

// Tail is the treatment of a last line without newline, which a killed writer has left
// incomplete.
type Tail uint8

const (
	// WholeFile makes an incomplete last line an error.
	WholeFile Tail = iota
	// WholeLines ignores an incomplete last line.
	WholeLines
)

// ReadRecords reads a records.jsonl. Every line must be a valid Record with every field and no
// others, and continue the previous one; an error names file and line. length is the number of
// bytes read: less than the file's if tail is WholeLines and the last line is incomplete. An
// empty file has no records.
func ReadRecords(fsys fs.FS, name string, tail Tail) (records []Record, length int64, err error) {
	data, err := regular.ReadFS(fsys, name, maxLines)
	if err != nil {
		return nil, 0, err
	}
	for n := 1; len(data) > 0; n++ {
		end := bytes.IndexByte(data, '\n') + 1
		if end == 0 {
			if tail == WholeLines {
				break
			}
			return nil, 0, fmt.Errorf("%s:%d: half-written line: it does not end in a newline", name, n)
		}
		var r Record
		if err := Decode(data[:end], &r); err != nil {
			return nil, 0, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		if err := r.Validate(); err != nil {
			return nil, 0, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		switch {
		case len(records) > 0:
			err = r.follows(records[len(records)-1])
		case r.Epoch != 0:
			err = fmt.Errorf("epoch is %d, want 0", r.Epoch)
		}
		if err != nil {
			return nil, 0, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		records = append(records, r)
		length += int64(end)
		data = data[end:]
	}
	return records, length, nil
}

// Decode reads one JSON value into v, strictly: unknown fields, missing fields (unless marked
// omitempty or omitzero), fields in another case, and trailing data are errors.
func Decode(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return errors.New("the JSON ends too early")
		}
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("there is more after the JSON value, at byte %d", d.InputOffset())
	}
	again, err := encode(v, "")
	if err != nil || bytes.Equal(bytes.TrimSpace(again), bytes.TrimSpace(data)) { // as it was written
		return err
	}
	have := map[jsontext.Pointer]bool{}
	for _, p := range members(data) {
		have[p] = true
	}
	for _, p := range members(again) {
		if !have[p] {
			return fmt.Errorf("missing field %q", strings.ReplaceAll(string(p[1:]), "/", "."))
		}
	}
	return nil
}

// members lists the pointers to the members of objects, at any depth, of a valid JSON value.
func members(data []byte) (list []jsontext.Pointer) {
	d := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		if _, err := d.ReadToken(); err != nil {
			return list // the end
		}
		if kind, n := d.StackIndex(d.StackDepth()); kind == jsontext.KindBeginObject && n%2 == 1 { // a name
			list = append(list, d.StackPointer())
		}
	}
}
