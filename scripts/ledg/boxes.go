package main

import (
	"math"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/ledg-go/ledg/datasets"
)

// boxFlags are the flags about the boxes in images.
type boxFlags struct{ datasets.Boxes }

func (f *boxFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.File, "boxes", "", "boxes as items: MegaDetector's JSON, SpeciesNet's, COCO, CVAT, or .csv")
	flags.Float64Var(&f.Score, "box-score", datasets.DefaultBoxScore, "least score of a box")
	flags.StringSliceVar(&f.Classes, "box-class", nil, "class of boxes that count; repeatable (default animal, or all)")
	flags.IntVar(&f.Most, "box-most", 0, "most boxes of an image, of the highest scores; 0 for all")
	flags.IntVar(&f.Side, "box-side", 0, "least longer side of a box in pixels; 0 for any")
	bound(flags, "[0, 1000000]", "box-most", "box-side")
}

// boxes returns the boxes that the flags name, with an absolute path; nil without --boxes.
func (f *boxFlags) boxes() (*datasets.Boxes, error) {
	if f.File == "" {
		if len(f.Classes) > 0 || f.Most+f.Side > 0 || f.Labels {
			return nil, usagef("--box-class, --box-most, --box-side, --box-labels: --boxes names no file of boxes")
		}
		return nil, nil
	}
	if math.IsNaN(f.Score) || f.Score < 0 || f.Score > 1 {
		return nil, usagef("--box-score %v: want 0 to 1", f.Score)
	}
	b := f.Boxes
	var err error
	b.File, err = filepath.Abs(f.File)
	return &b, err
}
