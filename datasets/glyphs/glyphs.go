package glyphs

import (
	"fmt"
	"math/rand/v2"

	"github.com/ledg-go/ledg/datasets/rgb"
	"github.com/ledg-go/ledg/datasets/seed"
)

// Version is the version of the drawing algorithm. It changes whenever a pixel does, which
// invalidates cached images.
const Version = 1

// Size is the side of the images in pixels.
const Size = 32

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
// panics if domain, class or index is out of range.
func Render(domain, class, index int) *rgb.Image {
	if domain < 0 || domain >= len(styles) || class < 0 || class > 9 || index < 0 {
		panic(fmt.Sprintf("glyphs: Render: no domain %d, class %d, index %d", domain, class, index))
	}
	p := newPainter(stream(domain, class, index))
	styles[domain].draw(p, class)
	return p.image()
}

// stream returns the random choices of an image.
func stream(domain, class, index int) *rand.Rand {
	return seed.New(1, "glyphs", uint64(domain), uint64(class), uint64(index))
}
