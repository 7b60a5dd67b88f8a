package augment

import (
	"slices"
	"testing"

	"github.com/ledg-go/ledg/datasets/rgb"
)

func TestMixUp(t *testing.T) {
	a, b := rgb.New(2, 1), rgb.New(2, 1)
	copy(a.Pix, []uint8{0, 100, 255, 10, 20, 30})
	copy(b.Pix, []uint8{255, 200, 255, 20, 21, 130})
	for _, tt := range []struct {
		lambda float64
		want   []uint8
	}{
		{1, a.Pix},
		{0, b.Pix},
		{0.75, []uint8{64, 125, 255, 13, 20, 55}}, // 63.75, 12.5, 20.25
	} {
		if got := MixUp(a, b, tt.lambda).Pix; !slices.Equal(got, tt.want) {
			t.Errorf("lambda %v: %v, want %v", tt.lambda, got, tt.want)
		}
	}
	for name, f := range map[string]func(){
		"lambda": func() { MixUp(a, b, 1.5) },
		"sizes":  func() { MixUp(a, rgb.New(1, 2), 0.5) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
