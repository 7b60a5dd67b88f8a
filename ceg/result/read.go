package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
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
	return missing(data, reflect.TypeOf(v), "")
}

// missing returns an error for the first field of struct type t, at any depth,
// that the JSON value in data does not have. Path names the value in data.
func missing(data []byte, t reflect.Type, path string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if bytes.Equal(bytes.TrimSpace(data), []byte("null")) || reflect.PointerTo(t).Implements(unmarshaler) {
		return nil
	}
	switch t.Kind() {
	case reflect.Struct:
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(data, &fields); err != nil {
			return err
		}
		for f := range t.Fields() {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !f.IsExported() || name == "-" {
				continue
			}
			if name == "" {
				name = f.Name
			}
			value, ok := fields[name]
			switch {
			case !ok && strings.Contains(options, "omit"):
				continue
			case !ok:
				return fmt.Errorf("missing field %q", path+name)
			}
			if err := missing(value, f.Type, path+name+"."); err != nil {
				return err
			}
		}
	case reflect.Slice, reflect.Array:
		if k := t.Elem().Kind(); k != reflect.Struct && k != reflect.Pointer {
			return nil
		}
		var items []json.RawMessage
		if err := json.Unmarshal(data, &items); err != nil {
			return err
		}
		for i, item := range items {
			if err := missing(item, t.Elem(), fmt.Sprintf("%s[%d].", strings.TrimSuffix(path, "."), i)); err != nil {
				return err
			}
		}
	}
	return nil
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()
