package checkpoint

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/shell"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
	"github.com/ledg-go/ledg/datasets/registers"
)

// digest returns the SHA-256, in hexadecimal, of the metadata but the digest itself, by
// their sorted keys, and of the tensors in order: names, types, shapes and elements.
func digest(meta map[string]string, tensors []safetensors.Entry) (string, error) {
	h := registers.SHA256()
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		if key != digestKey {
			fmt.Fprintf(h, "%q %q\n", key, meta[key])
		}
	}
	for _, t := range tensors {
		fmt.Fprintf(h, "%q %s %v\n", t.Name, t.DType, t.Shape)
		if t.From == nil {
			h.Write(t.Data)
		} else if _, err := io.Copy(h, t.From); err != nil {
			return "", fmt.Errorf("tensor %q: %w", t.Name, err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// verify returns an error if a file is not what was written, of another form, or of another
// config than c, whose first difference it names.
func verify(h *safetensors.Header, c config.Config) error {
	var tensors []safetensors.Entry
	for _, t := range h.Tensors {
		tensors = append(tensors, safetensors.Entry{Name: t.Name, DType: t.DType, Shape: t.Shape, From: t.Data()})
	}
	now, err := digest(h.Metadata, tensors)
	if err != nil {
		return err
	}
	if written := h.Metadata[digestKey]; now != written {
		return fmt.Errorf("the file is damaged: the digest of what it holds is %.12s, and %.12s was written", now, written)
	}
	var form struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal([]byte(h.Metadata[stateKey]), &form); err != nil {
		return fmt.Errorf("metadata %q: %w", stateKey, err)
	}
	if form.Format != format {
		return fmt.Errorf("checkpoint format %d, want %d: another version of ledg wrote it", form.Format, format)
	}
	began, err := config.Parse([]byte(h.Metadata[configKey]))
	if err != nil {
		return fmt.Errorf("metadata %q: %w", configKey, err)
	}
	if path, a, b := config.Difference(began, c); path != "" {
		return fmt.Errorf("the run was made with %s %.80s, and its settings say %.80s now: put that back, or begin a new run", path, a, b)
	}
	return nil
}

// Missing returns the error of a run whose weights are missing, with the way to
// restore them.
func Missing(dir string) error {
	run, err := result.FS(dir) // also of collected runs, which have no folder
	if err == nil {
		_, err = fs.Stat(run, result.RecordsFile)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is not trained yet: %s continues it", dir, shell.Line("ledg", "train", "--resume", "--out", dir))
	}
	return fmt.Errorf("%s is not there: the run's weights were not saved; make the run again with `%s`", filepath.Join(dir, File), shell.Line("ledg", "train", "--config", filepath.Join(dir, result.ConfigFile), "--out", "NEW"))
}
