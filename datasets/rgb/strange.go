package rgb

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// foreign are formats that Decode does not read: what they begin with, their titles, and what
// to do. No advice overwrites a file beside the original.
var foreign = []struct{ magic, title, do string }{
	{"????ftyphei", "HEIC", heic}, {"????ftyphev", "HEIC", heic}, {"????ftypmif1", "HEIC", heic}, {"????ftypmsf1", "HEIC", heic},
	{"????ftypavi", "AVIF", toJPEG},
	{"????ftypcrx", cameraRaw, raw}, {"FUJIFILMCCD-RAW", cameraRaw, raw}, {"IIRO", cameraRaw, raw}, {"IIRS", cameraRaw, raw}, {"MMOR", cameraRaw, raw},
	{"IIU\x00", cameraRaw, raw}, {"\x00MRM", cameraRaw, raw}, {"FOVb", cameraRaw, raw}, {"II\x1a\x00\x00\x00HEAPCCDR", cameraRaw, raw},
	{"????ftyp", "a video", frames}, {"RIFF????AVI ", "a video", frames}, {"\x1aE\xdf\xa3", "a video", frames}, {"\x00\x00\x01\xba", "a video", frames},
	{"\x00\x00\x00\x0cJXL ", "JPEG XL", toJPEG}, {"\xff\x0a", "JPEG XL", toJPEG},
	{"\x00\x00\x00\x0cjP  ", "JPEG 2000", toJPEG}, {"\xff\x4f\xff\x51", "JPEG 2000", toJPEG},
	{"%PDF", "PDF", "extract its images, with: pdfimages -j FILE image"},
	{"8BPS", "a Photoshop file", toJPEG},
	{"%!PS", "PostScript", toPNG}, {"\xc5\xd0\xd3\xc6", "PostScript", toPNG},
	{"v/1\x01", "OpenEXR, of high dynamic range", toPNG}, {"#?RADIANCE", "an image of high dynamic range", toPNG},
	{"P5\n", "PGM", toPNG}, {"P6\n", "PPM", toPNG},
	{strings.Repeat("?", 128) + "DICM", "DICOM", dicom}, {"\x02\x00\x00\x00UL", "DICOM", dicom},
	{"\x08\x00?\x00CS", "DICOM", dicom}, {"\x08\x00?\x00UI", "DICOM", dicom}, {"\x08\x00?\x00UL", "DICOM", dicom},
	{"\x08\x00\x00\x00\x04\x00\x00\x00", "DICOM", dicom}, {"\x08\x00\x05\x00?\x00\x00\x00ISO", "DICOM", dicom},
	{"SIMPLE  =", "FITS", "convert it to PNG with one scale for all images, with astropy"},
	{"\x5c\x01\x00\x00", "NIfTI", "write its slices as PNG, with: med2image -i FILE -o COPY.png"},
	{"ZISRAWFILE", "a microscope's CZI", bioformats}, {"\xda\xce\xbe\x0a", "a microscope's ND2", bioformats}, {"p\x00\x00\x00????*", "a microscope's LIF", bioformats},
	{"II+\x00", "BigTIFF", bigTIFF}, {"MM\x00+", "BigTIFF", bigTIFF},
	{"version https://git-lfs", "a pointer of Git LFS, not the file", "fetch it, with: git lfs pull"},
	{"/annex/objects/", "a pointer of git-annex, not the file", annex}, {"../.git/annex", "a pointer of git-annex, not the file", annex},
	{"<!DOCTYPE", "a web page, not the image", again}, {"<!doctype", "a web page, not the image", again}, {"<html", "a web page, not the image", again},
}

const (
	cameraRaw  = "a camera's raw file"
	toJPEG     = "convert it to JPEG, with: magick FILE COPY.jpg"
	toPNG      = "convert it to PNG, with: magick FILE COPY.png"
	heic       = "convert it to JPEG, with: heif-convert FILE FILE.jpg, or magick FILE FILE.jpg"
	raw        = "convert it to JPEG, with: exiftool -b -JpgFromRaw FILE > FILE.jpg, or magick FILE FILE.jpg; where a JPEG lies beside it, leave it out with --exclude"
	frames     = "extract its frames, with: ffmpeg -i FILE -vf fps=1 frame_%04d.jpg"
	dicom      = "convert it with its window, which also inverts MONOCHROME1, with: dcmj2pnm --use-window 1 --write-png FILE COPY.png"
	bioformats = "convert it, with: bfconvert FILE COPY_%z_%c.tif"
	bigTIFF    = "convert it, with: tiffcp FILE COPY.tif, or gdal_translate -co BIGTIFF=NO FILE COPY.tif"
	annex      = "fetch it, with: git annex get FILE"
	again      = "download it again"
)

// errRaw is about a camera's raw file whose first picture Decode could read: a preview.
var errRaw = &strange{"it is " + cameraRaw + "; " + raw}

// Strange describes a file with the leading bytes head that Decode does not support, and what to
// do about it.
func Strange(head []byte) string {
	for _, f := range foreign {
		if begins(head, f.magic) {
			return fmt.Sprintf("it is %s; %s", f.title, f.do)
		}
	}
	if len(head) > 0 && len(bytes.Trim(head, "\x00")) == 0 {
		return "it begins with zeros: a cloud folder's placeholder, or damage of a card or disk; download or copy it again"
	}
	return fmt.Sprintf("%v: it starts with %q", ErrFormat, head[:min(len(head), shown)])
}

// Recognise returns nil for a file that Decode may read, by its first bytes, and of a TIFF by its
// directories and name. Other errors than about its format are r's; io.EOF is about an empty file.
func Recognise(name string, r io.Reader) error {
	head := make([]byte, Magic)
	n, err := io.ReadFull(r, head)
	head = head[:n]
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	switch Format(head) {
	case "":
		return &strange{Strange(head)}
	case "tiff":
		if at, ok := r.(io.ReaderAt); ok && isRaw(name, at) {
			return errRaw
		}
	}
	return nil
}

// strange is the error of a file of no format that Decode reads.
type strange struct{ text string }

func (e *strange) Error() string { return e.text }
func (e *strange) Unwrap() error { return ErrFormat }
