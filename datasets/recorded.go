package datasets

import (
	"context"
	"errors"

	"github.com/ledg-go/ledg/datasets/rgb"
)

// Recorded returns a data set of examples without images, with their classes. Reading an image
// is an error. Examples may be unsorted and without IDs.
func Recorded(name string, domains, classes []string, examples []Example, of []int) (*Dataset, Truth) {
	return &Dataset{Name: name, Domains: domains, Classes: classes, Examples: examples, source: noSource{}}, Truth{of}
}

// noSource has nothing.
type noSource struct{}

var errRecorded = errors.New("the image is not there: only what was recorded of it is")

func (noSource) digest(int) (d digest, _ error) { return d, errRecorded }
func (noSource) read(context.Context, int, int) (_ *rgb.Image, d digest, _ error) {
	return nil, d, errRecorded
}
