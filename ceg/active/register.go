package active

import (
	"cmp"
	"fmt"
	"sync"

	"github.com/ledg-go/ledg/ceg/internal/registry"
	"github.com/ledg-go/ledg/ceg/internal/source"
)

// registered holds the strategies that the program registered, in order of registration.
var registered struct {
	sync.Mutex
	entries []Entry
}

func init() {
	for _, e := range builtIn {
		registry.Reserve("query strategy", e.Name)
	}
	for alias := range aliases {
		registry.Reserve("query strategy", alias)
	}
}

// Register makes a strategy available in this program under its name, like the
// built-in ones: in configs, presets, studies and tables, and in
// [Strategy]+OBJECTIVE names of methods. Register it before configs are resolved, for example in
// an init function or in the initialiser of a variable.
//
// A name has lower-case letters, digits and dashes, begins with a letter and has at most 40
// characters. Names of built-in or registered strategies, objectives and presets are errors, and
// so is the suffix -ce. Check a new strategy with package activetest.
//
// A digest of the strategy's code becomes part of the config of every run that uses it, and so of
// the run's folder and identity. Changed code is another run, and a run that has begun is not
// resumed with it. The digest covers the strategy's methods and functions, the lines that register
// it, and the declarations of the same package that these use, such as constants and helper
// functions. Comments and formatting do not count. The code is read from the source files. Without
// them, as in programs built with -trimpath, the digest is of the module's version and checksum,
// or else of the whole program. Code in other packages does not count: use [RegisterEntry] with a
// Code of your own where that changes.
func Register(s Strategy) error {
	if s == nil {
		return fmt.Errorf("register a query strategy: it is nil")
	}
	return RegisterEntry(Entry{Name: s.Name(), New: func(o Options) Strategy {
		if scored, ok := s.(Scored); ok {
			scored.TieSeed = o.TieSeed
			return scored
		}
		return s
	}}, s)
}

// RegisterFunc registers the strategy of a scoring function; see [NewScored].
func RegisterFunc(name string, score func(v View) []float64) error {
	s, err := NewScored(name, score)
	if err != nil {
		return err
	}
	return Register(s)
}

// RegisterEntry is [Register] for a strategy with a description, a citation, [Options] or a Code.
// Only Name and New are required. Change the Code, such as "v2", whenever results change. An empty
// Code is derived as in Register; the functions in values are then part of it.
func RegisterEntry(e Entry, values ...any) error {
	if e.New == nil {
		return fmt.Errorf("query strategy %q: New is nil", e.Name)
	}
	if s := e.New(Options{}); s == nil || s.Name() != e.Name {
		return fmt.Errorf("query strategy %q: New returns a strategy with another name", e.Name)
	}
	if e.Code == "" {
		code, err := source.Digest(append(values, e.New, e.New(Options{}))...)
		if err != nil {
			return fmt.Errorf("query strategy %q: %w", e.Name, err)
		}
		e.Code = code
	}
	e.Line, e.Citation = cmp.Or(e.Line, "registered by this program"), cmp.Or(e.Citation, "-")
	registered.Lock()
	defer registered.Unlock()
	if err := registry.Add("query strategy", e.Name); err != nil {
		return err
	}
	registered.entries = append(registered.entries, e)
	return nil
}

// CodeOf returns the code of a registered strategy, "" for built-in and unknown ones.
func CodeOf(name string) string {
	e, _ := Lookup(name)
	return e.Code
}
