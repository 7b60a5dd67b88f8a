package result

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"sync"

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
	path, err := missing(jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)), reflect.TypeOf(v))
	if err == nil && path != "" {
		err = fmt.Errorf("missing field %q", path)
	}
	return err
}

// missing reads a JSON value that was decoded into type t, and returns the path of a field of t,
// at any depth, that the value does not have; "" if it has all. The error is of the decoder.
func missing(d *jsontext.Decoder, t reflect.Type) (path string, err error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if d.PeekKind() == jsontext.KindNull || reflect.PointerTo(t).Implements(unmarshaler) {
		return "", d.SkipValue()
	}
	switch t.Kind() {
	case reflect.Struct:
		return missingOfObject(d, fieldsOf(t))
	case reflect.Slice, reflect.Array:
		if k := t.Elem().Kind(); k == reflect.Struct || k == reflect.Pointer {
			return missingOfArray(d, t.Elem())
		}
	}
	return "", d.SkipValue()
}

// missingOfObject is [missing] of a struct with these fields.
func missingOfObject(d *jsontext.Decoder, fields []field) (path string, err error) {
	if _, err := d.ReadToken(); err != nil {
		return "", err
	}
	seen := make([]bool, len(fields))
	for d.PeekKind() != jsontext.KindEndObject {
		token, err := d.ReadToken()
		if err != nil {
			return "", err
		}
		name := token.String()
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		if i < 0 {
			if err := d.SkipValue(); err != nil {
				return "", err
			}
			continue
		}
		seen[i] = true
		switch path, err := missing(d, fields[i].of); {
		case err != nil:
			return "", err
		case strings.HasPrefix(path, "["):
			return name + path, nil
		case path != "":
			return name + "." + path, nil
		}
	}
	for i, f := range fields {
		if !seen[i] && !f.optional {
			return f.name, nil
		}
	}
	_, err = d.ReadToken()
	return "", err
}

// missingOfArray is [missing] of a slice or array with elements of type t.
func missingOfArray(d *jsontext.Decoder, t reflect.Type) (path string, err error) {
	if _, err := d.ReadToken(); err != nil {
		return "", err
	}
	for i := 0; d.PeekKind() != jsontext.KindEndArray; i++ {
		if path, err := missing(d, t); err != nil || path != "" {
			return fmt.Sprintf("[%d].%s", i, path), err
		}
	}
	_, err = d.ReadToken()
	return "", err
}

// field is a field of a struct as JSON has it.
type field struct {
	name     string
	optional bool // omitempty or omitzero
	of       reflect.Type
}

// fieldsByType are the fields of each struct type that was read.
var fieldsByType sync.Map

func fieldsOf(t reflect.Type) []field {
	if known, ok := fieldsByType.Load(t); ok {
		return known.([]field)
	}
	var list []field
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && name != "-" {
			list = append(list, field{cmp.Or(name, f.Name), strings.Contains(options, "omit"), f.Type})
		}
	}
	fieldsByType.Store(t, list)
	return list
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()
