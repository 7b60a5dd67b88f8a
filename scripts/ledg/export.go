package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/nets/onnx"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/run"
)

func newExportCommand() *cobra.Command {
	var o ceg.Options
	var to string
	input := string(onnx.Float32)
	cmd := &cobra.Command{
		Use:         "export RUN --out {FILE.onnx | FILE.safetensors}",
		Annotations: map[string]string{guide: "python.md"},
		Short:       "Export the network of a run to ONNX or PyTorch",
		Long: `Export a run's backbone and class head from its last checkpoint.

FILE.onnx maps a batch of images to class probabilities, logits and features. It
normalises pixels itself and applies the temperature of ledg calibrate, if there is one.
Class names and provenance are in its metadata. labels.txt, a model card (FILE.md) and
an example in Python (FILE.py) are written beside it.

FILE.safetensors has the exact weights under torchvision's names, for PyTorch and timm.

Runs on feature vectors (--dataset features) export only their head, to .safetensors. It
expects vectors that are normalised as config.json says and standardised by the pool.`,
		Example: `  ledg export runs/mine --out model.onnx
  ledg export runs/mine --out model.onnx --input uint8
  ledg export runs/mine --out model.safetensors`,
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
				m, _, err := run.LoadModel(o)
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
			return usagef("--out %s: want a name that ends in .onnx or .safetensors, the formats that are written", to)
		},
	}
	cmd.Flags().StringVar(&to, "out", "", "file to write: .onnx or .safetensors (required)")
	cmd.Flags().StringVar(&input, "input", input, "pixels of the ONNX input: float32 (0 to 1) or uint8")
	runImagesFlags(cmd, &o)
	cmd.MarkFlagRequired("out")
	return cmd
}

// runImagesFlags adds the flags that say where the images of a run are.
func runImagesFlags(cmd *cobra.Command, o *ceg.Options) {
	cmd.Flags().StringVar(&o.Root, "root", "", "folder of the training images (default where the run found them)")
	cmd.Flags().StringVar(&o.SplitsDir, "splits", "", "folder of the PACS split lists (default in or beside --root)")
}
