package objective

import (
	"cmp"
	"fmt"
	"sync"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/internal/registry"
	"github.com/ledg-go/ledg/ceg/internal/source"
)

// Entry describes an objective for [RegisterEntry].
type Entry struct {
	// Name is the name of the objective that New returns.
	Name string
	// Line is a one-line description and Citation the source. Both are optional.
	Line, Citation string
	// New returns the objective for the config of a run.
	New func(c config.Config) Objective
	// Reduced is true if losses are reduced by [Passes.Reduce] of the settings, on which default
	// learning rates depend. Confident is true if pseudo-labels come from [Confident], so that
	// adaptive thresholds apply.
	Reduced, Confident bool
	// Code identifies the code. Change it whenever results change. An empty one is derived; see
	// [Register].
	Code string
}

// registered holds the entries of the objectives that the program registered, by name.
var registered sync.Map

// Register makes an objective available in this program under its name, like the
// built-in ones: in configs, presets, studies, tables and methods. STRATEGY+NAME is a method, and
// so is NAME alone, with random labels.
// Register it before configs are resolved, for example in an init function or in the initialiser of
// a variable.
//
// The objective has to be valid ([Objective.Validate]). Its name has lower-case letters, digits and
// dashes, begins with a letter and has at most 40 characters. Names of built-in or registered
// objectives, strategies and presets are errors, and so is the suffix -ce. Check a new objective
// with objectivetest.Check.
//
// A digest of the objective's code becomes part of the config of every run that uses it, as
// described at active.Register.
func Register(o Objective) error {
	return RegisterEntry(Entry{Name: o.Name, New: func(config.Config) Objective { return o }}, o)
}

// RegisterEntry is [Register] for an objective that depends on the config of a run. The functions
// in values are part of its code.
func RegisterEntry(e Entry, values ...any) error {
	fail := func(err error) error { return fmt.Errorf("objective %q: %w", e.Name, err) }
	if e.New == nil {
		return fail(fmt.Errorf("New is nil"))
	}
	o := e.New(config.Must(config.Spec{Target: "photo"}))
	if err := o.Validate(); err != nil {
		return err
	}
	if o.Name != e.Name {
		return fail(fmt.Errorf("New returns an objective called %q", o.Name))
	}
	if e.Code == "" {
		code, err := source.Digest(append(values, e.New, o)...)
		if err != nil {
			return fail(err)
		}
		e.Code = code
	}
	if err := registry.Add("objective", e.Name); err != nil {
		return err
	}
	registered.Store(e.Name, e)
	config.AddObjective(config.Objective{
		Name: e.Name, Line: cmp.Or(e.Line, "registered by this program"), Citation: cmp.Or(e.Citation, "-"), Code: e.Code,
		Reduced: e.Reduced, Confidence: e.Confident, Pixels: o.Images, OwnHeads: o.Test != nil, Fits: o.Fit != nil, Names: o.Names,
		Unlabelled: len(o.Views(Unlabelled)) > 0 || o.Uses(Unlabelled) || o.Pool,
	})
	return nil
}

// builder returns the constructor of an objective; ok is false for ceg, erm and fixmatch, which New
// makes itself, and for unknown names.
func builder(name string) (build func(c config.Config) Objective, ok bool) {
	if build, ok = builders[name]; ok {
		return build, true
	}
	e, ok := registered.Load(name)
	if !ok {
		return nil, false
	}
	return e.(Entry).New, true
}
