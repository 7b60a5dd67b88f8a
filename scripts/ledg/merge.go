package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/predict/embedding"
	"github.com/ledg-go/ledg/ceg/predict/shard"
)

// partFlag adds --part.
func partFlag(flags *pflag.FlagSet, part *string) {
	flags.StringVar(part, "part", "", "do only part I of N parts, as I/N with I from 0 to N-1, and leave it in OUT.I-of-N; see ledg merge --help")
}

// parsePart reads --part; empty is the whole.
func parsePart(s string) (shard.Part, error) {
	if s == "" {
		return shard.Part{}, nil
	}
	p, err := shard.Parse(s)
	if err != nil {
		return p, usagef("--part %w", err)
	}
	return p, nil
}

// newMergeCommand returns the command that puts parts together.
func newMergeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "merge OUT [PART...]",
		Short: "Put together what embed, predict and query have done in parts",
		Long: `Put together what ledg embed, predict and query have done in parts: OUT is
then to the byte what one machine would have written, if all machines have the same engine
and processors with the same vector instructions. With --part I/N, I counted from 0, each
command does its share and leaves it beside OUT, in OUT.I-of-N:

  for i in 0 1 2 3; do ledg embed --dataset folder --root photos --out photos.safetensors --part $i/4; done
  ledg merge photos.safetensors

The four can be anywhere and at any time, as tasks of a Slurm array or pods of a Kubernetes
job (scripts/slurm_parts.sh, scripts/k8s-parts.yaml); a part of embed or predict that was killed
goes on by the same command, and one that is complete computes nothing. Parts of a query are
scores of rows, by which merge chooses among all. Without PARTs those beside OUT are
taken. Parts of other images, networks or settings, a part that is missing, incomplete or
there twice are errors, and nothing is written; the parts stay, to be deleted by you.`,
		Example: `  ledg merge photos.safetensors
  ledg merge predictions.parquet node1/predictions.csv.0-of-2 node2/predictions.csv.1-of-2`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			out, paths := args[0], args[1:]
			if len(paths) == 0 {
				var err error
				if paths, err = shard.Find(out); errors.Is(err, fs.ErrNotExist) {
					return usagef("%w", err)
				} else if err != nil {
					return err
				}
			}
			files, err := shard.Together(paths)
			if err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			switch files[0].Kind {
			case shard.Features:
				images, err := embedding.Merge(out, files)
				if err != nil {
					return err
				}
				fmt.Fprintf(w, "%s: %s images of %d parts\n", out, humanize.Comma(int64(images)), len(files))
			case shard.Query:
				picked, err := mergeQuery(cmd.Context(), out, files)
				if err != nil {
					return err
				}
				fmt.Fprintf(w, "%s: %s of %s rows of %d parts\n", out, humanize.Comma(int64(picked)), humanize.Comma(int64(files[0].Total)), len(files))
			case shard.Predictions:
				s, err := predict.Merge(out, files)
				if err != nil {
					return err
				}
				fmt.Fprintf(w, "%s: %s images of %d parts\n", out, humanize.Comma(int64(s.Predicted)), len(files))
				if s.Embeddings != "" {
					fmt.Fprintf(w, "%s: features of %d numbers\n", s.Embeddings, s.Features)
				}
				printFailed(w, s)
			}
			return nil
		},
	}
}
