package datasets

import (
	"context"
	"crypto/sha256"
	"slices"

	"github.com/ledg-go/ledg/datasets/rgb"
)

// NewGenerated returns a data set of generated images. Domains, classes and examples are copied;
// examples must be sorted by (Domain, ID) with unique IDs, and classes[i] is the true class of
// examples[i]. The function image must return the same pixels for the same i, from any
// goroutine. contentKey identifies the generator, its version and all of its settings, since
// cached images are found by it.
func NewGenerated(name string, domains, classNames []string, examples []Example, classes []int,
	image func(i int) (*rgb.Image, error), contentKey string) (*Dataset, Truth, error) {
	d := &Dataset{
		Name:     name,
		Domains:  slices.Clone(domains),
		Classes:  slices.Clone(classNames),
		Examples: slices.Clone(examples),
	}
	d.source = generated{d: d, make: image, key: contentKey}
	t := Truth{classes: slices.Clone(classes)}
	if err := d.finish(t); err != nil {
		return nil, Truth{}, err
	}
	return d, t, nil
}

// generated is the source of NewGenerated.
type generated struct {
	d    *Dataset
	make func(i int) (*rgb.Image, error)
	key  string
}

func (g generated) read(_ context.Context, i, _ int) (*rgb.Image, digest, error) {
	key, _ := g.digest(i)
	m, err := g.make(i)
	return m, key, err
}

func (g generated) digest(i int) (digest, error) {
	return sha256.Sum256([]byte("generated\x00" + g.key + "\x00" + g.d.Examples[i].ID)), nil
}
