package glyphs

import (
	"fmt"

	"github.com/ledg-go/ledg/datasets/rgb"
	"github.com/ledg-go/ledg/datasets/seed"
)

// Version is the version of the drawing algorithm. It changes whenever a pixel does, which
// invalidates cached images.
const Version = 1

// MinSize and MaxSize bound Config.Size, in pixels.
const (
	MinSize = 16
	MaxSize = 256
)

// Config selects a set of images. Its zero value is the standard set.
type Config struct {
	// Seed draws the variation of every image; nil means StandardSeed.
	Seed *uint64
	// Size is the side in pixels, MinSize to MaxSize; 0 means 32. Lengths scale with it, but a
	// larger image is not an upscaled copy: noise is drawn per pixel.
	Size int
}

// StandardSeed is the default seed.
const StandardSeed = 1

// WithDefaults returns c with zero fields replaced by their defaults.
func (c Config) WithDefaults() Config {
	if c.Seed == nil {
		c.Seed = new(uint64(StandardSeed))
	}
	if c.Size == 0 {
		c.Size = 32
	}
	return c
}

// Validate returns an error for the first field out of range.
func (c Config) Validate() error {
	if c = c.WithDefaults(); c.Size < MinSize || c.Size > MaxSize {
		return fmt.Errorf("glyphs: size %d is not in %d..%d", c.Size, MinSize, MaxSize)
	}
	return nil
}

// style draws one digit onto an empty canvas.
type style struct {
	name string
	draw func(p *painter, digit int)
}

// styles are the domains, sorted by name.
var styles = [...]style{
	{"cartoon", drawCartoon},
	{"photo", drawPhoto},
	{"print", drawPrint},
	{"sketch", drawSketch},
}

// Domains returns the names of the styles, in index order.
func Domains() []string {
	names := make([]string, len(styles))
	for i, s := range styles {
		names[i] = s.name
	}
	return names
}

// Classes returns the names of the digits, "0" to "9", in index order.
func Classes() []string {
	names := make([]string, 10)
	for digit := range names {
		names[digit] = string(rune('0' + digit))
	}
	return names
}

// Render renders image number index of a class in a domain, given as indices into Classes and
// Domains. Equal arguments give equal bytes on every machine. Images of different indices are
// independent, so a larger set extends a smaller one. Render is safe for concurrent use. It
// panics if c is invalid, or if domain, class or index is out of range.
func Render(c Config, domain, class, index int) *rgb.Image {
	if err := c.Validate(); err != nil {
		panic(err)
	}
	if domain < 0 || domain >= len(styles) || class < 0 || class > 9 || index < 0 {
		panic(fmt.Sprintf("glyphs: Render: no domain %d, class %d, index %d", domain, class, index))
	}
	c = c.WithDefaults()
	random := seed.New(*c.Seed, "glyphs", uint64(domain), uint64(class), uint64(index))
	p := newPainter(c.Size, random)
	styles[domain].draw(p, class)
	return p.image()
}
