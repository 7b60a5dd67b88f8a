package config

import (
	"bytes"
	"encoding/json"
	"encoding/json/jsontext"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Format is the format version of config.json. A run's config.json and result.json and a study's
// plan have it under the key "format". Settings record the first format that has them, and their
// value in older ones.
const Format = 4

// upgrade brings the settings of a config, decoded from JSON of a format, to the present one.
// Existing settings stay: settings were added to some formats after their first files had been
// written.
func upgrade(format int, config map[string]any) {
	for _, s := range table {
		if s.Since <= max(format, 1) {
			continue
		}
		holder, field := config, s.Path
		for {
			first, rest, nested := strings.Cut(field, ".")
			if !nested {
				break
			}
			inner, ok := holder[first].(map[string]any)
			if !ok {
				holder = nil
				break
			}
			holder, field = inner, rest
		}
		if holder == nil {
			continue
		}
		if _, ok := holder[field]; !ok {
			holder[field] = json.RawMessage(s.Before)
		}
	}
	nameObjective(config)
}

// Upgrade converts a config, JSON of any format, to the current format.
func Upgrade(data []byte) ([]byte, error) {
	format, err := FormatOf(data, 1)
	if err != nil || format == Format {
		return data, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber() // seeds do not fit into a float64
	file := map[string]any{}
	if err := d.Decode(&file); err != nil {
		return nil, err
	}
	upgrade(format, file)
	file["format"] = Format
	return json.Marshal(file)
}

// Parse reads a config from JSON of any format.
func Parse(data []byte) (c Config, err error) {
	if data, err = Upgrade(data); err != nil {
		return c, err
	}
	return c, json.Unmarshal(data, &c)
}

// FormatOf returns the format of a JSON object. It is an error if it is older than from or newer
// than this version reads.
func FormatOf(data []byte, from int) (int, error) {
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

// Difference returns the path of the first setting in which two configs differ, with both values
// as JSON; empty if they are equal.
func Difference(a, b Config) (path, inA, inB string) {
	for _, s := range table {
		if x, y := asJSON(s.Of(a)), asJSON(s.Of(b)); x != y {
			return s.Path, x, y
		}
	}
	return "", "", ""
}

// nameObjective names the objective of a config that is older than its name: its method
// says which it was.
func nameObjective(config map[string]any) {
	g, ok := config["generalization"].(map[string]any)
	if !ok {
		return
	}
	if now, err := json.Marshal(g["objective"]); err != nil || string(now) != `""` {
		return
	}
	method, _, _ := strings.Cut(fmt.Sprint(config["method"]), " ") // followed by a variant's name
	g["objective"] = CEG
	switch {
	case strings.HasSuffix(method, "-ce") || strings.HasSuffix(method, "+"+ERM):
		g["objective"] = ERM
	case method == FixMatch || strings.HasSuffix(method, "+"+FixMatch):
		g["objective"] = FixMatch
	}
}

// Identity returns the settings that distinguish runs, as JSON: equal settings give equal bytes
// in all versions of ledg that have them. Settings with the value that older versions implied
// are left out, and the format is 1. Field order is fixed, so a run keeps its folder name across
// versions.
func (c Config) Identity() ([]byte, error) {
	data, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := writeIdentity(&b, jsontext.NewDecoder(bytes.NewReader(data)), ""); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// omitted reports whether an identity omits a setting with this JSON value.
func omitted(path, value string) bool {
	for i := range table { // by index, as a Setting is large and this is called for every setting of every run
		if s := &table[i]; s.Path == path {
			return s.Since > 1 && s.Before == value || slices.Contains(s.omitted, value)
		}
	}
	return false
}

// writeIdentity writes the JSON object that is next in d, whose fields are called prefix and their
// name.
func writeIdentity(b *bytes.Buffer, d *jsontext.Decoder, prefix string) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	b.WriteByte('{')
	first := true
	for d.PeekKind() != jsontext.KindEndObject {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		key := token.String()
		name := prefix + key
		object := d.PeekKind() == jsontext.KindBeginObject // objects are never left out
		var value jsontext.Value
		if !object {
			if value, err = d.ReadValue(); err != nil {
				return err
			}
			if omitted(name, string(value)) {
				continue
			}
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		b.WriteString(strconv.Quote(key))
		b.WriteByte(':')
		switch {
		case name == "format":
			b.WriteByte('1')
		case object:
			if err := writeIdentity(b, d, name+"."); err != nil {
				return err
			}
		default:
			b.Write(value)
		}
	}
	_, err := d.ReadToken()
	b.WriteByte('}')
	return err
}
