package predict

import (
	"testing"

	"github.com/ledg-go/ledg/datasets/detections"
)

// A photo of a person is not blank.
func TestUnboxed(t *testing.T) {
	m := &detections.Image{Boxes: []detections.Box{{Class: "animal", Score: 0.9}, {Class: "vehicle", Score: 0.3}, {Class: "person", Score: 0.5}}}
	for score, want := range map[float64]string{0.2: "person", 0.4: "person", 0.6: Blank} {
		if got := unboxed(m, score); got != want {
			t.Errorf("at %v: %s, want %s", score, got, want)
		}
	}
}
