package examples

import (
	"context"
	"fmt"

	"github.com/ledg-go/ledg/ceg/learner/feed"
	"github.com/ledg-go/ledg/datasets"
)

// computed is the source of views that the frozen front of a network has computed: maps [height,
// width, channels], drawn from the stored views as [vectors] are.
type computed struct {
	*vectors
	shape []int
	at    []int // the examples of vectors that the images are
}

// Computed returns the examples of x, images, as outputs of a frozen front network on their
// views: maps of a shape [height, width, channels], stored as the feature vectors of the data
// set made. Closing the result closes x.
func (x *Set) Computed(ctx context.Context, images, made *datasets.Dataset, shape [3]int, cacheDir string, shared *Shared) (*Set, error) {
	f, ok := made.Features()
	if !ok || f.Dim != shape[0]*shape[1]*shape[2] {
		return nil, fmt.Errorf("data set %s has no vectors of maps %v", made.Name, shape)
	}
	index := map[string]int{}
	for i, e := range made.Examples {
		index[e.ID] = i
	}
	c := &computed{shape: shape[:], at: make([]int, images.Len())}
	for i, e := range images.Examples {
		if c.at[i], ok = index[e.ID]; !ok {
			return nil, fmt.Errorf("%s: it has no image %s", f.Path(), e.ID)
		}
	}
	set, err := openVectors(ctx, f, "", cacheDir, shared)
	if err != nil {
		return nil, err
	}
	c.vectors = set.Source.(*vectors)
	both := func() error {
		err := set.Close()
		if e := x.Close(); err == nil {
			err = e
		}
		return err
	}
	return &Set{Source: c, Digest: x.Digest, close: both}, nil
}

func (c *computed) Len() int { return len(c.at) }

func (c *computed) Shape() []int { return c.shape }

func (c *computed) Reader() feed.Reader { return &computedReader{vectorReader{v: c.vectors}, c.at} }

// computedReader reads the rows of one goroutine.
type computedReader struct {
	vectorReader
	at []int
}

func (r *computedReader) Read(i int) error { return r.vectorReader.Read(r.at[i]) }
