package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/ledg-go/ledg/ceg/config"
)

// Format is the number of the file formats in this package. A run's config.json
// and result.json and a study's plan carry it under the key "format"; records are
// of the format of the config.json beside them. Files of older formats are read,
// those of newer ones refused.
//
// A file of the present format has all of its fields and no others. What is added
// to one is added in the upgrade from the format before, too, with the value that
// says what runs did before.
const Format = config.Format

// kind is a kind of file that has a format.
type kind uint8

const (
	configKind kind = iota
	recordKind
	resultKind
	planKind
)

// upgrades hold the functions that bring a file that is no config from a format to the
// next, beginning with format 1. They leave alone what is there already: a run that an
// older version began has newer records at its end.
var upgrades = map[int]func(k kind, file object){1: from1}

// from1 upgrades from format 1. Its oldest records timed the writing of
// checkpoints, and its oldest results knew neither the digest of the images nor
// the engines.
func from1(k kind, file object) {
	switch k {
	case recordKind:
		file.remove("time.checkpoint")
	case resultKind:
		file.add("images", `""`)
		file.add("engines", `null`)
	}
}

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

// remove removes a field.
func (o object) remove(name string) {
	if holder, field := o.at(name); holder != nil {
		delete(holder, field)
	}
}

// upgrade brings a file, or a line of one, from its format to the present one.
func upgrade(k kind, format int, data []byte) ([]byte, error) {
	if format == Format {
		return data, nil
	}
	if !json.Valid(data) { // torn, or more than one value: for Decode to say
		return data, nil
	}
	v, err := decodeNumbers(data)
	if err != nil {
		return nil, err
	}
	file, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("not a JSON object")
	}
	if k == configKind {
		config.Upgrade(format, file)
	}
	for f := format; f < Format; f++ {
		if up := upgrades[f]; up != nil {
			up(k, file)
		}
	}
	if k != recordKind {
		file["format"] = Format
	}
	return json.Marshal(file)
}

// upgradeFile upgrades a file that carries its format.
func upgradeFile(k kind, data []byte) ([]byte, error) {
	format, err := formatOf(data)
	if err != nil {
		return nil, err
	}
	return upgrade(k, format, data)
}

// formatOf returns the format that the JSON object in data carries, which has to be
// one that this version reads.
func formatOf(data []byte) (int, error) {
	var head struct {
		Format *int `json:"format"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return 0, fmt.Errorf("not a JSON object with a format: %w", err)
	}
	switch {
	case head.Format == nil:
		return 0, fmt.Errorf("it has no format number; this version of ledg reads formats 1 to %d", Format)
	case *head.Format < 1 || *head.Format > Format:
		return 0, fmt.Errorf("it has format %d; this version of ledg reads formats 1 to %d", *head.Format, Format)
	}
	return *head.Format, nil
}

// recordsFormat returns the format of a records file: that of the config beside
// it, or the present one where there is none.
func recordsFormat(fsys fs.FS, name string) (int, error) {
	data, err := fs.ReadFile(fsys, path.Join(path.Dir(name), ConfigFile))
	if errors.Is(err, fs.ErrNotExist) {
		return Format, nil
	}
	if err != nil {
		return 0, err
	}
	format, err := formatOf(data)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", ConfigFile, err)
	}
	return format, nil
}
