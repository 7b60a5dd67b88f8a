package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg"
)

// newExportCommand returns the command that writes a run's weights.
func newExportCommand() *cobra.Command {
	var o ceg.Options
	var to string
	cmd := &cobra.Command{
		Use:   "export DIR --to FILE.safetensors",
		Short: "Write a run's backbone and class head with torchvision's names",
		Long: `Write a run's backbone and class head, as they are in its last checkpoint, to a
.safetensors file with torchvision's names. The values are exact.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if ext := filepath.Ext(to); ext != ".safetensors" {
				return usagef("--to %s: want a name that ends in .safetensors, the format that is written", to)
			}
			o.Dir = args[0]
			digest, err := ceg.Export(o, to)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s  sha256 %s\n", to, digest)
			return nil
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "file to write (required)")
	cmd.Flags().StringVar(&o.Root, "root", "", "folder of the images (default: where the run last found them)")
	cmd.MarkFlagRequired("to")
	return cmd
}
