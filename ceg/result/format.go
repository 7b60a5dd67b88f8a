package result

import (
	"fmt"
	"io/fs"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/datasets/regular"
)

// Format is the format version of this package's files. A run's config.json and result.json and
// a study's plan have it under the key "format". Files have all fields and no others; those of
// other formats are refused.
const Format = config.Format

// maxSettings, maxFile and maxLines are the most bytes that are read of a config.json, of
// another file with one JSON value, and of one that grows by lines.
const maxSettings, maxFile, maxLines = 8 << 20, 256 << 20, 2 << 30

// readFormatted reads a file of at most limit bytes that carries its format, strictly into v.
func readFormatted(fsys fs.FS, name string, limit int64, v any) error {
	data, err := regular.ReadFS(fsys, name, limit)
	if err != nil {
		return err
	}
	if err := decodeFormatted(data, v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// decodeFormatted decodes a file of the present format.
func decodeFormatted(data []byte, v any) error {
	if err := config.CheckFormat(data); err != nil {
		return err
	}
	return Decode(data, v)
}

// ReadConfig reads a run's config.json into v, strictly as Decode does. A file of another format
// has its own error.
func ReadConfig(fsys fs.FS, name string, v any) error {
	return readFormatted(fsys, name, maxSettings, v)
}
