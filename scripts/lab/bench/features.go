package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/nets/preprocess"
	"github.com/ledg-go/ledg/ceg/nets/weights/pretrained"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// featuresLine is what bench features prints as JSON, with the names of Report.
type featuresLine struct {
	Net      string `json:"net"`
	Features bool   `json:"features"`
	Size     int    `json:"size"`
	Backend  string `json:"backend"`
	Machine  string `json:"machine"`
	Threads  int    `json:"threads"`
	Images   int64  `json:"images"`
	// Seconds are the time of one image.
	Seconds         float64 `json:"step_seconds_median"`
	PeakMemoryBytes int64   `json:"peak_memory_bytes"`
}

func newFeaturesCommand() *cobra.Command {
	var (
		net, backend, output string
		size                 int
		seconds              float64
	)
	cmd := &cobra.Command{
		Use:   "features --net NETWORK",
		Short: "Time the features of images, as ledg embed computes them",
		Long: `Print as JSON how long the features of an image take: as many batches at a time as ledg embed computes, of random
pixels that are in memory, so that nothing is read or scaled. --net is a network, whose
weights are random, or a file .onnx.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if net == "" {
				return cli.Usagef("--net NETWORK is missing")
			}
			if !(seconds > 0) {
				return cli.Usagef("--seconds %v: want more than 0", seconds)
			}
			known, _ := config.LookupNetwork(net)
			o := datasets.Origin{Network: net, Width: known.Width, Pooling: string(config.MeanPool), Size: size, Weights: pretrained.None}
			if filepath.Ext(net) == ".onnx" {
				_, r := preprocess.Presets[0].At(size)
				r.Output = output
				o = datasets.Origin{Weights: net, Size: size, ONNX: &r}
			}
			front, err := model.OpenFront(cmd.Context(), o, pretrained.Options{})
			if err != nil {
				return cli.Usagef("--net %s: %w", net, err)
			}
			x, err := front.Extractor(cmd.Context(), backend)
			if err != nil {
				return cli.BackendError(err)
			}
			defer x.Close()
			fmt.Fprintln(cmd.ErrOrStderr(), x.Description)
			images, each, err := timeFeatures(x, time.Duration(seconds*float64(time.Second)))
			if err != nil {
				return err
			}
			l := featuresLine{filepath.Base(net), true, x.Size, backend, engine.Machine(), runtime.GOMAXPROCS(0), images, each.Seconds(), engine.PeakMemory()}
			return json.NewEncoder(cmd.OutOrStdout()).Encode(l)
		},
	}
	f := cmd.Flags()
	f.StringVar(&net, "net", "", "network, or a file .onnx (required)")
	f.StringVar(&output, "output", "", "of an ONNX file: the output that is taken")
	f.IntVar(&size, "size", 224, "side of the images in pixels")
	f.Float64Var(&seconds, "seconds", 10, "seconds to compute for, after a batch that is not counted")
	f.StringVar(&backend, "backend", "", "what computes; see ledg backend --help (default: auto)")
	return cmd
}

// timeFeatures computes random images for some time, and returns how many and how long each took.
func timeFeatures(x *model.Extractor, some time.Duration) (images int64, each time.Duration, err error) {
	batch := make([]byte, x.Batch*3*x.Size*x.Size)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range batch {
		batch[i] = byte(r.Uint32())
	}
	// all computes batches on every goroutine until the time is over, one at least.
	all := func(until time.Time) (int64, error) {
		var done atomic.Int64
		var wg sync.WaitGroup
		errs := make([]error, runtime.GOMAXPROCS(0))
		for i := range errs {
			wg.Go(func() {
				work, dst := x.Worker(), make([]float32, x.Batch*x.FeatureDim())
				for first := true; first || time.Now().Before(until); first = false {
					if errs[i] = work(dst, batch); errs[i] != nil {
						return
					}
					done.Add(int64(x.Batch))
				}
			})
		}
		wg.Wait()
		for _, err := range errs {
			if err != nil {
				return 0, err
			}
		}
		return done.Load(), nil
	}
	if _, err := all(time.Now()); err != nil {
		return 0, 0, err
	}
	start := time.Now()
	n, err := all(start.Add(some))
	if err != nil {
		return 0, 0, err
	}
	return n, time.Since(start) / time.Duration(n), nil
}
