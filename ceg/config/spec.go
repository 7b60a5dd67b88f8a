package config

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/datasets"
)

// Spec specifies a run; [Resolve] fills in the defaults. The fields are shortcuts for common
// settings; empty ones are unspecified.
type Spec struct {
	Dataset, Target string
	// Method is one of [Methods], or STRATEGY+OBJECTIVE; Strategy and Objective specify the two
	// separately.
	Method, Strategy, Objective string
	Preset                      Preset
	Timing                      Timing
	Budget                      string
	Epochs                      int
	Seed                        uint64
	// Net and Width are the network's name and width.
	Net   string
	Width int
	// Weights and StyleWeights are arguments of pretrained.Open and model.OpenStyle.
	Weights, StyleWeights string
	// Variant is appended to the method's name in tables.
	Variant string
	// Set holds settings by path or by a shorter name ([Lookup]), with values of their types:
	// numbers, strings, booleans and lists.
	Set map[string]any
}

// Error is the error of a setting that is invalid by itself or for the data.
type Error struct {
	// Path is the setting's path.
	Path string
	Err  error
}

func (e *Error) Error() string { return e.Path + ": " + e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an *Error about a setting.
func Errorf(path, format string, args ...any) error { return &Error{path, fmt.Errorf(format, args...)} }

// Conflict is the error of two settings that contradict each other.
type Conflict struct {
	Paths [2]string
	// Values are the settings' values as JSON, and Why explains the contradiction.
	Values [2]string
	Why    string
}

func (e *Conflict) Error() string {
	return fmt.Sprintf("%s %s and %s %s contradict each other: %s", e.Paths[0], e.Values[0], e.Paths[1], e.Values[1], e.Why)
}

func conflict(a string, va any, b string, vb any, why string) error {
	return &Conflict{[2]string{a, b}, [2]string{asJSON(va), asJSON(vb)}, why}
}

// asJSON is a value as an error shows it.
func asJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}

// Resolve returns the config of a spec: settings that it does not name have the defaults of
// [Settings]. It reads no files, and the order of settings does not matter. Named weights have
// only a name until they are opened.
//
// Unknown, out-of-range and contradictory settings are an *Error or a *Conflict, which names
// both settings.
func Resolve(s Spec) (Config, error) {
	specified, err := s.specified()
	if err != nil {
		return Config{}, err
	}
	unalias(specified)
	if err := splitMethod(specified); err != nil {
		return Config{}, err
	}
	if err := SplitNetwork(specified); err != nil {
		return Config{}, err
	}
	d := &draft{Config: Config{Format: Format}, specified: specified}
	for i := range table {
		row := &table[i]
		v, ok := specified[row.Path]
		if name, isText := v.(string); isText && row.Path == "data.target" {
			v = datasets.SameName(name)
		}
		if !ok {
			v = row.value(d)
		}
		if err := row.set(&d.Config, v); err != nil {
			return Config{}, err
		}
		if ok {
			if err := row.check(d.Config, !row.isZero(v)); err != nil {
				return Config{}, err
			}
		}
	}
	if err := d.contradictions(); err != nil {
		return Config{}, err
	}
	if s.Variant != "" {
		d.Method += " " + s.Variant
	}
	return d.Config, d.Validate()
}

// Must is Resolve for specs known to be valid; it panics on an error.
func Must(s Spec) Config {
	c, err := Resolve(s)
	if err != nil {
		panic(err)
	}
	return c
}

// specified returns all settings of a spec, by path.
func (s Spec) specified() (map[string]any, error) {
	specified := map[string]any{}
	for path, field := range s.fields() {
		if v := reflect.ValueOf(field).Elem(); !v.IsZero() {
			specified[path] = v.Interface()
			if v.Kind() == reflect.String { // of any type of texts
				specified[path] = v.String()
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(s.Set)) {
		paths, err := expand(path, s.Set[path])
		if err != nil {
			return nil, err
		}
		for path, v := range paths {
			if before, ok := specified[path]; ok && asJSON(before) != asJSON(v) {
				return nil, conflict(path, before, path, v, "a setting is said once")
			}
			specified[path] = v
		}
	}
	return specified, nil
}

// number returns a value as a float64; ok is false if it is no number.
func number(v any) (f float64, ok bool) {
	x := reflect.ValueOf(v)
	switch {
	case x.CanFloat():
		return x.Float(), true
	case x.CanInt():
		return float64(x.Int()), true
	case x.CanUint():
		return float64(x.Uint()), true
	}
	return 0, false
}

// unalias replaces aliases of strategies by their registered names.
func unalias(specified map[string]any) {
	for _, path := range []string{"exploration.strategy", "exploration.initial", "method"} {
		if name, ok := specified[path].(string); ok {
			strategy, rest := name, ""
			if path == "method" {
				if i := strings.IndexByte(name, '+'); i >= 0 {
					strategy, rest = name[:i], name[i:]
				} else if s, ce := strings.CutSuffix(name, "-ce"); ce {
					strategy, rest = s, "-ce"
				}
			}
			specified[path] = active.Canonical(strategy) + rest
		}
	}
}

// splitMethod splits a method's name into strategy and objective.
func splitMethod(specified map[string]any) error {
	method, ok := specified["method"].(string)
	if !ok {
		return nil
	}
	strategy, objective, ok := SplitMethod(method)
	if !ok {
		near := ""
		try := nearest(method, &near)
		for _, m := range Methods() {
			try(m, m)
		}
		if near != "" {
			return Errorf("method", "%q: no such method; did you mean %s?", method, near)
		}
		return Errorf("method", "%q, want one of %s, or STRATEGY+OBJECTIVE", method, strings.Join(Methods(), ", "))
	}
	for path, is := range map[string]string{"exploration.strategy": strategy, "generalization.objective": objective} {
		if other, ok := specified[path]; ok && other != is {
			return conflict("method", method, path, other, "the method is the strategy "+strategy+" with the objective "+objective)
		}
		specified[path] = is
	}
	return nil
}

// contradictions finds explicit settings that contradict each other.
func (d *draft) contradictions() error {
	c := d.Config
	if w := c.Network.Weights; w != nil && w.Name == ImageNet && d.isSpecified("network.width") {
		if n, _ := LookupNetwork(c.Network.Name); n.Weights != "" && c.Network.Width != n.Width {
			return conflict("network.width", c.Network.Width, "network.weights", w.Name, fmt.Sprintf("these weights of %s are of width %d", n.Name, n.Width))
		}
	}
	if c.Schedule.Timing == Once && c.Exploration.InitialShare < 1 && !d.isSpecified("schedule.query_after") {
		return conflict("schedule.timing", c.Schedule.Timing, "exploration.initial_share", c.Exploration.InitialShare, "once is all labels before training")
	}
	return nil
}

func (s Setting) field(c *Config) reflect.Value {
	index, ok := fieldIndices.Load(s.Path)
	if !ok {
		index, _ = fieldIndices.LoadOrStore(s.Path, fieldIndex(s.Path))
	}
	return reflect.ValueOf(c).Elem().FieldByIndex(index.([]int))
}

// fieldIndices has index sequences of [fieldIndex], by path.
var fieldIndices sync.Map

// fieldIndex returns the index sequence of a setting's field in [Config].
func fieldIndex(path string) (index []int) {
	t := reflect.TypeFor[Config]()
	for part := range strings.SplitSeq(path, ".") {
		for f := range t.Fields() {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name == part {
				index, t = append(index, f.Index...), f.Type
				break
			}
		}
	}
	return index
}

// Of returns the setting's value in a config, typed as in JSON.
func (s Setting) Of(c Config) any { return s.field(&c).Interface() }

// Kind returns the setting's type: string, int, uint, float, bool or list.
func (s Setting) Kind() string {
	switch s.field(new(Config)).Kind() {
	case reflect.Int:
		return "int"
	case reflect.Uint64:
		return "uint"
	case reflect.Float64:
		return "float"
	case reflect.Bool:
		return "bool"
	case reflect.Slice:
		return "list"
	}
	return "string"
}

// Text returns the setting's value in a config, in the form of a flag.
func (s Setting) Text(c Config) string {
	v := s.field(&c)
	switch {
	case v.IsZero() && s.Zero != "":
		return s.Zero
	case v.Type() == weightsType:
		return c.Network.Weights.String()
	case v.Kind() == reflect.String:
		return fmt.Sprint(v.Interface())
	}
	return asJSON(v.Interface())
}

// With returns the config with another value of the setting and all others unchanged.
func (s Setting) With(c Config, value any) (Config, error) {
	err := s.set(&c, value)
	return c, err
}

// Valid lists the valid texts or the range of a number; empty for any.
func (s Setting) Valid() string {
	switch {
	case s.Words != nil && s.Zero != "":
		return strings.Join(append([]string{s.Zero}, s.Words()...), ", ")
	case s.Words != nil:
		return strings.Join(s.Words(), ", ")
	case s.Range != "":
		return rangeWords(s.Range)
	}
	return ""
}

var weightsType = reflect.TypeFor[*Weights]()

// isZero reports whether a value is the word for the empty one.
func (s Setting) isZero(value any) bool { return s.Zero != "" && fmt.Sprint(value) == s.Zero }

func (s Setting) set(c *Config, value any) error {
	field := s.field(c)
	if s.isZero(value) {
		field.SetZero()
		return nil
	}
	if text, ok := value.(string); ok && field.Type() == weightsType {
		if text != "" { // found when the run begins; its name counts until then
			w := &Weights{Name: text}
			if !w.OnHub() {
				w.Name = filepath.Base(text)
			}
			field.Set(reflect.ValueOf(w))
		}
		return nil
	}
	data, err := json.Marshal(value)
	wrong := func() error {
		return Errorf(s.Path, "%s, want %s", cmp.Or(string(data), fmt.Sprint(value)), s.kind(field.Type()))
	}
	if err != nil {
		return wrong()
	}
	nothing := value == nil || reflect.ValueOf(value).Kind() == reflect.Pointer && reflect.ValueOf(value).IsNil()
	if nothing && field.Kind() != reflect.Pointer {
		return wrong()
	}
	v := reflect.New(field.Type())
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v.Interface()); err != nil {
		if _, ok := v.Interface().(encoding.TextUnmarshaler); ok {
			return &Error{s.Path, err} // which says what texts there are
		}
		return wrong()
	}
	field.Set(v.Elem())
	return nil
}

func (s Setting) kind(t reflect.Type) string {
	switch {
	case t == weightsType:
		return "a file, " + ImageNet + " or " + NoWeights
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Int:
		return "a whole number"
	case t.Kind() == reflect.Uint64:
		return "a whole number, 0 or more"
	case t.Kind() == reflect.Float64:
		return "a number"
	case t.Kind() == reflect.Slice:
		return "a list, each item " + s.kind(t.Elem())
	}
	return "a text"
}

// Parse parses a flag's text.
func (s Setting) Parse(text string) (any, error) {
	t := s.field(new(Config)).Type()
	switch {
	case t.Kind() == reflect.String || t == weightsType || s.isZero(text):
		return text, nil
	case t.Kind() == reflect.Slice && !strings.HasPrefix(text, "["):
		if t.Elem().Kind() == reflect.String {
			return strings.Split(text, ","), nil
		}
		text = "[" + text + "]"
	}
	v := reflect.New(t)
	if err := json.Unmarshal([]byte(text), v.Interface()); err != nil {
		return nil, Errorf(s.Path, "%s, want %s", text, s.kind(t))
	}
	return v.Elem().Interface(), nil
}
