// Package enginetest gives tests a backend: the Go backend, or the one that the environment variable LEDG_TEST_BACKEND
// names, so that the same tests run on a GPU:
//
//	LEDG_TEST_BACKEND=xla:cuda,tf32=false go test ./ceg/nets
//
// A test asks for it in one line, and need not close it:
//
//	b := enginetest.Open(t)
//
// XLA gives the spec of a real XLA on the CPU, where scripts/test.sh --all has fetched its plugin:
//
//	spec := enginetest.XLA(t)
//
// and Runtime that of ONNX Runtime, likewise.
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

// FastConvs are the values of FastConv that tests compare on a backend: both on Go, and on XLA, which never has
// the convolutions that are fast on Go and compiles them for minutes, its own.
func FastConvs(b engine.Backend) []bool {
	if b.FastConv {
		return []bool{true, false}
	}
	return []bool{false}
}

// XLAVariable is the environment variable that names the file of XLA's plugin for the CPU. Tests that compute with it
// are skipped without.
const XLAVariable = "LEDG_TEST_XLA"

// XLA returns what engine.Open takes for XLA on the CPU, and skips the test where there is no plugin for it.
func XLA(tb testing.TB) string {
	tb.Helper()
	file := os.Getenv(XLAVariable)
	if file == "" {
		tb.Skip("XLA not tested: " + XLAVariable + " names no plugin; scripts/test.sh --all fetches one")
	}
	return "xla:" + file
}

// RuntimeVariable is the environment variable that names the library of ONNX Runtime. Tests that compute with it are
// skipped without.
const RuntimeVariable = "LEDG_TEST_ORT"

// Runtime returns what engine.OpenRuntime takes for ONNX Runtime, and skips the test where there is none.
func Runtime(tb testing.TB) string {
	tb.Helper()
	file := os.Getenv(RuntimeVariable)
	if file == "" {
		tb.Skip("ONNX Runtime not tested: " + RuntimeVariable + " names no library; scripts/test.sh --all fetches one")
	}
	return engine.RuntimeName + ":" + file
}
