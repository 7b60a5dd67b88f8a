package engine_test

import (
	"os"
	"testing"

	"github.com/ledg-go/ledg/ceg/engine/enginetest"
)

func TestSharedBackend(t *testing.T) {
	b := enginetest.Open(t)
	if os.Getenv(enginetest.Variable) == "" && b.Name != "go" {
		t.Errorf("without %s: got %s, want go", enginetest.Variable, b.Name)
	}
	if enginetest.Open(t).Compute != b.Compute {
		t.Error("the second call opened another backend")
	}
}
