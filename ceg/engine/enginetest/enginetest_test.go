package enginetest

import (
	"os"
	"testing"
)

func TestOpen(t *testing.T) {
	b := Open(t)
	if os.Getenv(Variable) == "" && b.Name != "go" {
		t.Errorf("without %s: got %s, want go", Variable, b.Name)
	}
	if Open(t).Compute != b.Compute {
		t.Error("the second call opened another backend")
	}
}
