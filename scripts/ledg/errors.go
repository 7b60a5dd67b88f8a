package main

import (
	"errors"
	"fmt"
	"strings"
)

// usageError is a mistake in how the command was called: an unknown flag, a
// value out of range, a target domain that does not exist, a budget above the
// pool. It ends the program with status 2; every other error ends it with 1.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// usagef returns a usageError with the formatted text; %w wraps as in
// fmt.Errorf. The text names the flag or argument, what it got and what it
// wants: `--budget "0%": want 1 to 120 labels or a share of the pool such as 5%`.
func usagef(format string, args ...any) error {
	return &usageError{err: fmt.Errorf(format, args...)}
}

// exitStatus is the status that the program ends with: 0 for nil, 2 for a
// usageError anywhere in err's chain, 3 for a run that waits for labels, 1 for the
// rest.
func exitStatus(err error) int {
	var usage *usageError
	var awaiting *awaitingError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &awaiting):
		return 3
	case errors.As(err, &usage):
		return 2
	}
	return 1
}

// oneLine is the text of err on one line, for the last line of stderr.
func oneLine(err error) string {
	var parts []string
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); line != "" {
			parts = append(parts, line)
		}
	}
	return strings.Join(parts, " ")
}
