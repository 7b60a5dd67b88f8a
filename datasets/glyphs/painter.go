package glyphs

import (
	"math/rand/v2"

	"github.com/ledg-go/ledg/datasets/rgb"
)

// colour is red, green and blue. While painting, values may leave 0..255;
// (*painter).image clips them.
type colour [3]int

// painter draws one image: a canvas and the stream of its random choices. It
// computes in integers only, so that no compiler can round differently.
type painter struct {
	canvas []colour
	random *rand.Rand
}

func newPainter(random *rand.Rand) *painter {
	return &painter{canvas: make([]colour, Size*Size), random: random}
}

// image returns the canvas, clipped to 8 bits.
func (p *painter) image() *rgb.Image {
	m := rgb.New(Size, Size)
	for i, c := range p.canvas {
		for k, v := range c {
			m.Pix[3*i+k] = uint8(clamp(v, 0, 255))
		}
	}
	return m
}

// below returns a number in [0, n). Unlike rand.IntN it draws the same on
// 32-bit and 64-bit machines; its bias, n/2^32, is of no account here.
func (p *painter) below(n int) int {
	return int(uint64(p.random.Uint32()) * uint64(n) >> 32)
}

// between returns a number in [lo, hi].
func (p *painter) between(lo, hi int) int { return lo + p.below(hi-lo+1) }

// chance is true with probability w/256.
func (p *painter) chance(w int) bool { return p.below(one) < w }

// mix returns a where w is 0 and b where w is one.
func mix(a, b colour, w int) colour {
	for k := range a {
		a[k] += (b[k] - a[k]) * w / one
	}
	return a
}

// scale returns c with its channels multiplied by w/256.
func (c colour) scale(w int) colour { return colour{c[0] * w / one, c[1] * w / one, c[2] * w / one} }

// add returns c with v added to each channel.
func (c colour) add(v int) colour { return colour{c[0] + v, c[1] + v, c[2] + v} }

// luma is the perceived brightness (ITU-R 601), 0 to 255.
func (c colour) luma() int { return (77*c[0] + 150*c[1] + 29*c[2]) >> 8 }

// distance is the largest difference of a channel.
func (c colour) distance(o colour) int {
	return max(abs(c[0]-o[0]), abs(c[1]-o[1]), abs(c[2]-o[2]))
}

// hues is the number of steps around the colour circle.
const hues = 6 * 256

// hsv returns the colour of a hue in [0, hues), a saturation and a value in
// [0, 255].
func hsv(hue, saturation, value int) colour {
	t := hue % 256
	low := value * (255 - saturation) / 255
	rise := low + (value-low)*t/256
	fall := value - (value-low)*t/256
	switch hue / 256 {
	case 0:
		return colour{value, rise, low}
	case 1:
		return colour{fall, value, low}
	case 2:
		return colour{low, value, rise}
	case 3:
		return colour{low, fall, value}
	case 4:
		return colour{rise, low, value}
	default:
		return colour{value, low, fall}
	}
}

// fill paints every pixel in one colour.
func (p *painter) fill(c colour) {
	for i := range p.canvas {
		p.canvas[i] = c
	}
}

// each calls fn for every pixel, by index and by the position of its centre in
// units.
func (p *painter) each(fn func(i int, at point)) {
	for y := range Size {
		for x := range Size {
			fn(y*Size+x, point{x*unit + unit/2, y*unit + unit/2})
		}
	}
}

// disc blends in a disc of the given radius, its edge softened over ramp.
func (p *painter) disc(centre point, radius, ramp int, c colour, alpha int) {
	p.each(func(i int, at point) {
		d := root(at.x-centre.x, at.y-centre.y)
		p.canvas[i] = mix(p.canvas[i], c, clamp((radius-d+ramp/2)*one/ramp, 0, one)*alpha/one)
	})
}

// line blends in a straight line without ends, through a point at an angle.
func (p *painter) line(through point, degrees, width, ramp int, c colour, alpha int) {
	sin, cos := sine(degrees), sine(degrees+90)
	p.each(func(i int, at point) {
		d := abs((at.x-through.x)*sin-(at.y-through.y)*cos) / sineOne
		p.canvas[i] = mix(p.canvas[i], c, clamp((width/2-d+ramp/2)*one/ramp, 0, one)*alpha/one)
	})
}

// anywhere returns a random point of the image.
func (p *painter) anywhere() point { return point{p.below(side), p.below(side)} }

// noise adds approximately normal noise of standard deviation sigma (in 1/16
// grey levels), drawn for each channel apart or, if grey, once per pixel.
func (p *painter) noise(sigma int, grey bool) {
	for i := range p.canvas {
		common := p.normal(sigma)
		for k := range p.canvas[i] {
			if k > 0 && !grey {
				common = p.normal(sigma)
			}
			p.canvas[i][k] += common
		}
	}
}

// normal returns the sum of four uniform bytes, centred and scaled to a
// standard deviation of sigma/16; four bytes have one of 148 (147.8).
func (p *painter) normal(sigma int) int {
	u := p.random.Uint32()
	sum := int(u&255+u>>8&255+u>>16&255+u>>24) - 510
	return sum * sigma / (148 * 16)
}

// blur smooths with the kernel (w, 256-2w, w)/256 in both directions, times
// times.
func (p *painter) blur(w, times int) {
	row := make([]colour, Size)
	for range times {
		for y := range Size {
			p.blurLine(row, y*Size, 1, w)
		}
		for x := range Size {
			p.blurLine(row, x, Size, w)
		}
	}
}

func (p *painter) blurLine(row []colour, start, step, w int) {
	for i := range row {
		row[i] = p.canvas[start+i*step]
	}
	for i := range row {
		l, r := row[max(i-1, 0)], row[min(i+1, len(row)-1)]
		c := &p.canvas[start+i*step]
		for k := range c {
			c[k] = (l[k]*w + row[i][k]*(one-2*w) + r[k]*w + one/2) >> 8
		}
	}
}
