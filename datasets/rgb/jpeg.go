package rgb

import (
	"context"
	"image"
	"image/color"
	"io"

	"github.com/ledg-go/ledg/datasets/rgb/internal/libjpeg"
)

// jpegConfig returns the size in the frame header.
func jpegConfig(r io.Reader) (image.Config, error) {
	var data []byte
	for {
		more, err := io.ReadAll(io.LimitReader(r, int64(max(1<<16, len(data))))) // most files need no more than the first
		if err != nil {
			return image.Config{}, err
		}
		data = append(data, more...)
		w, h, err := libjpeg.Size(data)
		if err == nil || len(more) == 0 {
			return image.Config{ColorModel: color.YCbCrModel, Width: w, Height: h}, err
		}
	}
}

// decodeJPEG decodes a JPEG as libjpeg and Pillow do.
func decodeJPEG(ctx context.Context, data []byte, _ *Facts) (*Image, error) {
	return shrinkJPEG(ctx, data, 1)
}

// shrinkJPEG is decodeJPEG with sides of 1/shrink: 1, 2, 4 or 8.
func shrinkJPEG(ctx context.Context, data []byte, shrink int) (*Image, error) {
	var dst *Image
	var channels []channel
	err := libjpeg.Decode(ctx, data, shrink, func(p *libjpeg.Picture, from, to int) {
		if from == 0 {
			dst, channels = New(p.Width, p.Height), make([]channel, len(p.Planes))
			for i, c := range p.Planes {
				channels[i] = newChannel(plane{pix: c.Pix, stride: c.Stride, width: c.Width, height: c.Height, rows: c.Rows}, upsampler{c.H, c.V})
				channels[i].repeats = !p.Smooth
			}
		}
		for y := from; y < to; y++ {
			convert(dst.Pix[3*dst.Width*y:][:3*dst.Width], p.Colours, y, channels)
		}
	})
	if err != nil {
		return nil, err
	}
	return dst, nil
}

// convert makes row y of a picture from its channels.
func convert(row []uint8, colours libjpeg.Colours, y int, channels []channel) {
	var rows [4][]uint8
	for i := range channels {
		rows[i] = channels[i].row(y)
	}
	switch colours {
	case libjpeg.Grey:
		for x, v := range rows[0][:len(row)/3] {
			row[3*x], row[3*x+1], row[3*x+2] = v, v, v
		}
	case libjpeg.RGB:
		interleave(row, rows[0], rows[1], rows[2])
	case libjpeg.YCbCr:
		fromChroma(row, rows[0], rows[1], rows[2])
	case libjpeg.CMYK:
		interleave(row, rows[0], rows[1], rows[2])
		for i, v := range row {
			row[i] = 255 - v
		}
		ink(row, rows[3])
	case libjpeg.YCCK: // the complement of the colours is inverted ink, too
		fromChroma(row, rows[0], rows[1], rows[2])
		ink(row, rows[3])
	}
}

// interleave writes three rows of channels as a row of pixels.
func interleave(row, r, g, b []uint8) {
	for x := range len(row) / 3 {
		row[3*x], row[3*x+1], row[3*x+2] = r[x], g[x], b[x]
	}
}

// ink turns a row of C, M and Y, with inverted K beside it, into R, G and B.
func ink(row, light []uint8) {
	for x := range len(row) / 3 {
		p := row[3*x : 3*x+3]
		for i, v := range p {
			p[i] = underBlack(v, light[x])
		}
	}
}
