// Command bench times training steps: `go run -C scripts/lab ./bench --net resnet18 --size 64`.
// scripts/bench.sh compares engines and PyTorch with it, and its table and figure show
// what was measured.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/scripts/internal/cli"
	"github.com/ledg-go/ledg/scripts/lab/bench/internal/bench"
)

func main() { cli.Main(newCommand()) }

// newCommand returns the command that times training steps.
func newCommand() *cobra.Command {
	var (
		n                      config.Network
		size, classes, domains int
		perDomain              int
		steps, warmup          int
		backend                string
		asJSON                 bool
		profile                string
		data                   bool
		dataset, root, cache   string
		source                 datasets.Options
	)
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Time one training iteration, with its images in memory or from the loader",
		Long: `Time one training iteration of the published code: pseudo-labels, cross-entropy,
consistency on labelled and unlabelled images, MixUp within and across domains, the
step of backbone and heads. Views are random and already in the device's memory, so
nothing but computing is timed. Features are averaged over the last maps.

With --data, steps that read a data set take turns with those: images come from the
cache, are augmented and copied to the device while the steps before compute. Both
times are printed, their ratio, and how long a step waited for its images.

The published code sends 384 images through the network in a step (3 domains, 16
images each): labelled and unlabelled for pseudo-labels, labelled for cross-entropy,
the strong views of both, MixUp within and across domains, and unlabelled again for
the domain head: 8 x 48. forwards_in_method is that number, forwards_per_step the
one computed: without BatchNorm (smallcnn) the first pass over labelled images would
repeat the third and is left out, 336.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			n.Pooling = config.MeanPool
			if !cmd.Flags().Changed("width") {
				known, _ := config.LookupNetwork(n.Name)
				n.Width = known.Width
			}
			c, err := config.Resolve(config.Spec{Dataset: "folder", Target: "target", Method: config.CEG, Preset: config.Authors})
			if err != nil {
				return err
			}
			n.DomainHidden = c.Network.DomainHidden
			c.Network, c.Data.ImageSize, c.Schedule.PerDomain = n, size, perDomain
			o, err := model.LearnerOptions(c, classes, domains, 0)
			if err != nil {
				return cli.Usagef("%w", err)
			}
			if err := o.Validate(); err != nil {
				return cli.Usagef("%w", err)
			}
			if !data {
				for _, name := range []string{"dataset", "root", "splits", "split-seed", "cache"} {
					if cmd.Flags().Changed(name) {
						return cli.Usagef("--%s is for --data", name)
					}
				}
			} else if cmd.Flags().Changed("classes") || cmd.Flags().Changed("domains") {
				return cli.Usagef("--classes and --domains are the data set's with --data")
			}
			if steps < 1 || warmup < 1 {
				return cli.Usagef("--steps %d, --warmup %d: want at least 1 each", steps, warmup)
			}
			b, err := learner.Open(n.Precision, backend, model.Work(n))
			if err != nil {
				return cli.BackendError(err)
			}
			defer b.Close()
			fmt.Fprintln(cmd.ErrOrStderr(), b.Description)
			if b.Notice != "" {
				fmt.Fprintln(cmd.ErrOrStderr(), b.Notice)
			}
			if profile != "" {
				f, err := os.Create(profile)
				if err != nil {
					return err
				}
				defer f.Close()
				if err := pprof.StartCPUProfile(f); err != nil {
					return err
				}
				defer pprof.StopCPUProfile()
			}
			var r bench.Report
			if data {
				var d *datasets.Dataset
				if d, _, err = datasets.Open(dataset, root, source); err != nil {
					return cli.Usagef("--dataset %s, --root %q: %w", dataset, root, err)
				}
				r, err = bench.Through(cmd.Context(), d, cache, o, b, warmup, steps)
			} else {
				r, err = benchMemory(cmd.Context(), b, o, warmup, steps)
			}
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(benchLine{r, n.Name, n.Width, perDomain, engineVersion(b.Settings), engine.Machine()})
			}
			printBench(cmd.OutOrStdout(), r)
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&n.Name, "net", "smallcnn", "network: "+strings.Join(config.NetworkNames(false), ", "))
	f.IntVar(&n.Width, "width", 0, "channels of the network's first layer (default: as published, 64, and 32 for efficientnet-lite)")
	f.IntVar(&size, "size", 32, "side of the images in pixels")
	f.IntVar(&classes, "classes", 7, "number of classes")
	f.IntVar(&domains, "domains", 3, "number of source domains")
	f.IntVar(&perDomain, "per-domain", 16, "images of each domain in a batch of one subset")
	f.IntVar(&steps, "steps", 5, "steps to time; with --data, in each of three blocks")
	f.IntVar(&warmup, "warmup", 2, "steps before that")
	f.StringVar(&backend, "backend", "", "what computes; see ledg backend --help (default: auto)")
	f.TextVar(&n.Precision, "precision", config.TF32, "numbers that the network computes in: tf32, float32, or bfloat16 (XLA only)")
	f.BoolVar(&data, "data", false, "also time steps on images of a data set, through the loader")
	f.StringVar(&dataset, "dataset", datasets.Drawn, "data set; its last domain is the target: "+strings.Join(datasets.Names(), ", "))
	f.StringVar(&root, "root", "", "folder of the data set's images")
	f.StringVar(&source.SplitsDir, "splits", "", "folder of the PACS lists, if they are not in or beside --root")
	f.Uint64Var(&source.Seed, "split-seed", 0, "seed of the train/val split where none is official")
	f.StringVar(&cache, "cache", "", "folder of decoded images (default: the user's cache folder)")
	f.StringVar(&profile, "cpuprofile", "", "write a CPU profile for go tool pprof to this file")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.AddCommand(newFeaturesCommand(), newTableCommand(), newFigureCommand())
	return cmd
}

// benchLine is what bench prints as JSON: the report, and what else tells one
// measurement from another.
type benchLine struct {
	bench.Report
	Net       string `json:"net"`
	Width     int    `json:"width"`
	PerDomain int    `json:"per_domain"`
	Version   string `json:"version"` // of the engine
	Machine   string `json:"machine"`
}

// benchMemory times steps on images in memory.
func benchMemory(ctx context.Context, b engine.Backend, o learner.Options, warmup, steps int) (bench.Report, error) {
	m, err := bench.NewMemory(ctx, b, o, warmup)
	if err != nil {
		return bench.Report{}, err
	}
	defer m.Close()
	if err := m.Run(ctx, steps); err != nil {
		return bench.Report{}, err
	}
	return m.Report()
}

func printBench(w io.Writer, r bench.Report) {
	tf32 := ""
	if r.Precision == config.TF32 && !r.TF32 {
		tf32 = " (float32 here)"
	}
	fmt.Fprintf(w, "%s, %d px, backend %s, %s%s, %d threads: %.4f s a step (median of %d), %.2f steps/s, %.0f images/s; %d forwards a step, %d in the method; compiled in %.2f s; peak memory %.0f MB\n",
		r.Net, r.Size, r.Backend, r.Precision, tf32, r.Threads, r.StepSecondsMedian, r.Steps, r.StepsPerSecond, r.ImagesPerSecond,
		r.ForwardsPerStep, r.ForwardsInMethod, r.CompileSeconds, float64(r.PeakMemoryBytes)/1e6)
	if d := r.Data; d != nil {
		fmt.Fprintf(w, "from %s through the loader (%d views a step): %.4f s a step, %.4f s in memory (means of %d each, in turn), ratio %.3f; waited %.4f s a step for images\n",
			d.Dataset, d.Views, d.StepSecondsMean, d.MemorySecondsMean, d.Steps, d.Ratio, d.WaitSecondsMean)
	}
}

// engineVersion names the version of the backend.
func engineVersion(s engine.Settings) string {
	if s.PluginAPI != "" {
		return "PJRT " + s.PluginAPI
	}
	for _, v := range cli.Versions() {
		if v.Name == "compute" {
			return "compute " + v.Version
		}
	}
	return ""
}
