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
	flags.StringVar(part, "part", "", "do only shard I of N, as I/N with I from 0")
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
		Use:   "merge OUT [SHARD...]",
		Short: "Merge the shards of embed, predict and query",
		Long: `Merge the shards of ledg embed, predict or query. OUT is identical, to the byte, to what one
machine would write, if all machines have the same engine and vector instructions. With
--part I/N, I from 0, each command does its share and writes it to OUT.I-of-N:

  for i in 0 1 2 3; do ledg embed --dataset folder --root photos --out photos.safetensors --part $i/4; done
  ledg merge photos.safetensors

Shards can run on any machine at any time (scripts/slurm_parts.sh, scripts/k8s-parts.yaml). An
interrupted shard of embed or predict continues with the same command. Without SHARD
arguments, the shards beside OUT are merged. Shards of other images, networks or settings,
and missing, incomplete or repeated shards are errors. Shards are not deleted.`,
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
