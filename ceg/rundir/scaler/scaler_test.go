package scaler_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/rundir/scaler"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

func TestNormalise(t *testing.T) {
	for n, want := range map[config.Normalisation][]float32{
		"":                      {-9, 0, 16},
		config.RootFeatures:     {-3, 0, 4},
		config.UnitFeatures:     {-9 / float32(math.Sqrt(337)), 0, 16 / float32(math.Sqrt(337))},
		config.RootUnitFeatures: {-0.6, 0, 0.8},
	} {
		x := []float32{-9, 0, 16}
		scaler.Normalise(n, x)
		for j, v := range x {
			if math.Abs(float64(v-want[j])) > 1e-6 {
				t.Errorf("%q: feature %d is %v, want %v", n, j, v, want[j])
			}
		}
		if scaler.Undo(n, x); math.Abs(float64(x[0]*16+x[2]*9)) > 1e-4 || !(x[0] < 0) || x[1] != 0 {
			t.Errorf("%q: the direction of [-9 0 16] comes back as %v", n, x)
		}
	}
	zero := []float32{0, 0}
	scaler.Normalise(config.UnitFeatures, zero)
	if !slices.Equal(zero, []float32{0, 0}) {
		t.Errorf("a vector of zeros becomes %v", zero)
	}
}

func TestApply(t *testing.T) {
	s := scaler.Scaler{Normal: config.RootFeatures, Mean: []float32{1, 2}, Scale: 0.5}
	x := []float32{9, 16}
	s.Apply(x)
	if want := []float32{1, 1}; !slices.Equal(x, want) {
		t.Errorf("got %v, want the root, less the mean, times the scale: %v", x, want)
	}
}

// write writes a scaler into a new folder.
func write(t *testing.T, s *scaler.Scaler) string {
	t.Helper()
	var b bytes.Buffer
	fatal.If(t, s.Write(&b))
	dir := t.TempDir()
	fatal.If(t, os.WriteFile(filepath.Join(dir, scaler.File), b.Bytes(), 0o666))
	return dir
}

func TestReadGivesWhatWriteWrote(t *testing.T) {
	for _, want := range []*scaler.Scaler{
		{Normal: config.RootUnitFeatures, Mean: []float32{0.1, -2, 1e-9}, Scale: 3.25, Origin: &datasets.Origin{Dataset: "glyphs", Network: "smallcnn"}},
		{Mean: []float32{7}, Scale: 1},
	} {
		got := fatal.Get(scaler.Read(write(t, want)))(t)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("read %+v, want %+v", got, want)
		}
	}
}

func TestReadWithoutFile(t *testing.T) {
	s, err := scaler.Read(t.TempDir())
	if err != nil {
		t.Error(err)
	}
	if s != nil {
		t.Errorf("a folder without a scaler has %+v", s)
	}
}

func TestReadRefusesDamage(t *testing.T) {
	dir := write(t, &scaler.Scaler{Mean: []float32{1, 2}, Scale: 1})
	path := filepath.Join(dir, scaler.File)
	whole := fatal.Get(os.ReadFile(path))(t)
	for _, data := range map[string][]byte{
		"half a file":        whole[:len(whole)/2],
		"no array of scales": bytes.Replace(whole, []byte(`"scale"`), []byte(`"scala"`), 1),
	} {
		fatal.If(t, os.WriteFile(path, data, 0o666))
		fatal.Says(t, fatal.Err(scaler.Read(dir)), scaler.File)
	}
}
