package rgb

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"io"
	"path"
	"slices"
	"strings"

	"golang.org/x/image/tiff"
)

// directory is what a TIFF's image file directory says of its picture.
type directory struct {
	at uint32 // its offset
	// width, height, subfile, photometric and samples are tags of TIFF 6.0.
	width, height, subfile, photometric, samples uint32
	// dng is true with the tag DNGVersion, and planes if channels are stored one by one. subs are the offsets of the tag SubIFDs.
	dng, planes bool
	subs        []uint32
}

// page reports whether a directory is neither a mask nor a smaller copy of another picture.
func (d directory) page() bool { return d.subfile&(1|4) == 0 }

// pixels is the size of a picture.
func (d directory) pixels() int64 { return int64(d.width) * int64(d.height) }

// maxEntries bounds the entries of all directories of a file.
const maxEntries = 1 << 20

// tags reads the directory at an offset, and the offset of the next one. It returns ok = false for
// one that is not in the file.
func tags(r io.ReaderAt, order binary.ByteOrder, at uint32) (d directory, next uint32, entries int, ok bool) {
	var count [2]byte
	if _, err := r.ReadAt(count[:], int64(at)); err != nil || at == 0 {
		return d, 0, 0, false
	}
	entries = int(order.Uint16(count[:]))
	b := make([]byte, 12*entries+4)
	if n, _ := r.ReadAt(b, int64(at)+2); n < 12*entries {
		return d, 0, 0, false
	}
	for e := b; len(e) >= 12; e = e[12:] {
		const short = 3
		tag, kind, n, value := order.Uint16(e), order.Uint16(e[2:]), order.Uint32(e[4:]), order.Uint32(e[8:])
		if kind == short {
			value = uint32(order.Uint16(e[8:]))
		}
		switch tag {
		case 254:
			d.subfile = value
		case 255: // its older form: 1 is a page, 2 a smaller copy, 3 a page of several
			if value == 2 {
				d.subfile |= 1
			}
		case 256:
			d.width = value
		case 257:
			d.height = value
		case 262:
			d.photometric = value
		case 277:
			d.samples = value
		case 284:
			d.planes = value == 2
		case 330:
			d.subs = []uint32{value}
			if n > 1 {
				list := make([]byte, 4*min(n, 16))
				got, _ := r.ReadAt(list, int64(value))
				d.subs = nil
				for ; got >= 4; got -= 4 {
					d.subs = append(d.subs, order.Uint32(list))
					list = list[4:]
				}
			}
		case 50706:
			d.dng = true
		}
	}
	return d, order.Uint32(b[12*entries:]), entries, true
}

// directories returns the first directories of a TIFF, at most most of them, and those that
// these name as their parts.
func directories(r io.ReaderAt, most int) (list, parts []directory) {
	var head [8]byte
	if _, err := r.ReadAt(head[:], 0); err != nil {
		return nil, nil
	}
	order := orderOf(head[:])
	seen, left := map[uint32]bool{}, maxEntries
	for at := order.Uint32(head[4:]); len(list) < most && left > 0 && !seen[at]; {
		d, next, entries, ok := tags(r, order, at)
		if !ok {
			break
		}
		seen[at], d.at = true, at
		list = append(list, d)
		for _, sub := range d.subs {
			if p, _, n, ok := tags(r, order, sub); ok && len(parts) < 64 {
				parts, entries = append(parts, p), entries+n
			}
		}
		at, left = next, left-entries-1
	}
	return list, parts
}

// rawNames are the endings of cameras' raw files, many of which are TIFF.
var rawNames = strings.Fields(".3fr .ari .arw .cap .cr2 .cr3 .crw .dcr .dcs .dng .drf .eip .erf .fff .gpr .iiq .k25 .kdc .mef .mos .mrw .nef .nrw .orf .pef .ptx .raf .raw .rw2 .rwl .sr2 .srf .srw .x3f")

// isRaw reports whether a TIFF is a camera's raw file: by its name's ending, if it is known; or by
// the values of a colour filter array, linear raw ones, or the tag DNGVersion in it; or if its first
// picture is a preview of one of its parts.
func isRaw(name string, r io.ReaderAt) bool {
	var mark [4]byte
	if _, err := r.ReadAt(mark[:], 8); err == nil && string(mark[:]) == "CR\x02\x00" || slices.Contains(rawNames, strings.ToLower(path.Ext(name))) {
		return true
	}
	list, parts := directories(r, 4)
	if slices.ContainsFunc(append(slices.Clone(list), parts...), func(d directory) bool {
		const filterArray, linear = 32803, 34892
		return d.dng || d.photometric == filterArray || d.photometric == linear
	}) {
		return true
	}
	return len(list) > 0 && !list[0].page() && slices.ContainsFunc(parts, func(d directory) bool { return d.page() && d.pixels() > list[0].pixels() })
}

// pagesOf returns the directories that are pages: the first one, and all that are no masks and no
// smaller copies.
func pagesOf(list []directory) (pages []directory) {
	for i, d := range list {
		if i == 0 || d.page() {
			pages = append(pages, d)
		}
	}
	return pages
}

// tiffPage returns a TIFF that begins with page n of another, from 1.
func tiffPage(data []byte, n int) ([]byte, error) {
	list, _ := directories(bytes.NewReader(data), 1<<16)
	pages := pagesOf(list)
	if len(pages) < n {
		return nil, fmt.Errorf("the TIFF has %d pages, want page %d", len(pages), n)
	}
	data = bytes.Clone(data)
	orderOf(data).PutUint32(data[4:], pages[n-1].at)
	return data, nil
}

// orderOf returns the byte order of a TIFF.
func orderOf(head []byte) binary.ByteOrder {
	if head[0] == 'M' {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// pages adds what a TIFF's directories say.
func (f *Facts) pages(data []byte) {
	list, _ := directories(bytes.NewReader(data), 1<<16)
	pages := pagesOf(list)
	f.Pages = len(pages)
	for _, d := range pages[min(1, len(pages)):] {
		f.Preview = f.Preview || !list[0].page() || d.pixels() >= 4*list[0].pixels()
	}
}

// tiffConfig refuses cameras' raw files, whose first picture is a preview.
func tiffConfig(r io.Reader) (image.Config, error) {
	if at, ok := r.(io.ReaderAt); ok {
		if isRaw("", at) {
			return image.Config{}, errRaw
		}
		if list, _ := directories(at, 1); len(list) > 0 && list[0].planes && list[0].samples > 1 {
			return image.Config{}, tiff.UnsupportedError("channels in separate planes")
		}
	}
	return tiff.DecodeConfig(r)
}
