package augment

import (
	"math/rand/v2"
	"testing"

	"github.com/ledg-go/ledg/datasets/rgb"
)

// with is an operation with an explicit magnitude.
func with(op func(dst, src *rgb.Image, v float64)) func(src *rgb.Image, v ...float64) *rgb.Image {
	return func(src *rgb.Image, v ...float64) *rgb.Image {
		return Op{run: op}.Apply(src, append(v, 0)[0])
	}
}

// The operations by their names.
var (
	AutoContrast = with(autoContrast)
	Brightness   = with(brightness)
	Color        = with(colour)
	Contrast     = with(contrast)
	Equalize     = with(equalize)
	Hue          = with(hue)
	Identity     = with(identity)
	Posterize    = with(posterize)
	Rotate       = with(rotate)
	Sharpness    = with(sharpness)
	ShearX       = with(shearX)
	ShearY       = with(shearY)
	Solarize     = with(solarize)
	TranslateX   = with(translateX)
	TranslateY   = with(translateY)
)

// HFlip returns src mirrored left to right.
func HFlip(src *rgb.Image) *rgb.Image {
	dst := rgb.New(src.Width, src.Height)
	hflip(dst, src)
	return dst
}

// Cutout returns src with a black square.
func Cutout(src *rgb.Image, cx, cy, length int) *rgb.Image {
	dst := src.Clone()
	cutout(dst, cx, cy, length)
	return dst
}

// RandAugment returns src after n operations of the policy.
func RandAugment(src *rgb.Image, n int, r *rand.Rand) *rgb.Image {
	dst := rgb.New(src.Width, src.Height)
	new(Maker).randAugment(dst, src, n, r)
	return dst
}

// Crop returns the w by h pixels of src whose top left corner is (x0, y0).
func Crop(src *rgb.Image, x0, y0, w, h int) *rgb.Image {
	dst := rgb.New(w, h)
	for y := range h {
		from := 3 * ((y0+y)*src.Width + x0)
		copy(dst.Pix[3*y*w:], src.Pix[from:from+3*w])
	}
	return dst
}

// grey returns a one-row image with r = g = b = each value.
func grey(values ...uint8) *rgb.Image {
	m := rgb.New(len(values), 1)
	for x, v := range values {
		m.Set(x, 0, v, v, v)
	}
	return m
}

// TestOpsByHand covers what the golden images do not: ends of ranges, constant
// channels, extrapolation and whole-pixel moves.
func TestOpsByHand(t *testing.T) {
	sixteen := func(v uint8) *rgb.Image {
		m := rgb.New(32, 32)
		for i := range m.Pix {
			m.Pix[i] = v
		}
		return m
	}
	square := gradient(4, 4)
	turned := rgb.New(4, 4) // a quarter turn counter-clockwise
	for y := range 4 {
		for x := range 4 {
			r, g, b := square.At(3-y, x)
			turned.Set(x, y, r, g, b)
		}
	}
	for _, c := range []struct {
		name      string
		got, want *rgb.Image
	}{
		{"AutoContrast", AutoContrast(grey(10, 20, 30)), grey(0, 127, 255)},
		{"AutoContrast constant", AutoContrast(grey(10, 10)), grey(10, 10)},
		{"AutoContrast full range", AutoContrast(grey(0, 7, 255)), grey(0, 7, 255)},
		{"Equalize constant", Equalize(sixteen(9)), sixteen(9)},
		{"Equalize few pixels", Equalize(grey(1, 2, 3)), grey(1, 2, 3)},
		{"Brightness 0", Brightness(grey(10, 200), 0), grey(0, 0)},
		{"Brightness 1", Brightness(grey(10, 200), 1), grey(10, 200)},
		{"Brightness truncates", Brightness(grey(3, 5), 0.5), grey(1, 2)},
		{"Brightness 2 clips", Brightness(grey(10, 200), 2), grey(20, 255)},
		{"Brightness -1 clips", Brightness(grey(10, 200), -1), grey(0, 0)},
		{"Contrast 0", Contrast(grey(10, 21), 0), grey(16, 16)},
		{"Contrast 2 clips", Contrast(grey(10, 210), 2), grey(0, 255)},
		{"Color 0 of grey", Color(grey(10, 200), 0), grey(10, 200)},
		{"Sharpness of two rows", Sharpness(gradient(9, 2), 0), gradient(9, 2)},
		{"Posterize 8", Posterize(grey(0xff, 0x13), 8), grey(0xff, 0x13)},
		{"Posterize 4", Posterize(grey(0xff, 0x13), 4), grey(0xf0, 0x10)},
		{"Posterize 0", Posterize(grey(0xff, 0x13), 0), grey(0, 0)},
		{"Solarize 0", Solarize(grey(0, 200), 0), grey(255, 55)},
		{"Solarize 200", Solarize(grey(199, 200), 200), grey(199, 55)},
		{"Solarize 199.5", Solarize(grey(199, 200), 199.5), grey(199, 55)},
		{"Solarize 256", Solarize(grey(0, 255), 256), grey(0, 255)},
		{"TranslateX right", TranslateX(grey(1, 2, 3, 4), -0.25), grey(0, 1, 2, 3)},
		{"TranslateX left", TranslateX(grey(1, 2, 3, 4), 0.5), grey(3, 4, 0, 0)},
		{"TranslateX half a pixel", TranslateX(grey(1, 2, 3, 4), 0.125), grey(2, 3, 4, 0)},
		{"TranslateX less than half", TranslateX(grey(1, 2, 3, 4), 0.12), grey(1, 2, 3, 4)},
		{"TranslateX away", TranslateX(grey(1, 2, 3, 4), 1e300), grey(0, 0, 0, 0)},
		{"TranslateY away", TranslateY(grey(1, 2, 3, 4), -1), grey(0, 0, 0, 0)},
		{"ShearX 0", ShearX(gradient(5, 4), 0), gradient(5, 4)},
		{"ShearY 0.9", ShearY(grey(1, 2, 3), 0.9), grey(1, 0, 0)},
		{"Rotate 0", Rotate(square, 0), square},
		{"Rotate 360", Rotate(square, 360), square},
		{"Rotate 90", Rotate(square, 90), turned},
		{"Rotate -270", Rotate(square, -270), turned},
		{"Rotate 180", Rotate(square, 180), Rotate(turned, 90)},
		{"Cutout nothing", Cutout(square, 2, 2, 1), square},
		{"Cutout outside", Cutout(square, 50, 2, 4), square},
		{"Cutout all", Cutout(square, 2, 2, 100), rgb.New(4, 4)},
		{"Crop", Crop(grey(1, 2, 3, 4), 1, 0, 2, 1), grey(2, 3)},
		{"Identity", Identity(square), square},
	} {
		t.Run(c.name, func(t *testing.T) { same(t, c.got, c.want) })
	}
}

func TestViewOfAnotherSizePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	new(Maker).Weak(rgb.New(1, 1), grey(1, 2), nil)
}
