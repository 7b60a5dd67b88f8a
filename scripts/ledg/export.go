package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/nets/onnx"
	"github.com/ledg-go/ledg/ceg/predict"
)

// newExportCommand returns the command that writes a run's weights.
func newExportCommand() *cobra.Command {
	var o ceg.Options
	var to string
	input := string(onnx.Float32)
	cmd := &cobra.Command{
		Use:   "export DIR --to {FILE.onnx | FILE.safetensors}",
		Short: "Write a run's network for other programs",
		Long: `Write a run's backbone and class head, as they are in its last checkpoint.

FILE.onnx is for ONNX Runtime and its like: an image in, with a free batch size;
class probabilities, logits and features out. Pixels are normalised inside, and the
temperature of ledg calibrate is there if the run has one. Class names, image size and
how the network was trained are in the metadata. Beside it come labels.txt, a model
card FILE.md, and FILE.py, an example for Python.

FILE.safetensors has the weights with torchvision's names, for PyTorch and timm. The
values are exact.

A run on feature vectors (--dataset features) has no ONNX form, for what made the vectors
is no part of it. Its .safetensors has the head alone, for vectors as training has them:
normalised as config.json says, and standardised by the pool.`,
		Example: `  ledg export runs/mine --to model.onnx
  ledg export runs/mine --to model.onnx --input uint8
  ledg export runs/mine --to model.safetensors`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Dir = args[0]
			if err := oneOf("--input", input, []string{string(onnx.Float32), string(onnx.Uint8)}); err != nil {
				return err
			}
			switch ext := filepath.Ext(to); ext {
			case ".onnx":
				files, err := predict.ExportONNX(o, to, onnx.Input(input))
				if err != nil {
					return err
				}
				for _, f := range files {
					fmt.Fprintln(cmd.OutOrStdout(), f)
				}
				return nil
			case ".safetensors":
				m, _, err := ceg.LoadModel(o)
				if err != nil {
					return err
				}
				digest, err := m.Save(to)
				if err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s  sha256 %s\n", to, digest)
				return nil
			}
			return usagef("--to %s: want a name that ends in .onnx or .safetensors, the formats that are written", to)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "file to write: .onnx or .safetensors (required)")
	cmd.Flags().StringVar(&input, "input", input, "images that the ONNX network takes: float32, [batch, 3, size, size] from 0 to 1, or uint8, [batch, size, size, 3]")
	runImagesFlags(cmd, &o)
	cmd.MarkFlagRequired("to")
	return cmd
}

// runImagesFlags adds the flags that say where the images of a run are.
func runImagesFlags(cmd *cobra.Command, o *ceg.Options) {
	cmd.Flags().StringVar(&o.Root, "root", "", "folder of the images that the run was trained on (default: where the run last found them)")
	cmd.Flags().StringVar(&o.SplitsDir, "splits", "", "folder of the PACS lists, if they are not in or beside --root")
}
