package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Format is the number of the file formats in this package. A run's config.json
// and result.json and a study's plan carry it under the key "format"; records are
// of the format of the config.json beside them. Files of older formats are read,
// those of newer ones refused.
//
// A file of the present format has all of its fields and no others. What is added
// to one is added in the upgrade from the format before, too, with the value that
// says what runs did before.
const Format = 4

// kind is a kind of file that has a format.
type kind uint8

const (
	configKind kind = iota
	recordKind
	resultKind
	planKind
)

// upgrades hold the functions that bring a file from a format to the next,
// beginning with format 1. They leave alone what is there already: a run that an
// older version began has newer records at its end.
var upgrades = [Format - 1]func(k kind, file object){from1, from2, from3}

// settingValue is a setting by its dotted name and a value as JSON.
type settingValue struct{ name, value string }

// added2 are the settings that format 1 did not have, or left out where they
// have these values, which are what all its runs did.
var added2 = []settingValue{
	{"network.weights", `null`},
	{"network.precision", `"tf32"`},
	{"schedule.timing", `"published"`},
	{"schedule.query_shares", `null`},
	{"schedule.evaluate_every", `0`},
	{"generalization.objective", `""`},
}

// added3 are those that format 2 did not have.
var added3 = []settingValue{
	{"protocol", `"paper"`},
	{"schedule.epoch_of", `"unlabelled"`},
	{"optimizer.nesterov", `false`},
	{"optimizer.drop_at", `0`},
	{"generalization.style_weights", `null`},
}

// added4 are those that the first files of format 3 did not have.
var added4 = []settingValue{
	{"generalization.average", `""`},
	{"generalization.threshold", `""`},
	{"exploration.initial", `""`},
	{"exploration.domains", `""`},
}

// unsaid are the values that settings have in an identity without being written
// there: those of all runs before there was a setting, and the objectives that a
// method's name and its other settings told apart before they had names.
var unsaid = slices.Concat(added2, added3, added4, []settingValue{
	{"generalization.objective", `"ceg"`},
	{"generalization.objective", `"erm"`},
	{"generalization.objective", `"fixmatch"`},
})

// from1 upgrades from format 1. Its oldest records timed the writing of
// checkpoints, and its oldest results knew neither the digest of the images nor
// the engines.
func from1(k kind, file object) {
	switch k {
	case configKind:
		for _, s := range added2 {
			file.add(s.name, s.value)
		}
	case recordKind:
		file.remove("time.checkpoint")
	case resultKind:
		file.add("images", `""`)
		file.add("engines", `null`)
	}
}

// from2 upgrades from format 2, which had no name for CEG's losses and their two
// cases: its method's name says which they were.
func from2(k kind, file object) {
	if k != configKind {
		return
	}
	for _, s := range added3 {
		file.add(s.name, s.value)
	}
	holder, field := file.at("generalization.objective")
	if now, err := json.Marshal(holder[field]); err != nil || string(now) != `""` {
		return
	}
	method, _, _ := strings.Cut(fmt.Sprint(file["method"]), " ") // a variant's name comes behind it
	name := "ceg"
	switch {
	case strings.HasSuffix(method, "-ce") || strings.HasSuffix(method, "+erm"):
		name = "erm"
	case method == "fixmatch" || strings.HasSuffix(method, "+fixmatch"):
		name = "fixmatch"
	}
	holder[field] = name
}

// from3 upgrades from format 3, to which settings were added after its first files
// had been written.
func from3(k kind, file object) {
	if k != configKind {
		return
	}
	for _, s := range added4 {
		file.add(s.name, s.value)
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
	for f := format; f < Format; f++ {
		upgrades[f-1](k, file)
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

// SettingsIdentity returns what tells the settings of a run, a config as JSON, from
// other settings, whatever the format: what has the value that all runs had before
// it became a setting is left out, and the format is 1. The order of fields stays,
// so that a run of these settings is found under the name that it always had.
func SettingsIdentity(config []byte) ([]byte, error) {
	var b bytes.Buffer
	if err := writeIdentity(&b, config, ""); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// writeIdentity writes the JSON object in data, whose fields are called prefix and
// their name.
func writeIdentity(b *bytes.Buffer, data []byte, prefix string) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("not a JSON object: %.40q", data)
	}
	b.WriteByte('{')
	first := true
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		name := fmt.Sprint(prefix, key)
		if slices.Contains(unsaid, settingValue{name, string(value)}) {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		fmt.Fprintf(b, "%q:", key)
		switch {
		case name == "format":
			b.WriteByte('1')
		case value[0] == '{':
			if err := writeIdentity(b, value, name+"."); err != nil {
				return err
			}
		default:
			b.Write(value)
		}
	}
	b.WriteByte('}')
	return nil
}
