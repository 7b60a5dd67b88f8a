// Package enginetest opens a backend for tests: the Go backend, or the one in the environment
// variable LEDG_TEST_BACKEND, so that the same tests run on a GPU:
//
//	LEDG_TEST_BACKEND=xla:cuda,tf32=false go test ./ceg/nets
//
// A test opens it in one line and need not close it:
//
//	b := enginetest.Open(t)
//
// XLA returns the spec of XLA on the CPU if scripts/test.sh --all has downloaded its plugin, and
// Runtime returns the library of ONNX Runtime:
//
//	spec := enginetest.XLA(t)
package enginetest

import (
	"cmp"
	"os"
	"sync"
	"testing"

	"github.com/ledg-go/ledg/ceg/engine"
)

// Variable is the environment variable that names the backend of tests, in the form of
// [engine.Open].
const Variable = "LEDG_TEST_BACKEND"

// Spec names the backend of tests: the value of [Variable], or go.
func Spec() string { return cmp.Or(os.Getenv(Variable), "go") }

var open = sync.OnceValues(func() (engine.Backend, error) { return engine.Open(Spec()) })

// Open returns the backend of this process's tests, logs its name, and fails the test on an
// error. All tests share it, so none may close it.
func Open(tb testing.TB) engine.Backend {
	tb.Helper()
	b, err := open()
	if err != nil {
		tb.Fatalf("%s: %v", Variable, err)
	}
	tb.Log(b.Description)
	return b
}

// Kinds lists the kinds whose networks to test on a backend: on Go also XLA's, which it can
// compute; on XLA its own alone, since XLA takes minutes to compile the other.
func Kinds(b engine.Backend) []engine.Kind {
	if b.Kind == engine.Go {
		return []engine.Kind{engine.Go, engine.XLA}
	}
	return []engine.Kind{b.Kind}
}

// XLAVariable is the environment variable with the path of XLA's plugin for the CPU. Tests that
// need it are skipped without.
const XLAVariable = "LEDG_TEST_XLA"

// XLA returns the spec of XLA on the CPU, and skips the test if there is no plugin.
func XLA(tb testing.TB) string {
	tb.Helper()
	file := os.Getenv(XLAVariable)
	if file == "" {
		tb.Skip("XLA not tested: " + XLAVariable + " names no plugin; scripts/test.sh --all fetches one")
	}
	return "xla:" + file
}

// RuntimeVariable is the environment variable with the path of ONNX Runtime's library. Tests
// that need it are skipped without.
const RuntimeVariable = "LEDG_TEST_ORT"

// Runtime returns the spec of ONNX Runtime, and skips the test if it is not installed.
func Runtime(tb testing.TB) string {
	tb.Helper()
	file := os.Getenv(RuntimeVariable)
	if file == "" {
		tb.Skip("ONNX Runtime not tested: " + RuntimeVariable + " names no library; scripts/test.sh --all fetches one")
	}
	return engine.RuntimeName + ":" + file
}
