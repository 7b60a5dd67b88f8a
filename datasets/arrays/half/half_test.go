package half

import (
	"math"
	"testing"
)

// Every number comes back, and what lies between two goes to the nearer one, or the
// even one.
func TestBits(t *testing.T) {
	for b := range 1 << 16 {
		bits := uint16(b)
		v := Float32(bits)
		if v != v {
			if w := Float32(Bits(v)); w == w {
				t.Fatalf("NaN %#04x became %v", bits, w)
			}
			continue
		}
		if got := Bits(v); got != bits {
			t.Fatalf("%#04x is %v, which is %#04x", bits, v, got)
		}
		next := Float32(bits + 1)
		if math.IsInf(float64(v), 0) || next != next || bits == 0x7fff || bits == 0x8000-1 || math.IsInf(float64(next), 0) {
			continue
		}
		middle := (float64(v) + float64(next)) / 2
		even := bits + bits&1
		if got := Bits(float32(middle)); got != even {
			t.Fatalf("half way from %#04x: got %#04x, want %#04x", bits, got, even)
		}
		if got := Bits(math.Nextafter32(float32(middle), v)); got != bits {
			t.Fatalf("nearer to %#04x: got %#04x", bits, got)
		}
		if got := Bits(math.Nextafter32(float32(middle), next)); got != bits+1 {
			t.Fatalf("nearer to %#04x: got %#04x", bits+1, got)
		}
	}
	for v, want := range map[float32]uint16{65519: 0x7bff, 65520: 0x7c00, -1e30: 0xfc00, 1: 0x3c00, -2: 0xc000, 0.1: 0x2e66} {
		if got := Bits(v); got != want {
			t.Errorf("%v: got %#04x, want %#04x", v, got, want)
		}
	}
}
