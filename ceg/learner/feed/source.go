package feed

import (
	"fmt"
	"math/rand/v2"
	"unsafe"

	"github.com/gomlx/compute/dtypes"

	"github.com/ledg-go/ledg/ceg/objective/augment"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// Source provides examples: [Pixels] of images, or stored features. All rows, which are views of
// examples, have one shape and type. It is safe for concurrent use.
type Source interface {
	// Len returns the number of examples.
	Len() int
	// Shape returns the shape of a row: [size, size, 3] for images, [features] for features.
	Shape() []int
	// DType returns the number type, Uint8 or Float32, of its numbers, at least one in a row.
	DType() dtypes.DType
	// Check returns an error if the source cannot compute a view. Every source has
	// augment.PlainView.
	Check(v augment.View) error
	// Reader returns a reader for the use of one goroutine.
	Reader() Reader
}

// Reader computes the rows of a source.
type Reader interface {
	// Read loads example i, 0 <= i < Len. Its error should name the example's ID.
	Read(i int) error
	// View writes a view of the last loaded example to dst, which has the length of a row. All
	// randomness comes from r, which is nil for augment.PlainView. The view has passed
	// Source.Check.
	View(v augment.View, dst []byte, r *rand.Rand) error
}

// RowBytes returns the length of a source's row in bytes.
func RowBytes(s Source) int {
	n := s.DType().Size()
	for _, d := range s.Shape() {
		n *= d
	}
	return n
}

// Values returns rows, at least one, as a slice of their number type: []uint8 or []float32. It
// shares their memory, which must come from a loader or EvalBatches.
func Values(t dtypes.DType, rows []byte) any {
	switch t {
	case dtypes.Uint8:
		return rows
	case dtypes.Float32:
		return unsafe.Slice((*float32)(unsafe.Pointer(&rows[0])), len(rows)/4)
	}
	panic(fmt.Sprintf("feed: rows of %s", t))
}

// Images are square 8-bit images of one size; *datasets.Images is one. Read must
// be safe for concurrent use.
type Images interface {
	// Size returns the side of every image in pixels.
	Size() int
	// Len returns the number of images.
	Len() int
	// Read copies image i, 0 <= i < Len, into dst, which has the right size. Its
	// error should name the example's ID.
	Read(i int, dst *rgb.Image) error
}

// Pixels is the source of images, whose views are computed on demand. Rows are 8-bit, [size,
// size, 3].
func Pixels(images Images) Source { return pixels{images} }

type pixels struct{ images Images }

func (p pixels) Len() int            { return p.images.Len() }
func (p pixels) Shape() []int        { return []int{p.images.Size(), p.images.Size(), 3} }
func (p pixels) DType() dtypes.DType { return dtypes.Uint8 }

func (p pixels) Check(v augment.View) error {
	if v.Make == nil {
		return fmt.Errorf("view %q has no function that makes it", v.Name)
	}
	return nil
}

func (p pixels) Reader() Reader {
	size := p.images.Size()
	return &pixelReader{images: p.images, src: *rgb.New(size, size), dst: rgb.Image{Width: size, Height: size}}
}

// pixelReader keeps its memory between images.
type pixelReader struct {
	images   Images
	src, dst rgb.Image
	maker    augment.Maker
}

// Read fetches image i and checks that it has the promised size.
func (p *pixelReader) Read(i int) error {
	if err := p.images.Read(i, &p.src); err != nil {
		return fmt.Errorf("feed: image %d: %w", i, err)
	}
	if m, size := p.src, p.images.Size(); m.Width != size || m.Height != size || len(m.Pix) != 3*size*size {
		return fmt.Errorf("feed: image %d is %dx%d with %d bytes, want %dx%d", i, m.Width, m.Height, len(m.Pix), size, size)
	}
	return nil
}

func (p *pixelReader) View(v augment.View, dst []byte, r *rand.Rand) error {
	p.dst.Pix = dst
	v.Make(&p.maker, &p.dst, &p.src, r)
	return nil
}
