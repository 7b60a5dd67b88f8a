package config

import (
	"bytes"
	"encoding/json"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Format is the format version of config.json. A run's config.json and result.json and a study's
// plan have it under the key "format".
const Format = 1

// Parse reads a config from JSON.
func Parse(data []byte) (c Config, err error) {
	if err = CheckFormat(data); err != nil {
		return c, err
	}
	return c, json.Unmarshal(data, &c)
}

// CheckFormat returns an error unless a JSON object has the present [Format].
func CheckFormat(data []byte) error {
	var head struct {
		Format *int `json:"format"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("not a JSON object with a format: %w", err)
	}
	switch {
	case head.Format == nil:
		return fmt.Errorf("it has no format number; this version of ledg reads format %d", Format)
	case *head.Format != Format:
		return fmt.Errorf("it has format %d; this version of ledg reads format %d", *head.Format, Format)
	}
	return nil
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

// Identity returns the settings that distinguish runs, as JSON: equal settings give equal bytes.
// Settings with the values that their rows omit are left out: a new setting that omits its
// default keeps the folder names of runs without it. Field order is fixed.
func (c Config) Identity() ([]byte, error) {
	data, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	d, e := jsontext.NewDecoder(bytes.NewReader(data)), jsontext.NewEncoder(&b, jsontext.PreserveRawStrings(true))
	for {
		token, err := d.ReadToken()
		if errors.Is(err, io.EOF) {
			return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
		}
		if err != nil {
			return nil, err
		}
		token = token.Clone()
		var value jsontext.Value
		kind, n := d.StackIndex(d.StackDepth())
		if name := kind == jsontext.KindBeginObject && n%2 == 1; name && d.PeekKind() != jsontext.KindBeginObject { // objects are never left out
			if value, err = d.ReadValue(); err != nil {
				return nil, err
			}
			if omitted(strings.ReplaceAll(string(d.StackPointer())[1:], "/", "."), string(value)) {
				continue
			}
		}
		if err := e.WriteToken(token); err != nil {
			return nil, err
		}
		if value != nil {
			if err := e.WriteValue(value); err != nil {
				return nil, err
			}
		}
	}
}

// omitted reports whether an identity omits a setting with this JSON value.
func omitted(path, value string) bool {
	for i := range table { // by index, as a Setting is large and this is called for every setting of every run
		if s := &table[i]; s.Path == path {
			return slices.Contains(s.omitted, value)
		}
	}
	return false
}
