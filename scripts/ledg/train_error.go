package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/shell"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// trainError says what to do about an error of a run.
func trainError(ctx context.Context, err error, dir string) error {
	var setting *config.Error
	var awaiting *ceg.ErrAwaitingLabels
	switch {
	case errors.As(err, &awaiting):
		return &awaitingError{awaiting, dir}
	case errors.As(err, &setting):
		return settingError(err)
	case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return fmt.Errorf("interrupted; %s continues the run", shell.Line("ledg", "train", "--resume", "--out", dir))
	case errors.Is(err, result.ErrUnfinished):
		return fmt.Errorf("%w: --resume continues it, another --out begins a new run", err)
	case errors.Is(err, result.ErrFinished):
		return fmt.Errorf("%w: %s shows it, another --out begins a new run", err, shell.Line("ledg", "eval", dir))
	case errors.Is(err, result.ErrForeign):
		if exists(filepath.Join(dir, result.ConfigFile)) {
			return fmt.Errorf("%w; choose another --out, or give the same settings, --weights included", err)
		}
		return fmt.Errorf("%w; choose another --out", err)
	}
	return cli.BackendError(err)
}

// awaitingError ends the program with status 3: the run needs labels.
type awaitingError struct {
	labels *ceg.ErrAwaitingLabels
	dir    string
}

func (e *awaitingError) Unwrap() error { return e.labels }

// Error says which labels are missing and how to provide them.
func (e *awaitingError) Error() string {
	when := "before training"
	if e.labels.Round > 0 {
		when = fmt.Sprintf("of query %d", e.labels.Round)
	}
	return fmt.Sprintf("%d of the %d labels %s are needed: give them in a browser with %s, or in another tool with ledg label export and import; then %s continues",
		len(e.labels.Queries), e.labels.Of, when, shell.Line("ledg", "label", e.dir), shell.Line("ledg", "train", "--resume", "--out", e.dir))
}

// ExitStatus returns 3: the run waits for labels.
func (e *awaitingError) ExitStatus() int { return 3 }
