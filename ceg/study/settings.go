package study

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/config"
)

// axes are the settings that a study has other fields for.
var axes = map[string]string{
	"method":                       "use the study's methods",
	"exploration.strategy":         "use the study's methods",
	"generalization.objective":     "use the study's methods",
	"preset":                       "use the study's preset",
	"seed":                         "use the study's seeds",
	"data.dataset":                 "use the study's dataset",
	"data.target":                  "use the study's targets",
	"network.weights":              "use the study's weights",
	"generalization.style_weights": "use the study's style_weights",
	"exploration.budget":           "use the study's budgets",
	"format":                       "the files set it",
}

// layer is a part of a study that names settings, and where it stands in the file.
type layer struct {
	path []any
	set  map[string]any
}

// over puts the settings of layers into one, later ones above those before them.
func over(layers []layer) (set map[string]any, err error) {
	set = map[string]any{}
	for _, l := range layers {
		for _, name := range slices.Sorted(maps.Keys(l.set)) {
			path := name
			if s, err := config.Lookup(name); err == nil {
				path = s.Path
			}
			if axis, ok := axes[path]; ok {
				return nil, fieldErrorf(append(slices.Clone(l.path), name), "%s cannot be set here: %s", path, axis)
			}
			set[path] = l.set[name]
		}
	}
	return set, nil
}

// blame finds the place of a study's file that an error of its settings is about.
func blame(err error, path []any, layers []layer) error {
	var names []string
	if e := (*config.Error)(nil); errors.As(err, &e) {
		names = []string{e.Path}
	}
	if e := (*config.Conflict)(nil); errors.As(err, &e) {
		names = e.Paths[:]
	}
	for _, l := range slices.Backward(layers) {
		for _, name := range names {
			if _, ok := l.set[name]; ok {
				if e, ok := err.(*config.Error); ok { // the path has its name
					err = e.Err
				}
				return &fieldError{append(slices.Clone(l.path), name), err}
			}
		}
	}
	return &fieldError{path, err}
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
