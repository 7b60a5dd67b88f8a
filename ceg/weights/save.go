package weights

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ledg-go/ledg/ceg/safetensors"
)

// Write writes the tensors as a .safetensors file, in their order and with their
// names and element types, and the metadata (which may be nil). Equal arguments
// give equal bytes, and reading them back gives equal tensors.
func Write(w io.Writer, sd StateDict, metadata map[string]string) error {
	entries := make([]safetensors.Entry, len(sd))
	for i, t := range sd {
		entries[i] = safetensors.Entry{Name: t.Name, DType: t.DType, Shape: t.Shape, Data: t.Data}
	}
	return safetensors.Write(w, entries, metadata)
}

// Save is [Write] to a path. It writes a temporary file beside it and renames it
// once all of it is on disk, so that path never holds half a file; on an error
// whatever was at path stays. The result is the new file's SHA-256 in lower-case
// hexadecimal, as in [File.Digest].
func Save(path string, sd StateDict, metadata map[string]string) (digest string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return "", fmt.Errorf("weights: %w", err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	sum := sha256.New()
	if err := Write(io.MultiWriter(f, sum), sd, metadata); err != nil {
		return "", fmt.Errorf("weights: %s: %w", path, err)
	}
	// As a plain os.Create would leave it; CreateTemp's 0600 is for secrets.
	if err := f.Chmod(0o644); err != nil {
		return "", fmt.Errorf("weights: %w", err)
	}
	if err := f.Sync(); err != nil {
		return "", fmt.Errorf("weights: %w", err)
	}
	if err := f.Close(); err != nil {
		return "", fmt.Errorf("weights: %w", err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return "", fmt.Errorf("weights: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
