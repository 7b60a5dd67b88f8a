package plots

import (
	"image/color"
	"math"
)

func rgb(v uint32) color.RGBA {
	return color.RGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 0xFF}
}

func colors(vs ...uint32) []color.Color {
	out := make([]color.Color, len(vs))
	for i, v := range vs {
		out[i] = rgb(v)
	}
	return out
}

// viridis returns eleven colours of matplotlib's viridis (CC0).
func viridis() []color.Color {
	return colors(0x440154, 0x482475, 0x414487, 0x355F8D, 0x2A788E, 0x21918C,
		0x22A884, 0x44BF70, 0x7AD151, 0xBDDF26, 0xFDE725)
}

// shade returns the colour at v in [0, 1] between the ends of the scale.
func shade(scale []color.Color, v float64) color.Color {
	at := min(max(v, 0), 1) * float64(len(scale)-1)
	i := min(int(at), len(scale)-2)
	return mix(scale[i], scale[i+1], at-float64(i))
}

// Shade returns the colour of a heat map at v in [0, 1].
func (t Theme) Shade(v float64) color.Color { return shade(t.Sequential, v) }

// mix returns a at f = 0 and b at f = 1.
func mix(a, b color.Color, f float64) color.Color {
	ar, ag, ab, _ := a.RGBA()
	br, bg, bb, _ := b.RGBA()
	part := func(a, b uint32) uint8 {
		return uint8(math.Round(((1-f)*float64(a) + f*float64(b)) / 257))
	}
	return color.RGBA{R: part(ar, br), G: part(ag, bg), B: part(ab, bb), A: 0xFF}
}

func fade(c color.Color, opacity float64) color.Color {
	r, g, b, _ := c.RGBA()
	return color.NRGBA{R: uint8(r >> 8), G: uint8(g >> 8), B: uint8(b >> 8), A: uint8(math.Round(255 * opacity))}
}

// luminance is the relative luminance of sRGB (IEC 61966-2-1), from 0 to 1.
func luminance(c color.Color) float64 {
	linear := func(v uint32) float64 {
		f := float64(v) / 0xFFFF
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	r, g, b, _ := c.RGBA()
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

// contrast is the contrast ratio of WCAG 2, from 1 to 21.
func contrast(a, b color.Color) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// onTop returns black or white, whichever is easier to read on c.
func onTop(c color.Color) color.Color {
	if contrast(color.Black, c) >= contrast(color.White, c) {
		return color.Black
	}
	return color.White
}

// hues returns n hues of alternating lightness, to be seen on a background.
func hues(n int, background color.Color) []color.Color {
	out := make([]color.Color, n)
	base := 0.48
	if luminance(background) < 0.5 {
		base = 0.62
	}
	for i := range out {
		out[i] = hsl(360*float64(i)/float64(n), 0.65, base+0.1*float64(i%2*2-1))
	}
	return out
}

// hsl converts hue in degrees, saturation and lightness.
func hsl(h, s, l float64) color.Color {
	part := func(n float64) uint8 {
		k := math.Mod(n+h/30, 12)
		return uint8(math.Round(255 * (l - s*min(l, 1-l)*max(-1, min(k-3, 9-k, 1)))))
	}
	return color.RGBA{R: part(0), G: part(8), B: part(4), A: 0xFF}
}
