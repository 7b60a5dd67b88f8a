package study

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg"
)

// axes are the settings that a study has other fields for.
var axes = map[string]string{
	"method":                       "use the study's methods",
	"preset":                       "use the study's preset",
	"seed":                         "use the study's seeds",
	"data.dataset":                 "use the study's dataset",
	"data.target":                  "use the study's targets",
	"network.weights":              "use the study's weights",
	"generalization.style_weights": "use the study's style_weights",
	"exploration.budget":           "use the study's budgets",
	"format":                       "it is that of the files",
}

// The settings that bring others with them: the query epochs, and the optimizer's.
const (
	epochsSetting   = "schedule.epochs"
	timingSetting   = "schedule.timing"
	protocolSetting = "protocol"
)

// Set changes the setting with the dotted JSON name, such as
// "generalization.delta", to a value of its type: a number, a string, a boolean,
// a list of those, or null never. Setting schedule.epochs also scales the query
// epochs, as [ceg.Config.SetEpochs] does, setting schedule.timing replaces them and
// the initial share, as [ceg.Config.SetTiming] does, and setting protocol all that
// [ceg.Config.SetProtocol] does. An unknown name and a
// value of another type are errors, and then nothing is changed.
func Set(c *ceg.Config, name string, value any) error {
	field, err := setting(reflect.ValueOf(c).Elem(), name)
	if err != nil {
		return err
	}
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("%s: %v is no value for a setting", name, value)
	}
	wrong := fmt.Errorf("%s is %s, want %s", name, data, kindName(field.Type()))
	if value == nil {
		return wrong
	}
	v := reflect.New(field.Type())
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v.Interface()); err != nil {
		if _, ok := v.Interface().(encoding.TextUnmarshaler); ok {
			return fmt.Errorf("%s: %w", name, err) // which says what texts there are
		}
		return wrong
	}
	if name == epochsSetting {
		if n := int(v.Elem().Int()); n >= 1 {
			c.SetEpochs(n)
			return nil
		}
	}
	if name == protocolSetting {
		return c.SetProtocol(ceg.Protocol(v.Elem().String()))
	}
	if name == timingSetting {
		return c.SetTiming(ceg.Timing(v.Elem().String()))
	}
	field.Set(v.Elem())
	return nil
}

// setAll applies settings by name, the protocol, the number of epochs and the timing first,
// since they set others. The error is a fieldError under the path.
func setAll(c *ceg.Config, settings map[string]any, path ...any) error {
	names := slices.Sorted(maps.Keys(settings))
	for _, first := range []string{timingSetting, epochsSetting, protocolSetting} {
		if i := slices.Index(names, first); i > 0 {
			names = slices.Insert(slices.Delete(names, i, i+1), 0, first)
		}
	}
	for _, name := range names {
		at := append(slices.Clone(path), name)
		if axis, ok := axes[name]; ok {
			return fieldErrorf(at, "%s cannot be set here: %s", name, axis)
		}
		if err := Set(c, name, settings[name]); err != nil {
			return &fieldError{at, err}
		}
	}
	return nil
}

// setting finds the field with the dotted name in the struct v.
func setting(v reflect.Value, name string) (reflect.Value, error) {
	prefix := ""
	for part := range strings.SplitSeq(name, ".") {
		if v.Kind() != reflect.Struct {
			return v, fmt.Errorf("%s is a setting, not a group: there is no %s", strings.TrimSuffix(prefix, "."), name)
		}
		names := fieldNames(v.Type())
		i := slices.Index(names, part)
		if i < 0 {
			return v, fmt.Errorf("no setting %q; there are %s%s", name, prefix, strings.Join(names, ", "+prefix))
		}
		v = v.Field(i)
		prefix += part + "."
	}
	if v.Kind() == reflect.Struct {
		return v, fmt.Errorf("%s is a group of settings: name one of %s%s", name, prefix, strings.Join(fieldNames(v.Type()), ", "+prefix))
	}
	return v, nil
}

// fieldNames returns the JSON names of a struct's fields, in their order.
func fieldNames(t reflect.Type) []string {
	var names []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// kindName says what values a type has.
func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Uint64:
		return "a whole number, 0 or more"
	case reflect.Float64:
		return "a number"
	case reflect.String:
		return "a text"
	case reflect.Slice:
		return "a list of which each is " + kindName(t.Elem())
	}
	return "a " + t.String()
}

// fieldError is an error in a part of a study. Its path leads there through the
// keys and the numbers of list items.
type fieldError struct {
	path []any
	err  error
}

func fieldErrorf(path []any, format string, args ...any) error {
	return &fieldError{path, fmt.Errorf(format, args...)}
}

func (e *fieldError) Error() string {
	var b strings.Builder
	for _, p := range e.path {
		switch p := p.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", p)
		case string:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(p)
		}
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	return b.String() + e.err.Error()
}

func (e *fieldError) Unwrap() error { return e.err }
