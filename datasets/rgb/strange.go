package rgb

import (
	"bytes"
	"fmt"
)

// foreign are formats that Decode does not read: what they begin with, their titles, and what
// to do.
var foreign = []struct{ magic, title, do string }{
	{"????ftyphei", "HEIC", heic}, {"????ftyphev", "HEIC", heic}, {"????ftypmif1", "HEIC", heic}, {"????ftypmsf1", "HEIC", heic},
	{"????ftypavi", "AVIF", "convert it to JPEG, with: magick mogrify -format jpg FILE"},
	{"????ftypcrx", "a camera's raw file", raw}, {"FUJIFILMCCD-RAW", "a camera's raw file", raw}, {"IIRO", "a camera's raw file", raw},
	{"????ftyp", "a video", "extract its frames, with: ffmpeg -i FILE -vf fps=1 frame_%04d.jpg"},
	{"RIFF????AVI ", "a video", "extract its frames, with: ffmpeg -i FILE -vf fps=1 frame_%04d.jpg"},
	{"\x00\x00\x00\x0cJXL ", "JPEG XL", "convert it to JPEG, with: magick mogrify -format jpg FILE"},
	{"\xff\x0a", "JPEG XL", "convert it to JPEG, with: magick mogrify -format jpg FILE"},
	{"\x00\x00\x00\x0cjP  ", "JPEG 2000", "convert it to JPEG, with: magick mogrify -format jpg FILE"},
	{"%PDF", "PDF", "extract its images, with: pdfimages -j FILE image"},
	{"8BPS", "a Photoshop file", "convert it to JPEG, with: magick mogrify -format jpg FILE"},
}

const (
	heic = "convert it to JPEG, with: heif-convert FILE FILE.jpg, or magick mogrify -format jpg FILE"
	raw  = "convert it to JPEG, with: exiftool -b -JpgFromRaw FILE > FILE.jpg, or magick mogrify -format jpg FILE"
)

// Strange describes a file with the leading bytes head that Decode does not support, and what to
// do about it.
func Strange(head []byte) string {
	for _, f := range foreign {
		if begins(head, f.magic) {
			return fmt.Sprintf("it is %s; %s", f.title, f.do)
		}
	}
	if len(head) > 0 && len(bytes.Trim(head, "\x00")) == 0 {
		return "it begins with zeros: the file is damaged"
	}
	return fmt.Sprintf("%v: it starts with %q", ErrFormat, head[:min(len(head), shown)])
}

// strange is the error of a file of no format that Decode reads.
type strange struct{ text string }

func (e *strange) Error() string { return e.text }
func (e *strange) Unwrap() error { return ErrFormat }
