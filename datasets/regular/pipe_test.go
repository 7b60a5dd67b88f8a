//go:build unix

package regular_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ledg-go/ledg/datasets/regular"
)

// A pipe that nobody writes into is an error, and not waited for.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Skip(err)
	}
	if _, err := regular.Open(path, 1); !errors.Is(err, regular.ErrKind) {
		t.Errorf("%v", err)
	}
	if _, err := regular.Own(path, 0); !errors.Is(err, regular.ErrKind) {
		t.Errorf("%v", err)
	}
}
