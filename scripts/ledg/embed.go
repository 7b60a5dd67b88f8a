package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/nets/onnx/imported"
	"github.com/ledg-go/ledg/ceg/nets/weights/pretrained"
	"github.com/ledg-go/ledg/ceg/predict/embedding"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// newEmbedCommand returns the command that makes a data set of features.
func newEmbedCommand() *cobra.Command {
	var data dataFlags
	var net, word, pooling, dtype, backend, out, part string
	var width int
	var o embedding.Options
	var importing importFlags
	quiet, yes := false, false
	cmd := &cobra.Command{
		Use:         "embed --dataset NAME --net NETWORK --weights imagenet --out FILE.safetensors",
		SuggestFor:  []string{"features", "extract"},
		Annotations: map[string]string{guide: "networks.md", flagGroups: embedGroups},
		Short:       "Compute the features of a data set with a frozen network",
		Long: `Compute the features of all images of a data set with a frozen network. The .safetensors
file has features, IDs, domains, labels and splits, and is a data set of its own:

  ledg train --dataset features --root FILE.safetensors --target DOMAIN

--views 4 adds one weakly augmented view of each image, then strongly augmented ones
(RandAugment, Cutout), for losses that compare views. Each view costs as much as the first.

Memory does not grow with the number of images. After an interruption, the same command
continues. --part does a shard of the images, for ledg merge.

` + fmt.Sprintf(importHelp, describePresets()),
		Example: `  ledg embed --dataset glyphs --net smallcnn --weights trained.safetensors --size 32 --out glyphs.safetensors
  ledg embed --dataset pacs --root PACS --net efficientnet-lite0 --weights imagenet --views 4 --out pacs.safetensors
  ledg embed --dataset folder --root photos --net dinov2/model.onnx --output last_hidden_state --pool cls --out photos.safetensors`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch dtype {
			case "float32":
			case "float16":
				o.Half = true
			default:
				return usagef("--dtype %s: want float32 or float16", dtype)
			}
			if o.Views < 1 {
				return usagef("--views %d: want 1 or more", o.Views)
			}
			if !strings.HasSuffix(out, ".safetensors") {
				return usagef("--out %s: want a name that ends in .safetensors", out)
			}
			var err error
			if o.Part, err = parsePart(part); err != nil {
				return err
			}
			by := datasets.Origin{Network: net, Width: width, Pooling: pooling, Size: o.Size, Weights: word}
			var others []string
			var hub imported.Fetched
			if strings.HasPrefix(net, config.HubPrefix) {
				if hub, err = (imported.Hub{Say: func(line string) { fmt.Fprintln(cmd.ErrOrStderr(), line) }}).Fetch(cmd.Context(), net); err != nil {
					return err
				}
				net = hub.Path
			}
			if isONNX(net) {
				if !cmd.Flags().Changed("size") {
					o.Size = 0
				}
				if by, err = importing.origin(cmd.Flags(), net, o.Size); err != nil {
					return err
				}
				by.WeightsName, by.Licence = hub.Name, hub.Licence
				o.Size, others = by.Size, []string{"width", "pooling", "weights"}
			} else {
				known, _ := config.LookupNetwork(net)
				if !cmd.Flags().Changed("width") {
					width = known.Width
				}
				if names := config.NetworkNames(false); !slices.Contains(names, net) {
					return usagef("--net %q: want one of %s, which take images, a file .onnx, or hf:OWNER/NAME", net, strings.Join(names, ", "))
				}
				by.Width, others = width, importNames
			}
			for _, name := range others {
				if cmd.Flags().Changed(name) {
					return usagef("--%s does not apply to --net %s", name, net)
				}
			}
			by.Seed = o.Seed
			var c config.Config
			c.Network.Width, c.Data.ImageSize = width, o.Size
			for _, s := range [][2]string{{"network.width", "--width"}, {"data.image_size", "--size"}} {
				if by.ONNX != nil {
					break // the file says
				}
				row, err := config.Lookup(s[0])
				if err == nil {
					err = row.Check(c)
				}
				if err != nil {
					return usagef("%s: %w", s[1], errors.Unwrap(err))
				}
			}
			d, truth, err := data.openDataset()
			if err != nil {
				return err
			}
			stderr := cmd.ErrOrStderr()
			front, err := model.OpenFront(cmd.Context(), by, pretrained.Options{Say: func(line string) { fmt.Fprintln(stderr, line) }})
			if err != nil {
				return err
			}
			slower := ""
			if by.ONNX != nil {
				if slower, err = offerRuntime(cmd, backend, yes); err != nil {
					return err
				}
			}
			x, err := front.Extractor(cmd.Context(), backend)
			if err != nil {
				return cli.BackendError(err)
			}
			defer x.Close()
			if !quiet {
				sayRead(stderr, &data)
				fmt.Fprintln(stderr, computes(x.Description, false))
				if slower != "" {
					fmt.Fprintln(stderr, slower)
				}
				for _, note := range front.Loaded.Notes {
					fmt.Fprintln(stderr, "weights: "+note)
				}
				o.Progress = countProgress(stderr, "images")
			}
			o.Size = front.Origin.Size
			if o.Origin, err = data.origin(front.Origin); err != nil {
				return err
			}
			start := time.Now()
			if d, err = writeFeatures(cmd.Context(), out, &data, d, truth, x, o); err != nil {
				return err
			}
			sayLeftOut(stderr, d)
			seconds := time.Since(start).Seconds()
			from, to := o.Part.Range(d.Len())
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s images, %d views of %d features, %.1f images/s\n",
				o.Part.File(out), humanize.Comma(int64(to-from)), o.Views, x.FeatureDim(), float64(to-from)/seconds)
			return nil
		},
	}
	data.add(cmd)
	data.addOwn(cmd)
	flags := cmd.Flags()
	flags.StringVar(&net, "net", "efficientnet-lite0", "network: a name, FILE.onnx, or hf:OWNER/NAME of Hugging Face")
	flags.IntVar(&width, "width", 0, "channels of the network's first layer (default as published)")
	flags.StringVar(&pooling, "pooling", string(config.MeanPool), "how smallcnn's maps become features: mean or flatten")
	flags.StringVar(&word, "weights", pretrained.ImageNet, "weights: imagenet, none (random), or a .safetensors or PyTorch file")
	flags.IntVar(&o.Size, "size", 224, "side of the scaled images in pixels (ONNX: as preprocessing says)")
	flags.IntVar(&o.Views, "views", 1, "views per image: the clean one, a weak one, then strong ones")
	flags.Uint64Var(&o.Seed, "seed", 1, "seed of the views and of random weights")
	flags.StringVar(&dtype, "dtype", "float32", "number format in the file: float32 or float16")
	partFlag(flags, &part)
	flags.StringVar(&backend, "backend", "", "backend that computes; see ledg backend --help (default auto)")
	flags.StringVar(&out, "out", "", "file to write, .safetensors (required)")
	importing.add(flags)
	flags.BoolVar(&yes, "yes", false, "ONNX: install ONNX Runtime without asking")
	flags.BoolVar(&quiet, "quiet", false, "print no progress on stderr")
	cmd.MarkFlagRequired("out")
	return cmd
}
