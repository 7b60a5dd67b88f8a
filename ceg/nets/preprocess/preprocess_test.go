package preprocess

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// A preprocessor_config.json says what Hugging Face's image processors do by it.
func TestRead(t *testing.T) {
	const half = `"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]`
	halved := func(short int, f rgb.Filter) datasets.Reading {
		return datasets.Reading{Short: short, Filter: f, Mean: halves, Std: halves}
	}
	unit := datasets.Reading{Filter: rgb.Bilinear, Std: [3]float64{1, 1, 1}}
	turned := unit
	turned.BGR = true
	for text, want := range map[string]struct {
		size int
		r    datasets.Reading
		err  string
	}{
		`{"size": {"shortest_edge": 256}, "crop_size": {"height": 224, "width": 224}, "resample": 3, ` + half + `}`:                          {224, halved(256, rgb.Bicubic), ""},
		`{"size": {"height": 224, "width": 224}, "resample": 2, ` + half + `}`:                                                               {224, halved(0, rgb.Bilinear), ""},
		`{"size": 224, "crop_size": 224, "do_center_crop": true, "resample": 3, ` + half + `}`:                                               {224, halved(224, rgb.Bicubic), ""},
		`{"size": 224, "resample": 1, ` + half + `}`:                                                                                         {224, halved(0, rgb.Lanczos), ""},
		`{"image_processor_type": "ConvNextImageProcessor", "size": {"shortest_edge": 224}, "crop_pct": 0.875, "resample": 3, ` + half + `}`: {224, halved(256, rgb.Bicubic), ""},
		`{"size": 256, "do_normalize": false, "do_flip_channel_order": true}`:                                                                {256, turned, ""},
		`{"size": 256, "do_normalize": false, "rescale_factor": 0.00392156862745098}`:                                                        {256, unit, ""},
		`{"size": {"shortest_edge": 224}, ` + half + `}`:                                                                                     {0, unit, "not be square"},
		`{"size": {"height": 224, "width": 192}, ` + half + `}`:                                                                              {0, unit, "only squares"},
		`{"size": 224, "resample": 0, ` + half + `}`:                                                                                         {0, unit, "resample 0 is not supported"},
		`{"size": 224, "image_mean": [0.5]}`:                                                                                                 {0, unit, "three numbers"},
		`{"size": 1000000000, ` + half + `}`:                                                                                                 {0, unit, "at most 4096"},
		`{"size": {"shortest_edge": 1000000000}, "crop_size": 224, ` + half + `}`:                                                            {0, unit, "at most 4096"},
		`{"image_processor_type": "ConvNextImageProcessor", "size": {"shortest_edge": 224}, "crop_pct": 1e-9, ` + half + `}`:                 {0, unit, "at most 4096"},
		`{"do_resize": false}`: {0, unit, "which size"},
		`{"size": "large"}`:    {0, unit, "cannot unmarshal"},
	} {
		dir := filepath.Join(t.TempDir(), "onnx")
		fatal.If(t, os.Mkdir(dir, 0o777))
		file := filepath.Join(filepath.Dir(dir), File)
		fatal.If(t, os.WriteFile(file, []byte(text), 0o666))
		path, size, r, err := Read(filepath.Join(dir, "model.onnx"))
		if want.err != "" {
			if err == nil || !strings.Contains(err.Error(), want.err) || !strings.Contains(err.Error(), file) {
				t.Errorf("%s: %v, want %s", text, err, want.err)
			}
			continue
		}
		if err != nil || path != file || size != want.size || fmt.Sprintf("%.6f", r.Mean) != fmt.Sprintf("%.6f", want.r.Mean) || fmt.Sprintf("%.6f", r.Std) != fmt.Sprintf("%.6f", want.r.Std) || r.Short != want.r.Short || r.Filter != want.r.Filter || r.BGR != want.r.BGR {
			t.Errorf("%s: %s %d %+v %v, want %d %+v", text, path, size, r, err, want.size, want.r)
		}
	}
}

// An open_clip_config.json says what open_clip's transform does by it.
func TestReadOpenCLIP(t *testing.T) {
	for text, want := range map[string]struct {
		size, short int
		err         string
	}{
		`{"model_cfg": {"vision_cfg": {"image_size": 240}}}`:                                                 {240, 240, ""},
		`{"model_cfg": {"vision_cfg": {"image_size": 224}}, "preprocess_cfg": {"resize_mode": "squash"}}`:    {224, 0, ""},
		`{"model_cfg": {"vision_cfg": {"image_size": 224}}, "preprocess_cfg": {"interpolation": "bicubic"}}`: {224, 224, ""},
		`{"model_cfg": {"vision_cfg": {"image_size": 224}}, "preprocess_cfg": {"interpolation": "random"}}`:  {0, 0, "bicubic or bilinear"},
		`{"model_cfg": {"vision_cfg": {"image_size": 224}}, "preprocess_cfg": {"resize_mode": "longest"}}`:   {0, 0, "shortest or squash"},
		`{"model_cfg": {"vision_cfg": {"image_size": 224}}, "preprocess_cfg": {"mean": [1]}}`:                {0, 0, "three numbers"},
		`{"preprocess_cfg": {"mean": [0, 0, 0]}}`:                                                            {0, 0, "want a size"},
	} {
		dir := t.TempDir()
		fatal.If(t, os.WriteFile(filepath.Join(dir, OpenCLIPFile), []byte(text), 0o666))
		_, size, r, err := Read(filepath.Join(dir, "visual", "model.onnx"))
		if want.err != "" {
			fatal.Says(t, err, want.err)
		} else if err != nil || size != want.size || r.Short != want.short || r.Filter != rgb.Bicubic || fmt.Sprintf("%.6f %.6f", r.Mean, r.Std) != fmt.Sprintf("%.6f %.6f", clipMean, clipStd) {
			t.Errorf("%s: %d %+v %v", text, size, r, err)
		}
	}
}
