package result

import (
	"fmt"
	"io/fs"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/datasets/regular"
)

// Format is the number of the file formats in this package. A run's config.json
// and result.json and a study's plan carry it under the key "format". Settings of all
// older formats are read, other files from format 4 on, in which they have not changed
// since; those of newer formats are refused.
//
// A file of the present format has all of its fields and no others. What is added to
// settings is added in the upgrade from the format before, too, with the value that
// says what runs did before.
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
	if _, err = config.FormatOf(data, oldest); err == nil {
		err = Decode(data, v)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// readSettings reads a run's settings as those of the present format.
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

// ReadConfig reads a run's config.json into v, strictly as Decode does, after
// bringing it to the present format. The error for a file of a newer format says so
// before anything else.
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
