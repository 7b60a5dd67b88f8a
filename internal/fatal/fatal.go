// Package fatal ends tests at errors that they do not expect.
package fatal

import "testing"

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
