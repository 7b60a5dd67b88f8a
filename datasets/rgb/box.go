package rgb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Box is a region of an upright image: its left and upper edge, width and height, as fractions of
// the image's width and height where none is above 1, else in pixels.
type Box struct{ X, Y, W, H float64 }

// String returns "X,Y,W,H": fractions with up to four decimals, or pixels with one.
func (b Box) String() string {
	unit := 1e4
	if b.pixels() {
		unit = 10
	}
	var list [4]string
	for i, v := range []float64{b.X, b.Y, b.W, b.H} {
		list[i] = strconv.FormatFloat(math.Round(v*unit)/unit, 'f', -1, 64)
	}
	return strings.Join(list[:], ",")
}

func (b Box) pixels() bool { return max(b.X, b.Y, b.W, b.H) > 1 }

// CutBox splits the ID of a box, PATH#X,Y,W,H. ok is false for other IDs, which are paths.
func CutBox(id string) (path string, b Box, ok bool) {
	i := strings.LastIndexByte(id, '#')
	if i < 1 {
		return id, b, false
	}
	cells := strings.Split(id[i+1:], ",")
	if len(cells) != 4 {
		return id, b, false
	}
	for k, to := range []*float64{&b.X, &b.Y, &b.W, &b.H} {
		v, err := strconv.ParseFloat(cells[k], 64)
		if err != nil || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			return id, Box{}, false
		}
		*to = v
	}
	if b.W == 0 || b.H == 0 {
		return id, Box{}, false
	}
	return id[:i], b, true
}

// FilePath returns the path of the image file of an item: the ID without its box.
func FilePath(id string) string {
	if path, _, ok := CutBox(id); ok {
		return path
	}
	return id
}

// boxed is the end of the names of rules for boxes.
const boxed = "+boxes"

// OfBoxes returns the rule for boxes in images that d decodes: the crop of [Image.Crop].
func (d Decoding) OfBoxes() Decoding { return d.whole() + boxed }

// Boxes reports whether the items of the rule are boxes, not whole images.
func (d Decoding) Boxes() bool { return strings.HasSuffix(string(d), boxed) }

// outlined is the end of the names of rules for whole images with the outline of the box.
const outlined = "+outline"

// Outlined returns the rule for a view of about side pixels of the whole image with the outline of the box.
func (d Decoding) Outlined(side int) Decoding { return d.whole().ForDisplay(side) + outlined }

// whole returns the rule for the whole images.
func (d Decoding) whole() Decoding {
	return Decoding(strings.TrimSuffix(strings.TrimSuffix(string(d), boxed), outlined))
}

// ErrNoBox is the error of a whole image where the rule is for boxes.
var ErrNoBox = errors.New("it is a whole image, and the items here are boxes in images: name the file of boxes with --boxes")

// LookAt is [Decoding.Look] of an item, whose file has the content data: of a box in the image if the
// ID has one. A JPEG is scaled so that the crop, not the image, keeps what the rule wants.
func (d Decoding) LookAt(ctx context.Context, id string, data []byte) (*Image, Facts, error) {
	_, b, ok := CutBox(id)
	size := UprightSize
	if d.whole() == Stored {
		size = Size
	}
	switch {
	case strings.HasSuffix(string(d), outlined):
		m, facts, err := d.whole().Look(ctx, data)
		if width, height, bad := size(data); err == nil && ok && bad == nil {
			m.outline(b.Fractions(width, height))
		}
		return m, facts, err
	case !d.Boxes():
		return d.Look(ctx, data)
	case !ok:
		return nil, Facts{}, ErrNoBox
	}
	width, height, err := size(data)
	if err != nil {
		return nil, Facts{}, err
	}
	b = b.Fractions(width, height)
	rule := d.whole()
	if least := rule.Least(); least > 0 {
		_, _, side := b.square(width, height)
		rule = keeping((least*min(width, height) + side - 1) / side)
	}
	m, facts, err := rule.Look(ctx, data)
	if err != nil {
		return nil, facts, err
	}
	m, err = m.Crop(b)
	return m, facts, err
}

// Margin is the margin of a crop on each side of its box, as a fraction of the box's longer side.
const Margin = 0.15

// square returns the square around a box of fractions, with the margin, in an image of that size.
func (b Box) square(width, height int) (x, y, side int) {
	w, h := b.W*float64(width), b.H*float64(height)
	side = max(1, int(math.Round(max(w, h)*(1+2*Margin))))
	at := func(from, length float64) int { return int(math.Round(from + length/2 - float64(side)/2)) }
	return at(b.X*float64(width), w), at(b.Y*float64(height), h), side
}

// Crop returns the square around a box, given as fractions: its side is the box's longer side and
// the [Margin] on both sides of it, and its centre the box's. Where it leaves the image, it has the mean
// colour of its part inside. It is an error if the box lies outside.
func (m *Image) Crop(b Box) (*Image, error) {
	if max(b.W, b.H) > 2 {
		return nil, errors.New("its box is more than twice as long as the image: it is of another image")
	}
	left, top, side := b.square(m.Width, m.Height)
	x0, y0, x1, y1 := max(left, 0), max(top, 0), min(left+side, m.Width), min(top+side, m.Height)
	if x0 >= x1 || y0 >= y1 || b.X >= 1 || b.Y >= 1 {
		return nil, errors.New("its box is outside of the image: the boxes are of another image, or of one that was not turned upright")
	}
	if side > MaxLarge/side {
		return nil, fmt.Errorf("its crop is too large: %d x %d pixels, the limit is %d in all", side, side, MaxLarge)
	}
	dst := New(side, side)
	if (x1-x0)*(y1-y0) < side*side {
		mean := m.mean(x0, y0, x1, y1)
		for i := range dst.Pix {
			dst.Pix[i] = mean[i%3]
		}
	}
	for y := y0; y < y1; y++ {
		copy(dst.Pix[3*((y-top)*side+x0-left):], m.Pix[3*(y*m.Width+x0):3*(y*m.Width+x1)])
	}
	return dst, nil
}

// mean returns the mean colour of a part of the image, rounded.
func (m *Image) mean(x0, y0, x1, y1 int) (mean [3]uint8) {
	var sum [3]uint64
	for y := y0; y < y1; y++ {
		for i, v := range m.Pix[3*(y*m.Width+x0) : 3*(y*m.Width+x1)] {
			sum[i%3] += uint64(v)
		}
	}
	n := uint64((x1 - x0) * (y1 - y0))
	for c := range mean {
		mean[c] = uint8((sum[c] + n/2) / n)
	}
	return mean
}

// UprightSize returns the size of the image in data as [Photo] decodes it.
func UprightSize(data []byte) (width, height int, err error) {
	if width, height, err = Size(data); Orientation(data) > 4 {
		width, height = height, width
	}
	return width, height, err
}

// Fractions returns a box as fractions of an image of that size.
func (b Box) Fractions(width, height int) Box {
	if !b.pixels() {
		return b
	}
	return Box{b.X / float64(width), b.Y / float64(height), b.W / float64(width), b.H / float64(height)}
}

// outline draws the edge of a box of fractions, as wide as a 200th of the longer side.
func (m *Image) outline(b Box) {
	wide := max(2, max(m.Width, m.Height)/200)
	left, top := int(b.X*float64(m.Width)), int(b.Y*float64(m.Height))
	right, bottom := int((b.X+b.W)*float64(m.Width)), int((b.Y+b.H)*float64(m.Height))
	for y := max(top-wide, 0); y < min(bottom+wide, m.Height); y++ {
		for x := max(left-wide, 0); x < min(right+wide, m.Width); x++ {
			if x < left || x >= right || y < top || y >= bottom {
				copy(m.Pix[3*(y*m.Width+x):], []uint8{255, 214, 0})
			}
		}
	}
}
