package rgb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// ifd is a page of a grey TIFF, with further tags.
type ifd struct {
	w, h uint32
	more map[uint16]uint32
}

// tiffOf writes a TIFF with pages; those of parts are SubIFDs of the first.
func tiffOf(order binary.AppendByteOrder, pages []ifd, parts ...ifd) []byte {
	b := []byte("II*\x00")
	if order == binary.BigEndian {
		b = []byte("MM\x00*")
	}
	b = append(b, 0, 0, 0, 0)
	put := order.(binary.ByteOrder)
	write := func(d ifd, link int) (next int) {
		strip := uint32(len(b))
		for i := range d.w * d.h {
			b = append(b, uint8(37*i))
		}
		if b = append(b, make([]byte, len(b)&1)...); link > 0 {
			put.PutUint32(b[link:], uint32(len(b)))
		}
		tags := map[uint16]uint32{256: d.w, 257: d.h, 258: 8, 259: 1, 262: 1, 273: strip, 277: 1, 278: d.h, 279: d.w * d.h}
		for tag, v := range d.more {
			tags[tag] = v
		}
		var list []uint16
		for tag := range tags {
			list = append(list, tag)
		}
		slices.Sort(list)
		b = order.AppendUint16(b, uint16(len(list)))
		for _, tag := range list {
			b = order.AppendUint32(order.AppendUint32(order.AppendUint16(order.AppendUint16(b, tag), 4), 1), tags[tag])
		}
		b = append(b, 0, 0, 0, 0)
		return len(b) - 4
	}
	link := 4
	for i, d := range pages {
		if i == 0 && len(parts) > 0 {
			write(parts[0], 4) // whose place is that of the chain until the first page is written
			d.more = map[uint16]uint32{330: put.Uint32(b[4:])}
			for tag, v := range pages[0].more {
				d.more[tag] = v
			}
		}
		link = write(d, link)
	}
	return b
}

func TestPagesAndRaw(t *testing.T) {
	page, small := ifd{w: 8, h: 8}, ifd{8, 8, map[uint16]uint32{254: 1}}
	for name, c := range map[string]struct {
		pages, parts []ifd
		file         string
		want         Facts
		raw          bool
	}{
		"one page":               {pages: []ifd{page}, want: Facts{Pages: 1}},
		"stack":                  {pages: []ifd{page, page, page}, want: Facts{Pages: 3}},
		"pyramid":                {pages: []ifd{page, {4, 4, map[uint16]uint32{254: 1}}, {2, 2, map[uint16]uint32{255: 2}}}, want: Facts{Pages: 1}},
		"mask":                   {pages: []ifd{page, {8, 8, map[uint16]uint32{254: 4}}}, want: Facts{Pages: 1}},
		"preview":                {pages: []ifd{page, {w: 16, h: 16}}, want: Facts{Pages: 2, Preview: true}},
		"preview, by its tag":    {pages: []ifd{small, page}, want: Facts{Pages: 2, Preview: true}},
		"pyramid in parts":       {pages: []ifd{page}, parts: []ifd{{4, 4, map[uint16]uint32{254: 1}}}, want: Facts{Pages: 1}},
		"raw, by its name":       {pages: []ifd{page}, file: "a/B.Nef", raw: true},
		"DNG":                    {pages: []ifd{{8, 8, map[uint16]uint32{50706: 1}}}, raw: true},
		"colour filter array":    {pages: []ifd{page, {16, 16, map[uint16]uint32{262: 32803}}}, raw: true},
		"linear raw in parts":    {pages: []ifd{page}, parts: []ifd{{16, 16, map[uint16]uint32{262: 34892}}}, raw: true},
		"preview of its part":    {pages: []ifd{small}, parts: []ifd{{w: 16, h: 16}}, raw: true},
		"TIFF with another name": {pages: []ifd{page}, file: "x.jpg", want: Facts{Pages: 1}},
	} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			data := tiffOf(order, c.pages, c.parts...)
			err := Recognise(c.file, bytes.NewReader(data))
			if (err != nil) != c.raw || c.raw && !errors.Is(err, ErrFormat) {
				t.Errorf("%s: %v", name, err)
			}
			if c.file != "" {
				continue
			}
			m, facts, err := Photo.Look(t.Context(), data)
			if (err != nil) != c.raw || err == nil && (m.Width != 8 || facts != c.want) {
				t.Errorf("%s: %+v, %v, want %+v", name, facts, err, c.want)
			}
		}
	}
	for _, more := range []map[uint16]uint32{{258: 32}, {277: 3, 284: 2}} {
		if _, err := Photo.Decode(t.Context(), tiffOf(binary.LittleEndian, []ifd{{8, 8, more}})); err == nil || !strings.Contains(err.Error(), "unsupported feature") || !strings.Contains(err.Error(), toPNG) {
			t.Errorf("%v: %v", more, err)
		}
	}
	stack := tiffOf(binary.BigEndian, []ifd{page, small, {w: 4, h: 5}})
	m, facts, err := Decoding("page2").Look(t.Context(), stack)
	if err != nil || m.Height != 5 || facts.Pages != 0 {
		t.Errorf("page 2: %+v, %v", facts, err)
	}
	fatal.Says(t, fatal.Err(Decoding("page3").Decode(t.Context(), stack)), "2 pages, want page 3")
	loop := tiffOf(binary.LittleEndian, []ifd{page, page})
	binary.LittleEndian.PutUint32(loop[len(loop)-4:], binary.LittleEndian.Uint32(loop[4:]))
	if _, facts, err := Stored.Look(t.Context(), loop); err != nil || facts.Pages != 2 {
		t.Errorf("pages in a circle: %+v, %v", facts, err)
	}
}

func TestLookAtLevels(t *testing.T) {
	grey := func(low, high int) image.Image {
		m := image.NewGray16(image.Rect(0, 0, 90, 50))
		for i := range 90 * 50 {
			m.SetGray16(i%90, i/90, color.Gray16{uint16(low + (high-low)*(i%90)/89)})
		}
		m.SetGray16(3, 3, color.Gray16{65535}) // a hot pixel
		return m
	}
	colours := image.NewNRGBA64(image.Rect(0, 0, 20, 20))
	for i := range 400 {
		colours.SetNRGBA64(i%20, i/20, color.NRGBA64{uint16(10 * i), 0, 4000, 65535})
	}
	for name, c := range map[string]struct {
		m            image.Image
		narrow, flat bool
	}{
		"12 of 16 bits":    {grey(0, 4095), true, true},
		"colours":          {colours, true, true},
		"thermal":          {grey(29000, 31000), true, true},
		"14 of 16 bits":    {grey(0, 16383), true, false},
		"16 bits":          {grey(0, 65535), false, false},
		"one value":        {grey(700, 700), false, true},
		"8 bits":           {noise(40, 40).ToImage(), false, false},
		"8 bits, black":    {New(40, 40).ToImage(), false, true},
		"8 bits, one line": {func() image.Image { m := New(40, 40); m.Set(1, 1, 255, 255, 255); return m.ToImage() }(), false, true},
	} {
		var b bytes.Buffer
		fatal.If(t, png.Encode(&b, c.m))
		_, f, err := Photo.Look(t.Context(), b.Bytes())
		if err != nil || f.Narrow() != c.narrow || f.Flat != c.flat {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

// The first frame of an animated WebP is what it is as a still one, on its canvas.
func TestAnimatedWebP(t *testing.T) {
	for _, name := range []string{"webp_lossless", "webp_lossless_alpha", "webp_lossy", "webp_lossy_alpha"} {
		still := fatal.Get(os.ReadFile("testdata/decode/" + name + ".webp"))(t)
		chunks := still[12:]
		if bytes.HasPrefix(chunks, []byte("VP8X")) {
			chunks = chunks[18:]
		}
		for _, rule := range []Decoding{Stored, Photo} {
			want := fatal.Get(rule.Decode(t.Context(), still))(t)
			animated := func(w, h, x, y int) []byte {
				u24 := func(b []byte, v int) []byte { return append(b, uint8(v), uint8(v>>8), uint8(v>>16)) }
				b := append([]byte("RIFF????WEBPVP8X\x0a\x00\x00\x00"), 1<<1|1<<4, 0, 0, 0)
				b = append(u24(u24(b, w-1), h-1), "ANIM\x06\x00\x00\x00\x00\x00\x00\x00\x00\x00"...)
				frame := u24(u24(u24(u24(u24(nil, x/2), y/2), want.Width-1), want.Height-1), 100)
				frame = append(append(frame, 0), chunks...)
				for range 2 {
					b = binary.LittleEndian.AppendUint32(append(b, "ANMF"...), uint32(len(frame)))
					b = append(b, frame...)
				}
				binary.LittleEndian.PutUint32(b[4:], uint32(len(b)-8))
				return b
			}
			got, err := rule.Decode(t.Context(), animated(want.Width, want.Height, 0, 0))
			if err != nil || !bytes.Equal(got.Pix, want.Pix) {
				t.Errorf("%s, %s: %v, or other pixels", name, rule.Word(), err)
			}
			got, err = rule.Decode(t.Context(), animated(want.Width+5, want.Height+4, 2, 4))
			if err != nil || got.Width != want.Width+5 {
				t.Fatalf("%s, %s: %v", name, rule.Word(), err)
			}
			rest := map[Decoding]uint8{Stored: 0, Photo: 255}[rule]
			if r, _, _ := got.At(1, 4); r != rest {
				t.Errorf("%s, %s: beside the frame is %d", name, rule.Word(), r)
			}
			for i := range 3 * want.Width {
				if got.Pix[3*(4*got.Width+2)+i] != want.Pix[i] {
					t.Fatalf("%s, %s: the frame is elsewhere", name, rule.Word())
				}
			}
			if _, err := rule.Decode(t.Context(), animated(want.Width, want.Height, 2, 0)); err == nil {
				t.Errorf("%s: a frame beyond the canvas is read", name)
			}
		}
	}
}

// Files of other formats are named, with advice that overwrites nothing.
func TestStrangeNames(t *testing.T) {
	preamble := strings.Repeat("\x00", 128)
	for head, want := range map[string]string{
		preamble + "DICM\x02\x00":                  "DICOM",
		strings.Repeat("x", 128) + "DICM":          "DICOM",
		"\x08\x00\x05\x00CS\x0a\x00ISO_IR":         "DICOM",
		"\x08\x00\x05\x00\x0a\x00\x00\x00ISO_IR":   "DICOM",
		"\x08\x00\x00\x00\x04\x00\x00\x00\x9c\x01": "DICOM",
		"../.git/annex/objects/x":                  "git-annex",
		preamble + "\x00\x00\x00\x00":              "placeholder",
		"IIRO\x08\x00":                             "raw",
		"II+\x00\x08\x00":                          "BigTIFF",
		"SIMPLE  =                    T":           "FITS",
		"version https://git-lfs.github.com/":      "Git LFS",
		"<!DOCTYPE html><html>":                    "web page",
		"8BPS\x00\x01":                             "Photoshop",
	} {
		err := Recognise("x", strings.NewReader(head))
		if err == nil || !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", head, err, want)
		}
	}
	for _, f := range foreign {
		if strings.Contains(f.do, "mogrify") {
			t.Errorf("%s: %q writes over a file beside the original", f.title, f.do)
		}
	}
	if err := Recognise("x", strings.NewReader("")); err != io.EOF {
		t.Errorf("an empty file: %v", err)
	}
}
