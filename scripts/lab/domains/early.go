package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"sync"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/weights/pretrained"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// earlyStages is the number of stages of EfficientNet-Lite0 whose output is the early layer: the
// stem and two stages of inverted residuals, 24 channels at a quarter of the image's side.
const earlyStages config.Freeze = "3"

// earlyStyles returns, for each image, the mean and the standard deviation of each channel of an
// early layer of EfficientNet-Lite0 with ImageNet weights at 224 pixels: the statistics that MixStyle
// mixes (Zhou et al., ICLR 2021).
func earlyStyles(ctx context.Context, data *datasets.Dataset) ([][]float64, error) {
	front, err := model.OpenFront(ctx, datasets.Origin{Network: "efficientnet-lite0", Width: nets.LiteWidth, Weights: pretrained.ImageNet, Size: 224},
		pretrained.Options{Say: func(line string) { fmt.Fprintln(os.Stderr, line) }})
	if err != nil {
		return nil, err
	}
	size := front.Origin.Size
	b, err := nets.Freeze(front.Backbone, earlyStages, size)
	if err != nil {
		return nil, err
	}
	part, err := nets.Part(b, size)
	if err != nil {
		return nil, err
	}
	on, err := engine.Open("go")
	if err != nil {
		return nil, err
	}
	defer on.Close()
	x, err := model.FrontExtractor(on, part, b.Pixels, size, front.Values)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	styles, errs := make([][]float64, data.Len()), make([]error, runtime.NumCPU())
	var group sync.WaitGroup
	for w := range errs {
		group.Go(func() {
			run, image, maps := x.Worker(), rgb.New(size, size), make([]float32, x.FeatureDim())
			for i := w; i < data.Len() && errs[w] == nil; i += len(errs) {
				m, err := data.Image(i)
				if err == nil {
					front.Origin.Fit().Into(image, m)
					err = run(maps, image.Pix)
				}
				if errs[w] = err; err == nil {
					styles[i] = channelStyle(maps, part.Maps[2])
				}
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return styles, nil
}

// channelStyle returns the means and then the standard deviations of the channels of maps
// [pixels, channels].
func channelStyle(maps []float32, channels int) []float64 {
	s := make([]float64, 2*channels)
	for p, v := range maps {
		s[p%channels] += float64(v)
		s[channels+p%channels] += float64(v) * float64(v)
	}
	n := float64(len(maps) / channels)
	for c := range channels {
		s[c] /= n
		s[channels+c] = math.Sqrt(max(s[channels+c]/n-s[c]*s[c], 0))
	}
	return s
}
