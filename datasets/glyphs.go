package datasets

import (
	"fmt"

	"github.com/ledg-go/ledg/datasets/glyphs"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// maxGlyphsPerClass keeps the four digits of an ID's number, and so their order.
const maxGlyphsPerClass = 10000

// GlyphsConfig selects a set of rendered digits. Its zero value is the standard set of
// Open("glyphs", ...), with 2400 images.
type GlyphsConfig struct {
	// Seed draws the variation of the images; nil means 1. It identifies the data set and is not
	// a run's seed: compared runs share it.
	Seed *uint64
	// Size is the side of the images in pixels, glyphs.MinSize to glyphs.MaxSize; 0 means 32.
	Size int
	// PerClass is the number of images of each class in each domain, 1 to 10000; 0 means 60. A
	// larger set extends a smaller one.
	PerClass int
}

// Glyphs returns the built-in data set of digits rendered in four styles, the domains cartoon,
// photo, print and sketch (see package glyphs). IDs read "photo/7/0042.png", but no file exists;
// an image is rendered on demand in a fraction of a millisecond. Images are independent, so the
// first floor(0.9 n) of each class in a domain are Train and the rest Val. A field of c out of
// range is an error.
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
