package examples

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/registers"
)

// Identity identifies the data of a run. Equal identities mean equal examples.
type Identity struct {
	// Images is the Digest of the run's [Set].
	Images string
	// Classes are the class names.
	Classes []string
	// All is a digest of Images and of the IDs, domains, splits, groups and classes of the examples.
	All string
}

// Identify opens the data of a run as [Open] does and returns its identity. Files that have not
// changed in path, size and modification time are not read again.
func Identify(ctx context.Context, d config.Data, dir string, at result.Place) (id Identity, err error) {
	data, truth, err := Open(d, dir, at)
	if err != nil {
		return id, err
	}
	if f, ok := data.Features(); ok {
		defer f.Close()
		id.Images, err = f.Digest()
	} else {
		id.Images, err = datasets.ImagesDigest(ctx, data, d.ImageSize, at.CacheDir)
	}
	if err != nil {
		return id, err
	}
	id.Classes = data.Classes
	h := registers.SHA256()
	fmt.Fprintf(h, "ledg data 1\n%s\n%q\n%q\n", id.Images, data.Domains, data.Classes)
	for i, e := range data.Examples {
		fmt.Fprintf(h, "%q %d %d %d", e.ID, e.Domain, e.Split, truth.Class(i))
		if len(data.Groups) > 0 {
			fmt.Fprintf(h, " %v", data.Groups[i])
		}
		io.WriteString(h, "\n") // a hash has no errors
	}
	id.All = hex.EncodeToString(h.Sum(nil))
	return id, nil
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
