package cli

import (
	"errors"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/result"
)

// TableFormat is a flag that takes the name of a table format.
type TableFormat result.TableFormat

func (f *TableFormat) String() string { return result.TableFormat(*f).String() }
func (f *TableFormat) Type() string   { return "FORMAT" }
func (f *TableFormat) Set(name string) error {
	format, err := result.ParseTableFormat(name)
	*f = TableFormat(format)
	return err
}

// BackendError returns err as a mistake of usage where the backend was misspelt.
func BackendError(err error) error {
	var bad *engine.SpecError
	if errors.As(err, &bad) {
		return Usagef("%w", err)
	}
	return err
}
