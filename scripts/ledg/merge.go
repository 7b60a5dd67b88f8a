package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/learner/embedding"
	"github.com/ledg-go/ledg/ceg/learner/embedding/shard"
)

const shardUsage = "do only shard I of N, as I/N with I from 0"

// shardValue is the value of --shard; empty is the whole.
type shardValue struct{ shard.Shard }

func (v *shardValue) Type() string { return "I/N" }
func (v *shardValue) String() string {
	if v.Whole() {
		return ""
	}
	return v.Shard.String()
}
func (v *shardValue) Set(s string) (err error) {
	if s == "" {
		v.Shard = shard.Shard{}
	} else if v.Shard, err = shard.Parse(s); err != nil {
		err = errors.New("want I/N with I from 0 to N-1, such as 0/4")
	}
	return err
}

func newMergeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "merge OUT [SHARD...]",
		Short: "Merge the shards of embed",
		Long: `Merge the shards of ledg embed. OUT is identical, to the byte, to what one
machine would write, if all machines have the same engine and vector instructions. With
--shard I/N, I from 0, each command does its share and writes it to OUT.I-of-N:

  for i in 0 1 2 3; do ledg embed --dataset folder --root photos --out photos.safetensors --shard $i/4; done
  ledg merge photos.safetensors

Shards can run on any machine at any time (scripts/slurm_parts.sh, scripts/k8s-parts.yaml). An
interrupted shard continues with the same command. Without SHARD
arguments, the shards beside OUT are merged. Shards are not deleted.

Missing, incomplete, repeated or damaged shards are errors, and so are shards of other
images, networks or settings. Images are the same if their bytes are.`,
		Example: `  ledg merge photos.safetensors
  ledg merge photos.safetensors node1/photos.safetensors.0-of-2 node2/photos.safetensors.1-of-2`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			out, paths := args[0], args[1:]
			if len(paths) == 0 {
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
			images, err := embedding.Merge(out, files)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s images of %d shards\n", out, humanize.Comma(int64(images)), len(files))
			return nil
		},
	}
}
