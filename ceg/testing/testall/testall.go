// Package testall says which tests only scripts/test.sh --all runs: those that take minutes,
// and those that need Jupyter, Slurm, a browser or another processor. A test calls [Need] first.
package testall

import (
	"os"
	"testing"
)

// Variable is the environment variable that scripts/test.sh --all sets to 1.
const Variable = "LEDG_TEST_ALL"

// On reports whether the tests that only scripts/test.sh --all runs are to run.
func On() bool { return os.Getenv(Variable) == "1" }

// Need skips a test that only scripts/test.sh --all runs. why says what the test costs or needs.
func Need(t testing.TB, why string) {
	t.Helper()
	if !On() {
		t.Skipf("%s: scripts/test.sh --all or %s=1 runs this test", why, Variable)
	}
}
