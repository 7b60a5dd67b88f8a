package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/learner/checkpoint"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// What an error suggests is quoted for the shell.
func TestSuggestionsAreQuoted(t *testing.T) {
	const dir, quoted = "my runs/it's", `'my runs/it'\''s'`
	t.Chdir(t.TempDir())
	fatal.If(t, os.MkdirAll(dir, 0o777))
	untrained := checkpoint.Missing(dir)
	fatal.If(t, os.WriteFile(filepath.Join(dir, result.RecordsFile), nil, 0o666))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		err  error
		want string
	}{
		"interrupted": {cancelled, cancelled.Err(), "ledg train --resume --out " + quoted + " continues"},
		"finished":    {t.Context(), result.ErrFinished, ": ledg eval " + quoted + " shows it"},
		"awaiting":    {t.Context(), &ceg.ErrAwaitingLabels{}, ": give them in a browser with ledg label " + quoted + ", or in another tool"},
		"resumed":     {t.Context(), &ceg.ErrAwaitingLabels{}, "then ledg train --resume --out " + quoted + " continues"},
		"untrained":   {t.Context(), untrained, "is not trained yet: ledg train --resume --out " + quoted + " continues"},
		"weights":     {t.Context(), checkpoint.Missing(dir), "ledg train --config 'my runs/it'\\''s/config.json' --out NEW"},
	} {
		if got := trainError(c.ctx, c.err, dir).Error(); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %q in it", name, got, c.want)
		}
	}
}
