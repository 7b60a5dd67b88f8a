package predict_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/ledg-go/ledg/ceg/rundir/artifact"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// What a run has kept gives the calibration and the neighbours that its images give.
func TestSavedLogitsEqualThoseOfImages(t *testing.T) {
	dir := copied(t)
	look := func() (*calibration.Calibration, string, float32) {
		t.Helper()
		p := open(t, dir)
		c := fatal.Get(p.Calibrate(t.Context()))(t)
		list := fatal.Get(p.Images(noise(1, 20, 20)))(t)
		return c, list[0].Nearest, list[0].Distance
	}
	c, nearest, distance := look()
	if k := open(t, dir).Model.Artifact; k == nil || len(k.Measured) != c.Source.Source.Before.Images+c.Source.Target.Before.Images {
		t.Fatalf("kept is %+v", k)
	}
	fatal.If(t, os.Remove(filepath.Join(dir, artifact.File)))
	d, near, far := look()
	if near != nearest || math.Abs(float64(far-distance)) > 1e-5 {
		t.Errorf("nearest is %s at %v with what is kept, %s at %v with the images", nearest, distance, near, far)
	}
	if math.Abs(c.Source.Temperature-d.Source.Temperature) > 1e-4 || c.Source.Target.After.Images != d.Source.Target.After.Images ||
		math.Abs(c.Source.Target.After.NLL-d.Source.Target.After.NLL) > 1e-4 {
		t.Errorf("with what is kept\n%+v, with the images\n%+v", c.Source, d.Source)
	}
}
