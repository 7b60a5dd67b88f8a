// Package enginetest gives tests a backend: the Go backend, or the one that the environment variable LEDG_TEST_BACKEND
// names, so that the same tests run on a GPU:
//
//	LEDG_TEST_BACKEND=xla:cuda,tf32=false go test ./ceg/nets
//
// A test asks for it in one line, and need not close it:
//
//	b := enginetest.Open(t)
package enginetest

import (
	"os"
	"sync"
	"testing"

	"github.com/ledg-go/ledg/ceg/engine"
)

// Variable is the environment variable that names the backend of the tests, as [engine.Open] takes it.
const Variable = "LEDG_TEST_BACKEND"

var open = sync.OnceValues(func() (engine.Backend, error) {
	spec := os.Getenv(Variable)
	if spec == "" {
		spec = "go"
	}
	return engine.Open(spec)
})

// Open returns the backend of this process's tests, names it in the test's log, and fails the test where it does not
// open. All tests share it, so none may close it.
func Open(tb testing.TB) engine.Backend {
	tb.Helper()
	b, err := open()
	if err != nil {
		tb.Fatalf("%s: %v", Variable, err)
	}
	tb.Log(b.Description)
	return b
}
