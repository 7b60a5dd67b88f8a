// Package registry holds the names of query strategies and training objectives, built-in ones and
// those that a program registers.
package registry

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

var (
	mu sync.Mutex
	// taken maps each name to its owner, such as "a built-in objective".
	taken = map[string]string{
		"none": "a setting", "paper": "a preset", "authors": "a preset", "ledg": "a preset", "own": "a schedule", "once": "a schedule",
	}
)

var valid = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// maxName is the most characters of a name: it is part of folders' names.
const maxName = 40

// Reserve adds names of built-in strategies or objectives. A name may be both, such as ceg.
func Reserve(kind string, names ...string) {
	mu.Lock()
	defer mu.Unlock()
	for _, n := range names {
		taken[n] = "a built-in " + kind
	}
}

// Add adds the name of a strategy or objective that a program registers. Invalid names and names
// in use are errors.
func Add(kind, name string) error {
	mu.Lock()
	defer mu.Unlock()
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%s %q: %w", kind, name, fmt.Errorf(format, args...))
	}
	owner, is := taken[name]
	switch {
	case len(name) > maxName:
		return fail("the name has %d characters, want at most %d", len(name), maxName)
	case !valid.MatchString(name):
		return fail("a name has lower-case letters, digits and single dashes, and begins with a letter: such as margin-density")
	case strings.HasSuffix(name, "-ce"):
		return fail("a name cannot end with -ce, which stands for training with cross-entropy")
	case is:
		return fail("the name is taken by %s: choose another", owner)
	}
	taken[name] = "a registered " + kind
	return nil
}
