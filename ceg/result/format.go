package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/ledg-go/ledg/ceg/config"
)

// Format is the number of the file formats in this package. A run's config.json
// and result.json and a study's plan carry it under the key "format". Settings of all
// older formats are read, other files from format 4 on, in which they have not changed
// since; those of newer formats are refused.
//
// A file of the present format has all of its fields and no others. What is added to
// settings is added in the upgrade from the format before, too, with the value that
// says what runs did before.
const Format = config.Format

// oldest is the oldest format that results, plans and collected runs are read in.
const oldest = 4

// object is a JSON object, decoded with its numbers as they are written.
type object map[string]any

// at returns the object that holds the field with a dotted name, nil if there is
// none, and the field's own name.
func (o object) at(name string) (holder object, field string) {
	for {
		first, rest, nested := strings.Cut(name, ".")
		if !nested {
			return o, first
		}
		inner, ok := o[first].(map[string]any)
		if !ok {
			return nil, rest
		}
		o, name = inner, rest
	}
}

// add adds a field with a value as JSON, unless it is there.
func (o object) add(name, value string) {
	if holder, field := o.at(name); holder != nil {
		if _, ok := holder[field]; !ok {
			holder[field] = json.RawMessage(value)
		}
	}
}

// upgrade brings settings to the present format.
func upgrade(data []byte) ([]byte, error) {
	format, err := formatOf(data, 1)
	if err != nil || format == Format {
		return data, err
	}
	v, err := decodeNumbers(data)
	if err != nil {
		return nil, err
	}
	file, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("not a JSON object")
	}
	config.Upgrade(format, file)
	file["format"] = Format
	return json.Marshal(file)
}

// formatOf returns the format that the JSON object in data carries, which has to be
// one that this version reads: the present one, or an older one from the given on.
func formatOf(data []byte, from int) (int, error) {
	var head struct {
		Format *int `json:"format"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return 0, fmt.Errorf("not a JSON object with a format: %w", err)
	}
	reads := fmt.Sprintf("formats %d to %d", from, Format)
	if from == Format {
		reads = fmt.Sprintf("format %d", Format)
	}
	switch {
	case head.Format == nil:
		return 0, fmt.Errorf("it has no format number; this version of ledg reads %s", reads)
	case *head.Format < from || *head.Format > Format:
		return 0, fmt.Errorf("it has format %d; this version of ledg reads %s", *head.Format, reads)
	}
	return *head.Format, nil
}

// readFormatted reads a file that carries its format, other than settings, strictly
// into v.
func readFormatted(fsys fs.FS, name string, v any) error {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	if _, err = formatOf(data, oldest); err == nil {
		err = Decode(data, v)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// readSettings reads a run's settings as those of the present format.
func readSettings(fsys fs.FS, name string) ([]byte, error) {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	if data, err = upgrade(data); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

// ReadConfig reads a run's config.json into v, strictly as Decode does, after
// bringing it to the present format. The error for a file of a newer format says so
// before anything else.
func ReadConfig(fsys fs.FS, name string, v any) error {
	data, err := readSettings(fsys, name)
	if err != nil {
		return err
	}
	if err := Decode(data, v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
