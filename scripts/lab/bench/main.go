// Command bench times training steps: `go run -C scripts/lab ./bench --net resnet18 --size 64`.
// scripts/bench.sh compares engines and PyTorch with it.
package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/scripts/internal/cli"
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
	)
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Time one training iteration, with its images in memory",
		Long: `Print as JSON how long a training iteration of the published code takes: pseudo-labels, cross-entropy,
consistency on labelled and unlabelled images, MixUp within and across domains, the
step of backbone and heads. Views are random and already in the device's memory, so
nothing but computing is timed. Features are averaged over the last maps.

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
			backbone, err := nets.New(c.Network, 0)
			if err != nil {
				return cli.Usagef("%w", err)
			}
			o := model.LearnerOptions(backbone, c, classes, domains)
			if err := o.Validate(); err != nil {
				return cli.Usagef("%w", err)
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
			r, err := timeSteps(cmd.Context(), b, o, warmup, steps)
			if err != nil {
				return err
			}
			r.Net, r.Width, r.PerDomain = n.Name, n.Width, perDomain
			r.Version, r.Machine = engineVersion(b.Settings), engine.Machine()
			return json.NewEncoder(cmd.OutOrStdout()).Encode(r)
		},
	}
	f := cmd.Flags()
	f.StringVar(&n.Name, "net", "smallcnn", "network: "+strings.Join(config.NetworkNames(false), ", "))
	f.IntVar(&n.Width, "width", 0, "channels of the network's first layer (default: as published, 64, and 32 for efficientnet-lite)")
	f.IntVar(&size, "size", 32, "side of the images in pixels")
	f.IntVar(&classes, "classes", 7, "number of classes")
	f.IntVar(&domains, "domains", 3, "number of source domains")
	f.IntVar(&perDomain, "per-domain", 16, "images of each domain in a batch of one subset")
	f.IntVar(&steps, "steps", 5, "steps to time")
	f.IntVar(&warmup, "warmup", 2, "steps before that")
	f.StringVar(&backend, "backend", "", "what computes; see ledg backend --help (default: auto)")
	f.TextVar(&n.Precision, "precision", config.TF32, "numbers that the network computes in: tf32, float32, or bfloat16 (XLA only)")
	cmd.AddCommand(newFeaturesCommand())
	return cmd
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
