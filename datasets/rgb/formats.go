package rgb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/png"
	"io"
	"strings"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"

	"github.com/ledg-go/ledg/datasets/rgb/internal/libjpeg"
)

// format is a kind of image file that Decode reads.
type format struct {
	// name is what Format returns, title what a reader calls it.
	name, title string
	// magic are the bytes that a file begins with; ? stands for any.
	magic []string
	// revision counts how often Decode's pixels of the format have changed.
	revision int
	config   func(io.Reader) (image.Config, error)
	decode   decoder
	// white decodes on white; nil for a format without transparency.
	white decoder
}

// decoder makes pixels of a file.
// It notes what it sees in facts, unless they are nil.
type decoder func(ctx context.Context, data []byte, facts *Facts) (*Image, error)

var formats = []format{
	{"jpeg", "JPEG", []string{"\xff\xd8\xff"}, 1, jpegConfig, decodeJPEG, nil},
	{"png", "PNG", []string{"\x89PNG\r\n\x1a\n"}, 0, png.DecodeConfig, pngDecoder(FromImage), pngDecoder(onWhite)},
	{"gif", "GIF", []string{"GIF87a", "GIF89a"}, 0, gif.DecodeConfig, decodeGIF, whiteGIF},
	{"bmp", "BMP", []string{"BM????\x00\x00\x00\x00"}, 0, bmp.DecodeConfig, decoded(bmp.Decode, FromImage), nil},
	{"tiff", "TIFF", []string{"II*\x00", "MM\x00*"}, 0, tiffConfig, decoded(tiff.Decode, FromImage), decoded(tiff.Decode, onWhite)},
	{"webp", "WebP", []string{"RIFF????WEBPVP8"}, 0, webp.DecodeConfig, webPDecoder(false, 0), webPDecoder(true, 255)},
}

// Magic is the number of leading bytes that Format and Strange need.
const Magic = 132

// shown is how many bytes of a strange file an error shows.
const shown = 8

// formatNames are the formats that Decode reads.
var formatNames = func() string {
	var titles []string
	for _, f := range formats {
		titles = append(titles, f.title)
	}
	return strings.Join(titles, ", ")
}()

// Format detects a file's format from its first bytes: "jpeg", "png", "gif", "bmp", "tiff",
// "webp", or "" for others.
func Format(head []byte) string {
	if f := formatOf(head); f != nil {
		return f.name
	}
	return ""
}

// Revision returns the number of changes to the decoded pixels of this file's format since
// ledg's first release, 0 for unknown formats. Results from another revision were computed from
// other pixels.
func Revision(head []byte) int {
	if f := formatOf(head); f != nil {
		return f.revision
	}
	return 0
}

func formatOf(head []byte) *format {
	for i, f := range formats {
		for _, magic := range f.magic {
			if begins(head, magic) {
				return &formats[i]
			}
		}
	}
	return nil
}

func begins(data []byte, magic string) bool {
	if len(data) < len(magic) {
		return false
	}
	for i := range len(magic) {
		if magic[i] != '?' && magic[i] != data[i] {
			return false
		}
	}
	return true
}

// decoded decodes with a function of a package like image/png.
func decoded(decode func(io.Reader) (image.Image, error), convert func(image.Image) *Image) decoder {
	return func(_ context.Context, data []byte, facts *Facts) (*Image, error) {
		src, err := decode(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		if facts != nil {
			facts.deep(src)
		}
		return convert(src), nil
	}
}

// decodeGIF decodes the first frame. The rest of the picture has the transparent colour, or the
// first.
func decodeGIF(_ context.Context, data []byte, _ *Facts) (*Image, error) {
	data, clear := opaqueGIF(data)
	cfg, err := gif.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	src, err := gif.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	frame, ok := src.(*image.Paletted)
	if all := image.Rect(0, 0, cfg.Width, cfg.Height); ok && frame.Rect != all {
		whole := image.NewPaletted(all, frame.Palette)
		if int(clear) < len(frame.Palette) {
			for i := range whole.Pix {
				whole.Pix[i] = clear
			}
		}
		for y := frame.Rect.Min.Y; y < frame.Rect.Max.Y; y++ {
			copy(whole.Pix[whole.PixOffset(frame.Rect.Min.X, y):], frame.Pix[frame.PixOffset(frame.Rect.Min.X, y):][:frame.Rect.Dx()])
		}
		src = whole
	}
	return FromImage(src), nil
}

// opaqueGIF returns the file with no transparent colour in its first frame, since
// image/gif forgets what colour that is, and the index that it had, 0 if there was
// none.
func opaqueGIF(data []byte) (opaque []byte, clear uint8) {
	const extension, control, hasTable, isTransparent = 0x21, 0xf9, 0x80, 1
	if len(data) < 13 {
		return data, 0
	}
	at := 13
	if data[10]&hasTable != 0 {
		at += 3 << (1 + data[10]&7)
	}
	for at+7 < len(data) && data[at] == extension {
		if data[at+1] == control && data[at+2] == 4 {
			if data[at+3]&isTransparent == 0 {
				return data, 0
			}
			opaque = bytes.Clone(data)
			opaque[at+3] &^= isTransparent
			return opaque, data[at+6]
		}
		for at += 2; at < len(data) && data[at] != 0; {
			at += 1 + int(data[at])
		}
		at++
	}
	return data, 0
}

// explain marks a decoder's error about a file that ends too early, and says what to do about a
// sound file.
func explain(err error) error {
	var inTIFF tiff.UnsupportedError
	var inJPEG libjpeg.UnsupportedError
	if errors.As(err, &inTIFF) || errors.As(err, &inJPEG) || errors.Is(err, bmp.ErrUnsupported) {
		return fmt.Errorf("%w; %s", err, toPNG)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) ||
		errors.Is(err, png.FormatError("not enough pixel data")) ||
		strings.HasPrefix(err.Error(), "gif: not enough image data") {
		return &truncated{err}
	}
	return err
}

// truncated is the error of a file that ends too early.
type truncated struct{ err error }

func (e *truncated) Error() string { return "the file is truncated: " + e.err.Error() }
func (e *truncated) Unwrap() error { return e.err }
