package weights

import (
	"encoding/hex"
	"fmt"
	"io"

	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
	"github.com/ledg-go/ledg/datasets/registers"
	"github.com/ledg-go/ledg/datasets/regular"
)

// Save writes the tensors as a .safetensors file, with their order, names and element types, and
// the metadata (which may be nil). Equal arguments give equal bytes, and [Open] returns equal
// tensors. path never holds a partial file; on an error the previous file stays. digest is the new
// file's SHA-256 in lower-case hexadecimal, as in [File.Digest].
func Save(path string, sd StateDict, metadata map[string]string) (digest string, err error) {
	entries := make([]safetensors.Entry, len(sd))
	for i, t := range sd {
		entries[i] = safetensors.Entry{Name: t.Name, DType: t.DType, Shape: t.Shape, Data: t.Data}
	}
	sum := registers.SHA256()
	err = regular.WriteFile(path, func(w io.Writer) error { return safetensors.Write(io.MultiWriter(w, sum), entries, metadata) })
	if err != nil {
		return "", fmt.Errorf("weights: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
