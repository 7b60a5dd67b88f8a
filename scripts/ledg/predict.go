package main

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/shell"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// newPredictCommand returns the command that says what is in images.
func newPredictCommand() *cobra.Command {
	var o ceg.Options
	var f predict.FilesOptions
	quiet := false
	cmd := &cobra.Command{
		Use:   "predict RUN --images {DIR | FILE}... --out FILE",
		Short: "Say what is in images, with the network that a run has trained",
		Long: `Say what is in images: a row for each, in the order of their paths, with

  class, probability   the most probable class
  second, margin       the class after it, and how much less probable it is
  entropy              of the class probabilities, in nats
  distance, nearest    how far the image's features are from those of the nearest
                       labelled image, in what is usual among these (the median
                       cosine distance to the nearest other one): 1 is usual, and
                       from 2 on the image looks like nothing labelled

Folders are searched at any depth. Files that are no images, or damaged ones, are
listed in FILE.failed.csv, and the rest is done. Memory does not grow with the number
of images. After an interruption the same command goes on where it was.

Probabilities are as good as the run is calibrated: see ledg calibrate.`,
		Example: `  ledg predict runs/mine --images photos --out predictions.csv
  ledg predict runs/mine --images a.jpg b.png --out predictions.jsonl
  ledg predict runs/mine --images photos --out p.parquet --embeddings features.npz`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Dir = args[0]
			f.Images = append(f.Images, args[1:]...) // as a shell gives them for --images *.jpg
			if err := f.Check(); err != nil {
				return usagef("--out and --embeddings: %w", err)
			}
			p, err := predict.OpenWith(o)
			if err != nil {
				return err
			}
			defer p.Close()
			stderr := cmd.ErrOrStderr()
			if !quiet {
				fmt.Fprintln(stderr, p.Backend())
				if p.Calibrated {
					fmt.Fprintf(stderr, "probabilities at temperature %.3f, fitted on source images: optimistic on a new domain\n", p.Temperature)
				} else {
					fmt.Fprintf(stderr, "probabilities are not calibrated; %s does that\n", shell.Line("ledg", "calibrate", o.Dir))
				}
				f.Progress = countProgress(stderr, "images")
			}
			start := time.Now()
			s, err := p.Files(cmd.Context(), f)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			seconds := time.Since(start).Seconds()
			now := s.Predicted - s.Resumed
			fmt.Fprintf(out, "%s: %s images", f.Out, humanize.Comma(int64(s.Predicted)))
			if s.Resumed > 0 {
				fmt.Fprintf(out, ", %s of them before", humanize.Comma(int64(s.Resumed)))
			}
			fmt.Fprintf(out, ", %.1f images/s\n", float64(now)/seconds)
			if s.Changed {
				fmt.Fprintf(out, "the files are others than when the interrupted call began: those that came since and precede what it had done are not in the table\n")
			}
			if f.Embeddings != "" {
				fmt.Fprintf(out, "%s: features of %d numbers\n", f.Embeddings, p.Model.Features)
			}
			if s.Failed > 0 {
				fmt.Fprintf(out, "%s: %s files could not be read\n", s.FailedFile, humanize.Comma(int64(s.Failed)))
				for _, line := range s.First {
					fmt.Fprintf(out, "  %s\n", cli.OneLine(fmt.Errorf("%s", line)))
				}
				if more := s.Failed - len(s.First); more > 0 {
					fmt.Fprintf(out, "  and %s more\n", humanize.Comma(int64(more)))
				}
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.Images, "images", nil, "folder or file; may be repeated, or followed by more of them (required)")
	flags.StringVar(&f.Out, "out", "", "table to write: .csv, .parquet or .jsonl (required)")
	flags.StringVar(&f.Embeddings, "embeddings", "", "file for the features: .npz, .safetensors or .parquet")
	flags.StringVar(&o.Backend, "backend", "", "what computes; see ledg backend --help (default: auto)")
	runImagesFlags(cmd, &o)
	flags.BoolVar(&quiet, "quiet", false, "no progress on stderr")
	cmd.MarkFlagRequired("images")
	cmd.MarkFlagRequired("out")
	return cmd
}
