package rgb

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/gif"
	"strconv"
	"strings"

	"github.com/bep/imagemeta"
)

// Decoding is the rule by which an image file is decoded to pixels.
type Decoding string

const (
	// Stored uses the stored pixels and drops alpha, as [Decode] and the pipelines of the
	// published code do.
	Stored Decoding = ""
	// Photo decodes as an image viewer does: it applies the EXIF orientation and blends
	// transparent pixels with white. Otherwise it equals Stored.
	Photo Decoding = "photo"
	// Scaled stands for the rule of [ScaledFor] where the network is not known yet.
	Scaled Decoding = "scaled"
)

// ScaledFor returns the rule for images that are resized next: Photo, with JPEGs decoded at 1/2, 1/4
// or 1/8 of their size while both sides keep twice what f needs. It
// is what Pillow's Image.draft does, bit for bit.
func ScaledFor(f Fit) Decoding { return keeping(2 * max(f.Size, f.Short)) }

// ForDisplay returns the rule for a view of about side pixels: as ScaledFor where d turns images
// upright, and d itself otherwise.
func (d Decoding) ForDisplay(side int) Decoding {
	switch whole := d.whole(); {
	case whole != Photo && whole.Least() == 0:
		return d
	case d.Boxes():
		return keeping(side).OfBoxes()
	}
	return keeping(side)
}

func keeping(side int) Decoding { return Decoding(string(Scaled) + strconv.Itoa(side)) }

// Least returns the side that a scaled JPEG keeps, 0 for rules that do not scale.
func (d Decoding) Least() int {
	digits, _ := strings.CutPrefix(string(d.whole()), string(Scaled))
	side, err := strconv.Atoi(digits)
	if err != nil || side < 1 || d.whole() != keeping(side) {
		return 0
	}
	return side
}

// Note says what the rule does to large JPEGs, and how to avoid it; empty if nothing.
func (d Decoding) Note() string {
	if d.Least() == 0 {
		return ""
	}
	if d.Boxes() {
		return "JPEGs are decoded at 1/2, 1/4 or 1/8 of their size where the box is large enough; --decode full takes all pixels"
	}
	return fmt.Sprintf("JPEGs of %d pixels a side and more are decoded at 1/2, 1/4 or 1/8 of their size; --decode full takes all pixels", 2*d.Least())
}

// shrink returns by how much the sides of a JPEG are divided in decoding.
func (d Decoding) shrink(width, height int) int {
	n := 1
	for side := d.Least(); side > 0 && n < 8 && min(width, height) >= 2*n*side; {
		n *= 2
	}
	return n
}

// Decodings lists the rules that do not depend on a network. Beside Stored and Photo there are page2 to page9: Photo of that page
// of a TIFF, and Photo of other files.
var Decodings = []Decoding{Stored, Photo, "page2", "page3", "page4", "page5", "page6", "page7", "page8", "page9"}

// page returns the page of a TIFF that the rule decodes, from 1.
func (d Decoding) page() int {
	if digit, ok := strings.CutPrefix(string(d), "page"); ok && len(digit) == 1 {
		return int(digit[0] - '0')
	}
	return 1
}

// Word returns the rule's name.
func (d Decoding) Word() string {
	if d == Stored {
		return "stored"
	}
	return string(d)
}

// ParseDecoding returns the rule with the given name.
func ParseDecoding(word string) (Decoding, error) {
	if whole := Decoding(word).whole(); whole != Decoding(word) {
		d, err := ParseDecoding(string(whole))
		return d.OfBoxes(), err
	}
	for _, d := range Decodings {
		if word == d.Word() {
			return d, nil
		}
	}
	if word == "full" {
		return Photo, nil
	}
	if d := Decoding(word); d.Least() > 0 {
		return d, nil
	}
	return "", fmt.Errorf("%q, want photo (or full), stored, or page2 to page9", word)
}

// Decode is the function Decode of data in memory by this rule, with cancellation. Concurrent calls together
// decode at most MaxPixels at a time; the others wait.
func (d Decoding) Decode(ctx context.Context, data []byte) (*Image, error) {
	return d.decode(ctx, data, nil)
}

// Look is Decode, and returns what the file reveals.
func (d Decoding) Look(ctx context.Context, data []byte) (*Image, Facts, error) {
	var f Facts
	m, err := d.decode(ctx, data, &f)
	return m, f, err
}

func (d Decoding) decode(ctx context.Context, data []byte, facts *Facts) (*Image, error) {
	if n := d.page(); n > 1 && Format(data) == "tiff" {
		var err error
		if data, err = tiffPage(data, n); err != nil {
			return nil, err
		}
	}
	m, err := decode(ctx, data, facts, func(f *format, width, height int) (decoder, bool) {
		if n := d.shrink(width, height); n > 1 && f.name == "jpeg" {
			return func(ctx context.Context, data []byte, _ *Facts) (*Image, error) { return shrinkJPEG(ctx, data, n) }, true
		}
		if d != Stored && f.white != nil {
			return f.white, false
		}
		return f.decode, false
	})
	if facts != nil && d.page() > 1 { // it was chosen
		facts.Pages, facts.Preview = 0, false
	}
	if err != nil || d == Stored {
		return m, err
	}
	return m.upright(Orientation(data)), nil
}

// Orientation returns the EXIF orientation of a JPEG, PNG, TIFF or WebP, from 1 (upright) to 8,
// and 1 without a valid one.
func Orientation(data []byte) int {
	const tag = "Orientation"
	formats := map[string]imagemeta.ImageFormat{"jpeg": imagemeta.JPEG, "png": imagemeta.PNG, "tiff": imagemeta.TIFF, "webp": imagemeta.WebP}
	f, ok := formats[Format(data)]
	if !ok {
		return 1
	}
	orientation := 1
	imagemeta.Decode(imagemeta.Options{ // of a damaged block what came before counts
		R: bytes.NewReader(data), ImageFormat: f, Sources: imagemeta.EXIF,
		ShouldHandleTag: func(t imagemeta.TagInfo) bool { return t.Tag == tag && t.Namespace == "IFD0" },
		HandleTag: func(t imagemeta.TagInfo) error {
			if v, ok := t.Value.(uint16); ok && v >= 1 && v <= 8 {
				orientation = int(v)
			}
			return imagemeta.ErrStopWalking
		},
	})
	return orientation
}

// upright returns the image with an EXIF orientation undone: m itself for 1, else a copy.
func (m *Image) upright(orientation int) *Image {
	if orientation < 2 || orientation > 8 {
		return m
	}
	w, h := m.Width, m.Height
	if orientation > 4 {
		w, h = h, w
	}
	dst := New(w, h)
	// The pixel of the upright image at (x, y) is stored at a0 + x dx + y dy.
	at := func(x, y int) int { return 3 * (y*m.Width + x) }
	right, down := 3, 3*m.Width
	var a0, dx, dy int
	switch x, y := m.Width-1, m.Height-1; orientation {
	case 2:
		a0, dx, dy = at(x, 0), -right, down
	case 3:
		a0, dx, dy = at(x, y), -right, -down
	case 4:
		a0, dx, dy = at(0, y), right, -down
	case 5:
		a0, dx, dy = at(0, 0), down, right
	case 6:
		a0, dx, dy = at(0, y), -down, right
	case 7:
		a0, dx, dy = at(x, y), -down, -right
	case 8:
		a0, dx, dy = at(x, 0), down, -right
	}
	eachRow(dst, func(y int, row []uint8) {
		from := a0 + y*dy
		for x := range w {
			copy(row[3*x:3*x+3], m.Pix[from:from+3])
			from += dx
		}
	})
	return dst
}

// onWhite composites an image on white.
func onWhite(src image.Image) *Image {
	if o, ok := src.(interface{ Opaque() bool }); ok && o.Opaque() {
		return FromImage(src)
	}
	dst := FromImage(src) // the colours without alpha
	b := src.Bounds()
	alpha := func(x, y int) uint8 {
		_, _, _, a := src.At(x, y).RGBA()
		return uint8(a >> 8)
	}
	switch src := src.(type) {
	case *image.NRGBA:
		alpha = func(x, y int) uint8 { return src.Pix[src.PixOffset(x, y)+3] }
	case *image.Paletted:
		var table [256]uint8
		for i, c := range src.Palette {
			_, _, _, a := c.RGBA()
			table[i] = uint8(a >> 8)
		}
		alpha = func(x, y int) uint8 { return table[src.Pix[src.PixOffset(x, y)]] }
	}
	blend(dst, func(x, y int) uint8 { return alpha(b.Min.X+x, b.Min.Y+y) })
	return dst
}

// blend composites colours on white: (c a + 255 (255 - a)) / 255, rounded to nearest.
func blend(dst *Image, alpha func(x, y int) uint8) {
	eachRow(dst, func(y int, row []uint8) {
		for x := range dst.Width {
			a := int(alpha(x, y))
			if a == 255 {
				continue
			}
			for c, v := range row[3*x : 3*x+3] {
				row[3*x+c] = uint8((int(v)*a + 255*(255-a) + 127) / 255)
			}
		}
	})
}

// whiteGIF decodes the first frame; around it, where it is smaller than the picture, is white.
func whiteGIF(_ context.Context, data []byte, _ *Facts) (*Image, error) {
	cfg, err := gif.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	src, err := gif.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	frame, all := onWhite(src), image.Rect(0, 0, cfg.Width, cfg.Height)
	r := src.Bounds()
	if r == all {
		return frame, nil
	}
	return frame.on(all.Max, r.Min, 255), nil
}
