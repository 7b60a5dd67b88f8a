package rgb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
)

// MaxPixels is the largest width times height that Decode accepts: the size
// (about 89 megapixels) from which Pillow warns of a decompression bomb.
const MaxPixels = 89_478_485

// ErrFormat is wrapped by Decode's error when the data is of no format that it
// reads.
var ErrFormat = errors.New("none of " + formatNames)

// Decode reads a JPEG, PNG, GIF, BMP, TIFF or WebP, told apart by content, and
// returns its three 8-bit channels as Pillow's Image.open(f).convert("RGB") does:
//
//   - Grey, one-bit and palette images are expanded to RGB.
//   - Alpha, and a transparent colour or palette entry, is dropped without
//     blending: a fully transparent red pixel is red.
//   - 16-bit channels keep their high byte. (So does Pillow, with one exception
//     not followed here: its 9.x releases clip 16-bit grey without alpha at
//     255, which turns nearly every picture white.)
//   - CMYK and YCCK JPEGs are read as Adobe writes them, inverted, and turned
//     into R = (255-K)(255-C)/255, and so on, rounded.
//   - JPEG chroma is upsampled with libjpeg's triangle filter and converted with
//     its integer tables. The inverse DCT is Go's, which rounds differently: in
//     the JPEGs of PACS (at 128 px), 2.7% of the values differ from libjpeg's,
//     by at most 3 levels.
//   - Of a GIF the first frame is taken, of a TIFF the first page. Animated WebP,
//     JPEG inside TIFF, and BMP with fewer than 8 bits a pixel are errors.
//   - Lossy WebP is converted with libwebp's integers and matches to the bit.
//   - Colour profiles and gamma are ignored.
//   - EXIF orientation is ignored, too: pixels are taken as they are stored. The
//     pipelines of the published code, which load pictures with Pillow and do not
//     ask it to turn them, see the same. Turn photographs of a camera that was held
//     upright before they are used, if all should stand on their feet.
//
// An incomplete or damaged file is an error, never a partly grey picture; so is
// an image of more than MaxPixels pixels.
func Decode(r io.Reader) (*Image, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	f := formatOf(data)
	switch {
	case f == nil && len(data) == 0:
		return nil, fmt.Errorf("%w: the file is empty", ErrFormat)
	case f == nil:
		return nil, fmt.Errorf("%w: it starts with %q", ErrFormat, data[:min(len(data), shown)])
	}
	cfg, err := f.config(bytes.NewReader(data))
	if err != nil {
		return nil, explain(err)
	}
	if err := checkSize(cfg); err != nil {
		return nil, err
	}
	m, err := f.decode(data)
	if err != nil {
		return nil, explain(err)
	}
	return m, nil
}

func decodeJPEG(data []byte) (*Image, error) {
	src, err := jpeg.Decode(bytes.NewReader(data))
	var unsupported jpeg.UnsupportedError
	if errors.As(err, &unsupported) && !hasAdobe(data) {
		// Go wants to be told what four components mean. Without the Adobe
		// marker libjpeg takes them for CMYK, and Pillow for inverted CMYK,
		// which is what the marker with transform 0 says.
		src, err = jpeg.Decode(bytes.NewReader(withAdobe(data)))
	}
	if err != nil {
		return nil, err
	}
	return FromImage(src), nil
}

// checkSize rejects images without pixels and decompression bombs.
func checkSize(cfg image.Config) error {
	if cfg.Width < 1 || cfg.Height < 1 {
		return fmt.Errorf("the image is empty: %d x %d pixels", cfg.Width, cfg.Height)
	}
	if int64(cfg.Width)*int64(cfg.Height) > MaxPixels {
		return fmt.Errorf("the image is too large: %d x %d pixels, the limit is %d in all", cfg.Width, cfg.Height, MaxPixels)
	}
	return nil
}

// adobeCMYK is an Adobe APP14 segment with colour transform 0.
var adobeCMYK = []byte("\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00")

// withAdobe returns the JPEG with adobeCMYK put in right after its start marker.
func withAdobe(data []byte) []byte {
	out := make([]byte, 0, len(data)+len(adobeCMYK))
	out = append(out, data[:2]...)
	out = append(out, adobeCMYK...)
	return append(out, data[2:]...)
}

// hasAdobe reports whether an Adobe segment comes before the first scan.
func hasAdobe(data []byte) bool {
	const sos, app14 = 0xda, 0xee
	for i := 2; i+4 <= len(data) && data[i] == 0xff && data[i+1] != sos; {
		n := int(binary.BigEndian.Uint16(data[i+2:]))
		if data[i+1] == app14 && bytes.HasPrefix(data[i+4:], []byte("Adobe")) {
			return true
		}
		i += 2 + n
	}
	return false
}
