package datasets

import (
	"fmt"

	"github.com/ledg-go/ledg/datasets/glyphs"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// glyphsPerClass is the number of images of each class in each domain of the standard set.
const glyphsPerClass = 60

// maxGlyphsPerClass keeps the four digits of an ID's number, and so their order.
const maxGlyphsPerClass = 10000

// Glyphs returns the built-in data set of digits rendered in four styles, the domains cartoon,
// photo, print and sketch (see package glyphs), with perClass images of each class in each domain,
// 1 to 10000. Open("glyphs", ...) has 60; a larger set extends a smaller one. IDs read
// "photo/7/0042.png", but no file exists; an image is rendered on demand in a fraction of a
// millisecond. Images are independent, so the first floor(0.9 n) of each class in a domain are
// Train and the rest Val.
func Glyphs(perClass int) (*Dataset, Truth, error) {
	if perClass < 1 || perClass > maxGlyphsPerClass {
		return nil, Truth{}, fmt.Errorf("glyphs: %d images per class is not in 1..%d", perClass, maxGlyphsPerClass)
	}
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
		return glyphs.Render(examples[i].Domain, classes[i], i%perClass), nil
	}
	key := fmt.Sprintf("glyphs version %d, seed 1, size %d", glyphs.Version, glyphs.Size)
	return NewGenerated("glyphs", domains, classNames, examples, classes, draw, key)
}
