// Package fatal ends tests at errors that they do not expect, or without one that they do.
package fatal

import (
	"strings"
	"testing"
)

// If ends a test at an error.
func If(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get returns the value of a call, and ends the test at its error: v := fatal.Get(f())(t).
func Get[A any](a A, err error) func(testing.TB) A {
	return func(t testing.TB) A {
		t.Helper()
		If(t, err)
		return a
	}
}

// Get2 is Get for a call with two values.
func Get2[A, B any](a A, b B, err error) func(testing.TB) (A, B) {
	return func(t testing.TB) (A, B) {
		t.Helper()
		If(t, err)
		return a, b
	}
}

// Says ends a test unless an error has a text.
func Says(t testing.TB, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Fatalf("error %v, want one with %q", err, text)
	}
}

// Err returns the error of a call with a value, for [Says].
func Err[A any](_ A, err error) error { return err }

// Err2 is Err for a call with two values.
func Err2[A, B any](_ A, _ B, err error) error { return err }
