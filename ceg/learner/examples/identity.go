package examples

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
)

// Identity identifies the data of a run. Equal identities mean equal examples.
type Identity struct {
	// Images is the Digest of the run's [Set].
	Images string
	// Classes are the class names.
	Classes []string
}

// Identify opens the data of a run as [Open] does and returns its identity. Files that have not
// changed in path, size and modification time are not read again.
func Identify(ctx context.Context, d config.Data, dir string, at result.Place) (Identity, error) {
	data, _, err := Open(d, dir, at)
	if err != nil {
		return id, err
	}
	id := Identity{Classes: data.Classes}
	if f, ok := data.Features(); ok {
		defer f.Close()
		id.Images, err = f.Digest()
	} else {
		id.Images, err = datasets.ImagesDigest(ctx, data, d.ImageSize, at.CacheDir)
	}
	return id, err
}

// Check returns an error if a finished run has used other data, as far as its result says; path names
// the run.
func (id Identity) Check(path string, r *result.Result) error {
	if err := (&Set{Digest: id.Images}).Same(path, r.Images); err != nil {
		return err
	}
	if r.Classes != nil && !slices.Equal(r.Classes, id.Classes) {
		return fmt.Errorf("%s: the run has the classes %s, and its data set has %s now", path, strings.Join(r.Classes, ", "), strings.Join(id.Classes, ", "))
	}
	return nil
}
