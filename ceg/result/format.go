package result

import (
	"fmt"
	"io/fs"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/datasets/regular"
)

// Format is the format version of this package's files. A run's config.json and result.json and
// a study's plan have it under the key "format". Settings of all older formats are readable;
// other files from format 4 on, which has not changed them. Newer formats are refused.
//
// A file of the current format has all of its fields and no others. A new setting is also added
// to the upgrade from the previous format, with the value that describes the old behaviour.
const Format = config.Format

// maxSettings, maxFile and maxLines are the most bytes that are read of a config.json, of
// another file with one JSON value, and of one that grows by lines.
const maxSettings, maxFile, maxLines = 8 << 20, 256 << 20, 2 << 30

// oldest is the oldest format that results, plans and collected runs are read in.
const oldest = 4

// readFormatted reads a file that carries its format, other than settings, strictly
// into v.
func readFormatted(fsys fs.FS, name string, v any) error {
	data, err := regular.ReadFS(fsys, name, maxFile)
	if err != nil {
		return err
	}
	if err := decodeFormatted(data, v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// decodeFormatted decodes a file whose format version this program reads.
func decodeFormatted(data []byte, v any) error {
	if _, err := config.FormatOf(data, oldest); err != nil {
		return err
	}
	return Decode(data, v)
}

// readSettings reads a run's settings and converts them to the current format.
func readSettings(fsys fs.FS, name string) ([]byte, error) {
	data, err := regular.ReadFS(fsys, name, maxSettings)
	if err != nil {
		return nil, err
	}
	if data, err = config.Upgrade(data); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

// ReadConfig reads a run's config.json into v, strictly as Decode does, after an upgrade to the
// current format. A file of a newer format has its own error.
func ReadConfig(fsys fs.FS, name string, v any) error {
	data, err := readSettings(fsys, name)
	if err != nil {
		return err
	}
	if err := Decode(data, v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
