package nb

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/learner/checkpoint"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// A run whose weights are gone is trained again for its features, and they are the same.
func TestEmbedTrainsAgain(t *testing.T) {
	t.Setenv("LEDG_QUICK", "1")
	t.Setenv("LEDG_RUNS", t.TempDir())
	dir := Train("mine", "uniform-ce")
	first := Embed(dir)
	if n := len(Records(dir)); n != 3 || len(Queries(dir)) == 0 {
		t.Errorf("%d records, %d queries", n, len(Queries(dir)))
	}
	fatal.If(t, os.Remove(filepath.Join(dir, checkpoint.File)))
	if again := Embed(dir); first.Features.Rows == 0 || !slices.Equal(again.Features.Data, first.Features.Data) {
		t.Errorf("%d rows of features, and %d others when trained again", first.Features.Rows, again.Features.Rows)
	}
}
