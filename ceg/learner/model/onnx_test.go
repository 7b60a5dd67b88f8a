package model

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/nets/onnx/imported"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

// Features do not depend on the other images of a batch, whatever the file computes.
func TestFeaturesDependOnOneImage(t *testing.T) {
	backends := []string{"go"}
	if os.Getenv(enginetest.RuntimeVariable) != "" {
		backends = append(backends, enginetest.Runtime(t))
	}
	for _, c := range []struct {
		file  string
		size  int
		alone bool
	}{
		{"testdata/mean.onnx", 8, true},
		{"testdata/mean4.onnx", 8, true},
		{"../../nets/onnx/imported/testdata/vit.onnx", 32, false},
		{"../../nets/onnx/imported/testdata/train/resnet.onnx", 32, false},
	} {
		for _, backend := range backends {
			n := fatal.Get(imported.Open(c.file, map[bool]string{true: "pooled"}[strings.HasSuffix(c.file, "vit.onnx")], ""))(t)
			x := fatal.Get(newImportedHere(backend, n, datasets.Origin{Size: c.size, ONNX: &datasets.Reading{Std: [3]float64{1, 1, 1}}}))(t)
			if said := strings.Contains(x.Description, "one photo at a time"); backend != "go" && (said != c.alone || c.alone != (x.Batch == 1)) || x.Batch != 1 && backend == "go" {
				t.Errorf("%s by %s: a batch of %d, %s", c.file, backend, x.Batch, x.Description)
			}
			images := make([]byte, 3*3*c.size*c.size)
			for i := range images {
				images[i] = byte(i * i >> 3)
			}
			features := func(images []byte) []float32 {
				v := make([]float32, len(images)/(3*c.size*c.size)*x.FeatureDim())
				fatal.If(t, x.Worker()(v, images))
				return v
			}
			if all, one := features(images), features(images[:len(images)/3]); !slices.Equal(all[:len(one)], one) {
				t.Errorf("%s by %s: features of an image are %v, and %v with others", c.file, backend, one, all[:len(one)])
			}
			x.Close()
		}
	}
}
