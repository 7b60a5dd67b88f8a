package rgb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"runtime"

	"golang.org/x/sync/semaphore"

	"github.com/ledg-go/ledg/datasets/rgb/internal/libjpeg"
)

// MaxPixels is the largest width times height that Decode accepts, about 89 megapixels: above it
// Pillow warns of a decompression bomb. MaxLarge, above which Pillow refuses it, holds for what
// needs little memory beside the result. These are PNGs of at most 8 bits a channel that are not
// interlaced, and baseline JPEGs that are scaled in decoding.
const (
	MaxPixels = 89_478_485
	MaxLarge  = 2 * MaxPixels
)

// MaxFile is the largest file that Decode reads, in bytes: more than an uncompressed image of
// MaxPixels.
const MaxFile = 512 << 20

// ErrFormat is wrapped by Decode's error for an unknown format.
var ErrFormat = errors.New("none of " + formatNames)

// Decode reads a JPEG, PNG, GIF, BMP, TIFF or WebP, detected by content, and returns the three
// 8-bit channels of Pillow's Image.open(f).convert("RGB"):
//
//   - Grey, one-bit and palette images are expanded to RGB.
//   - Alpha, and a transparent colour or palette entry, is dropped without
//     blending: a fully transparent red pixel is red.
//   - 16-bit channels keep their high byte. (So does Pillow, with one exception
//     not followed here: its 9.x releases clip 16-bit grey without alpha at
//     255, which turns nearly every image white.)
//   - CMYK and YCCK JPEGs are read as Adobe writes them, inverted, and converted
//     by R = (255-K)(255-C)/255, and so on, rounded.
//   - JPEGs are decoded with libjpeg's integer arithmetic, from the inverse DCT to
//     the colours, and match it bit for bit.
//   - Of a GIF or WebP the first frame is read, of a TIFF the first page. JPEG inside
//     TIFF, cameras' raw files, and BMP with fewer than 8 bits a pixel are errors.
//   - Lossy WebP is converted with libwebp's integer arithmetic, bit for bit.
//   - Colour profiles and gamma are ignored.
//   - EXIF orientation is ignored, too, as in the pipelines of the published code.
//     [Photo] applies it.
//
// An incomplete or damaged file is an error, never a partly grey image; so is one of more
// pixels than MaxPixels or MaxLarge.
func Decode(r io.Reader) (*Image, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxFile {
		return nil, fmt.Errorf("the file has more than %d bytes", MaxFile)
	}
	return Stored.Decode(context.Background(), data)
}

// decode decodes data by the decoder of its format that is chosen.
func decode(ctx context.Context, data []byte, facts *Facts, chosen func(f *format, width, height int) (d decoder, scaled bool)) (*Image, error) {
	f, cfg, err := header(data)
	if err != nil {
		return nil, err
	}
	d, scaled := chosen(f, cfg.Width, cfg.Height)
	if err := checkSize(cfg, f.most(data, scaled)); err != nil {
		return nil, err
	}
	weight := min(int64(cfg.Width)*int64(cfg.Height), MaxPixels)
	if err := decoding.Acquire(ctx, weight); err != nil {
		return nil, context.Cause(ctx)
	}
	defer decoding.Release(weight)
	if weight > MaxPixels/2 {
		runtime.GC() // the memory of the large one before, which is up to a gigabyte
	}
	m, err := d(ctx, data, facts)
	if err != nil {
		return nil, explain(err)
	}
	if facts != nil {
		facts.look(m)
		if f.name == "tiff" {
			facts.pages(data)
		}
	}
	return m, nil
}

// decoding are the pixels that are decoded now.
var decoding = semaphore.NewWeighted(MaxPixels)

// Size returns the width and height of the image in data without decoding it. It returns the
// errors of Decode that the header reveals.
func Size(data []byte) (width, height int, err error) {
	f, cfg, err := header(data)
	if err != nil {
		return 0, 0, err
	}
	return cfg.Width, cfg.Height, checkSize(cfg, f.most(data, false))
}

func header(data []byte) (f *format, cfg image.Config, err error) {
	switch f = formatOf(data); {
	case f == nil && len(data) == 0:
		return nil, cfg, fmt.Errorf("%w: the file is empty", ErrFormat)
	case f == nil:
		return nil, cfg, &strange{Strange(data[:min(len(data), Magic)])}
	}
	if cfg, err = f.config(bytes.NewReader(data)); err != nil {
		err = explain(err)
	}
	return f, cfg, err
}

// most returns how many pixels an image may have.
func (f *format) most(data []byte, scaled bool) int64 {
	switch f.name {
	case "png":
		if _, ok := stripsOf(data); ok {
			return MaxLarge
		}
	case "jpeg":
		if scaled && libjpeg.Baseline(data) {
			return MaxLarge
		}
	}
	return MaxPixels
}

// checkSize rejects images without pixels and decompression bombs.
func checkSize(cfg image.Config, most int64) error {
	if cfg.Width < 1 || cfg.Height < 1 {
		return fmt.Errorf("the image is empty: %d x %d pixels", cfg.Width, cfg.Height)
	}
	if int64(cfg.Width)*int64(cfg.Height) > most {
		return fmt.Errorf("the image is too large: %d x %d pixels, the limit is %d in all; scale a copy down, with: magick FILE -resize 4000x4000 COPY.jpg", cfg.Width, cfg.Height, most)
	}
	return nil
}
