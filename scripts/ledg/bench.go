package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime/pprof"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/nets"
)

// newBenchCommand returns the command that times training steps.
func newBenchCommand() *cobra.Command {
	var (
		n                      ceg.Network
		size, classes, domains int
		perDomain              int
		steps, warmup          int
		backend                string
		asJSON                 bool
		profile                string
	)
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Time one training iteration with its images already in memory",
		Long: `Time one training iteration of the published code: pseudo-labels, cross-entropy,
consistency on labelled and unlabelled images, MixUp within and across domains, the
step of backbone and heads. Views are random and already in memory, so nothing but
computing is timed. Features are averaged over the last maps.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			n.Pooling = nets.MeanPool
			c, err := ceg.NewConfig("folder", "target", "ceg", ceg.Authors)
			if err != nil {
				return err
			}
			n.DomainHidden = c.Network.DomainHidden
			c.Network, c.Data.ImageSize, c.Schedule.PerDomain = n, size, perDomain
			o, err := c.LearnerOptions(classes, domains)
			if err != nil {
				return usagef("%w", err)
			}
			if err := o.Validate(); err != nil {
				return usagef("%w", err)
			}
			if steps < 1 || warmup < 1 {
				return usagef("--steps %d, --warmup %d: want at least 1 each", steps, warmup)
			}
			b, err := n.Precision.Open(backend)
			if err != nil {
				return backendError(err)
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
			r, err := learner.Benchmark(b, o, warmup, steps)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(r)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s, %d px, backend %s, %d threads: %.4f s a step (median of %d), %.2f steps/s, %.0f images/s; compiled in %.2f s; peak memory %.0f MB\n",
				r.Net, r.Size, r.Backend, r.Threads, r.StepSecondsMedian, steps, r.StepsPerSecond, r.ImagesPerSecond, r.CompileSeconds, float64(r.PeakMemoryBytes)/1e6)
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&n.Name, "net", "smallcnn", "network: smallcnn, resnet18, resnet34, resnet50")
	f.IntVar(&n.Width, "width", 64, "channels of smallcnn, of the first stage of a resnet")
	f.IntVar(&size, "size", 32, "side of the images in pixels")
	f.IntVar(&classes, "classes", 7, "number of classes")
	f.IntVar(&domains, "domains", 3, "number of source domains")
	f.IntVar(&perDomain, "per-domain", 16, "images of each domain in a batch of one pool")
	f.IntVar(&steps, "steps", 5, "steps to time")
	f.IntVar(&warmup, "warmup", 2, "steps before that")
	f.StringVar(&backend, "backend", "", "what computes; see ledg backend --help (default: auto)")
	precisionFlag(cmd, &n.Precision)
	f.StringVar(&profile, "cpuprofile", "", "write a CPU profile for go tool pprof to this file")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
