package datasets

import (
	"fmt"

	"github.com/ledg-go/ledg/datasets/glyphs"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// maxGlyphsPerClass keeps the four digits of an ID's number, and so their order.
const maxGlyphsPerClass = 10000

// GlyphsConfig chooses a set of drawn digits. Its zero value is the standard
// one, which Open("glyphs", ...) returns: 2400 images.
type GlyphsConfig struct {
	// Seed chooses the random variation of the drawings; nil means 1. It is the
	// identity of the data set, not the seed of a run: runs that are compared
	// share it.
	Seed *uint64
	// Size is the width and height that digits are drawn at, in pixels,
	// glyphs.MinSize to glyphs.MaxSize; 0 means 32.
	Size int
	// PerClass is the number of images of each class in each domain, 1 to 10000;
	// 0 means 60. A larger set begins with the images of a smaller one.
	PerClass int
}

// Glyphs returns the embedded data set: digits drawn in four styles, which are
// its domains cartoon, photo, print and sketch (see package glyphs). IDs read
// "photo/7/0042.png", though no file exists. Images are drawn when asked for, a
// fraction of a millisecond each, and are independent of one another, so of each
// class in a domain the first floor(0.9 n) are Train and the rest Val.
// It returns an error if a field of c is out of range.
func Glyphs(c GlyphsConfig) (*Dataset, Truth, error) {
	drawing := glyphs.Config{Seed: c.Seed, Size: c.Size}
	if err := drawing.Validate(); err != nil {
		return nil, Truth{}, err
	}
	perClass := c.PerClass
	if perClass == 0 {
		perClass = 60
	}
	if perClass < 1 || perClass > maxGlyphsPerClass {
		return nil, Truth{}, fmt.Errorf("glyphs: %d images per class is not in 1..%d", perClass, maxGlyphsPerClass)
	}
	drawing = drawing.WithDefaults()

	domains, classNames := glyphs.Domains(), glyphs.Classes()
	var examples []Example
	var classes []int
	for domain, style := range domains {
		for class, name := range classNames {
			for index := range perClass {
				split := Train
				if index >= trainCount(perClass) {
					split = Val
				}
				id := fmt.Sprintf("%s/%s/%04d.png", style, name, index)
				examples = append(examples, Example{ID: id, Domain: domain, Split: split})
				classes = append(classes, class)
			}
		}
	}
	draw := func(i int) (*rgb.Image, error) {
		return glyphs.Render(drawing, examples[i].Domain, classes[i], i%perClass), nil
	}
	key := fmt.Sprintf("glyphs version %d, seed %d, size %d", glyphs.Version, *drawing.Seed, drawing.Size)
	return NewGenerated("glyphs", domains, classNames, examples, classes, draw, key)
}
