package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/learner/embedding"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/nets/weights/pretrained"
	"github.com/ledg-go/ledg/ceg/predict/photos"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/rgb"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

type embedFlags struct {
	embedding.Options
	data                               dataFlags
	net, word, pooling, dtype, backend string
	out, names                         string
	width                              int
	shard                              shardValue
	importing                          importFlags
	quiet, yes                         bool
}

func newEmbedCommand() *cobra.Command {
	var f embedFlags
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
continues. Features of photos in the cache of ledg train are reused. --shard does a shard of the images, for ledg merge.

` + fmt.Sprintf(importHelp, describePresets()) + "\n\n" + namesHelp,
		Example: `  ledg embed --dataset glyphs --net smallcnn --weights trained.safetensors --size 32 --out glyphs.safetensors
  ledg embed --dataset pacs --root PACS --net efficientnet-lite0 --weights imagenet --views 4 --out pacs.safetensors
  ledg embed --dataset folder --root photos --net dinov2/model.onnx --output last_hidden_state --pool cls --out photos.safetensors
  ledg embed --dataset folder --root photos --net hf:OWNER/NAME --names auto --out photos.safetensors`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.data.add(cmd)
	f.data.addOwn(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.net, "net", "efficientnet-lite0", "network: a name, FILE.onnx, a folder, or hf:OWNER/NAME of Hugging Face")
	flags.StringVar(&f.names, "names", "", "also embed "+namesUsage)
	flags.IntVar(&f.width, "width", 0, "channels of the network's first layer (default as published)")
	flags.StringVar(&f.pooling, "pooling", string(config.MeanPool), "how smallcnn's maps become features: mean or flatten")
	flags.StringVar(&f.word, "weights", pretrained.ImageNet, "weights: imagenet, none (random), or a .safetensors or PyTorch file")
	flags.IntVar(&f.Size, "size", 224, "side of the scaled images in pixels (ONNX: as preprocessing says)")
	flags.IntVar(&f.Views, "views", 1, "views per image: the clean one, a weak one, then strong ones")
	bound(flags, "[1, 1000]", "views")
	flags.Uint64Var(&f.Seed, "seed", 1, "seed of the views and of random weights")
	flags.StringVar(&f.dtype, "dtype", "float32", "number format in the file: float32 or float16")
	flags.Var(&f.shard, "shard", shardUsage)
	flags.StringVar(&f.backend, "backend", "", "backend that computes; see ledg backend --help (default auto)")
	flags.StringVar(&f.out, "out", "", "file to write, .safetensors (required)")
	f.importing.add(flags)
	flags.BoolVar(&f.yes, "yes", false, "ONNX: install ONNX Runtime without asking")
	flags.BoolVar(&f.quiet, "quiet", false, "print no progress on stderr")
	cmd.MarkFlagRequired("out")
	return cmd
}

func (f *embedFlags) run(cmd *cobra.Command) error {
	if err := f.checkOutput(); err != nil {
		return err
	}
	by, err := f.network(cmd)
	if err != nil {
		return err
	}
	if err := f.checkSizes(by); err != nil {
		return err
	}
	f.data.usual = rgb.ScaledFor(by.Fit())
	words, err := f.words()
	if err != nil {
		return err
	}
	d, truth, err := f.data.openDataset()
	if err != nil {
		return err
	}
	if f.names != "" {
		if f.Names, err = classEmbeddings(cmd, f.net, f.backend, f.yes, f.names, d.Classes, words); err != nil {
			return err
		}
	}
	front, x, err := f.load(cmd, by)
	if err != nil {
		return err
	}
	defer x.Close()
	if f.Names != nil {
		if err := model.CheckNames(len(f.Names.Values[0]), x, front.Origin); err != nil {
			return err
		}
	}
	if f.Origin, err = f.data.origin(front.Origin); err != nil {
		return err
	}
	f.Known = photos.Cached("")
	f.Say = func(line string) { fmt.Fprintln(cmd.ErrOrStderr(), line) }
	start := time.Now()
	if d, err = writeFeatures(cmd.Context(), f.out, &f.data, d, truth, x, f.Options); err != nil {
		return err
	}
	sayLeftOut(cmd.ErrOrStderr(), d)
	from, to := f.Shard.Range(d.Len())
	if f.Names != nil {
		fmt.Fprintf(cmd.OutOrStdout(), "class names by %s, %s: %q\n", f.Names.Network, f.Names.Family, f.Names.Templates)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %s images, %d views of %d features, %.1f images/s\n",
		f.Shard.File(f.out), humanize.Comma(int64(to-from)), f.Views, x.FeatureDim(), float64(to-from)/time.Since(start).Seconds())
	return nil
}

// words takes the words of classes out of --classes; of a data set with its own classes these are all
// that it has.
func (f *embedFlags) words() (words map[string]string, err error) {
	if f.names == "" || f.data.classes == "" {
		return nil, nil
	}
	list, err := datasets.ReadClasses(f.data.classes)
	if err != nil {
		list = []string{f.data.classes} // one class with words
	}
	classes, words, err := splitWords(list)
	if err != nil {
		return nil, usagef("--classes: %w", err)
	}
	if info, _ := datasets.Lookup(f.data.dataset); !info.Yours {
		f.data.classes = ""
	} else if len(words) > 0 {
		f.data.classes = strings.Join(classes, ",")
	}
	return words, nil
}

// checkOutput validates the flags about the file.
func (f *embedFlags) checkOutput() error {
	switch f.dtype {
	case "float32":
	case "float16":
		f.Half = true
	default:
		return usagef("--dtype %s: want float32 or float16", f.dtype)
	}
	if !strings.HasSuffix(f.out, ".safetensors") {
		return usagef("--out %s: want a name that ends in .safetensors", f.out)
	}
	f.Shard = f.shard.Shard
	return nil
}

// network describes the network: a built-in one, a file, or one of the hub.
func (f *embedFlags) network(cmd *cobra.Command) (by datasets.Origin, err error) {
	hub, err := fetchedNetwork(cmd, f.net, f.names != "")
	if err != nil {
		return by, err
	}
	f.net = hub.Path
	if f.names != "" && (!isONNX(f.net) || !f.shard.Whole()) {
		return by, usagef("--names needs a network of images and texts (FILE.onnx, its folder or hf:OWNER/NAME), and all images in one file")
	}
	describe, others := f.builtIn, importNames
	if isONNX(f.net) {
		describe, others = f.file, []string{"width", "pooling", "weights"}
	}
	for _, name := range others {
		if cmd.Flags().Changed(name) {
			return by, usagef("--%s does not apply to --net %s", name, f.net)
		}
	}
	if by, err = describe(cmd.Flags()); err != nil {
		return by, err
	}
	by.WeightsName, by.Licence, by.Seed = hub.Name, hub.Licence, f.Seed
	return by, nil
}

// file describes the network in an ONNX file.
func (f *embedFlags) file(flags *pflag.FlagSet) (by datasets.Origin, err error) {
	if !flags.Changed("size") {
		f.Size = 0
	}
	by, err = f.importing.origin(flags, f.net, f.Size)
	f.Size = by.Size
	return by, err
}

// builtIn describes a network by its name.
func (f *embedFlags) builtIn(flags *pflag.FlagSet) (by datasets.Origin, err error) {
	if names := config.NetworkNames(false); !slices.Contains(names, f.net) {
		return by, usagef("--net %q: want one of %s, which take images, a file .onnx, or hf:OWNER/NAME", f.net, strings.Join(names, ", "))
	}
	if known, _ := config.LookupNetwork(f.net); !flags.Changed("width") {
		f.width = known.Width
	}
	return datasets.Origin{Network: f.net, Width: f.width, Pooling: f.pooling, Size: f.Size, Weights: f.word}, nil
}

// checkSizes validates --width and --size of a built-in network; an ONNX file says them itself.
func (f *embedFlags) checkSizes(by datasets.Origin) error {
	if by.ONNX != nil {
		return nil
	}
	var c config.Config
	c.Network.Width, c.Data.ImageSize = f.width, f.Size
	for _, s := range [][2]string{{"network.width", "--width"}, {"data.image_size", "--size"}} {
		row, err := config.Lookup(s[0])
		if err == nil {
			err = row.Check(c)
		}
		if err != nil {
			return usagef("%s: %w", s[1], errors.Unwrap(err))
		}
	}
	return nil
}

// load loads the weights and opens the backend, and says which they are.
func (f *embedFlags) load(cmd *cobra.Command, by datasets.Origin) (*model.Front, *model.Extractor, error) {
	stderr := cmd.ErrOrStderr()
	front, err := model.OpenFront(cmd.Context(), by, pretrained.Options{Say: func(line string) { fmt.Fprintln(stderr, line) }})
	if err != nil {
		return nil, nil, err
	}
	slower := ""
	if by.ONNX != nil {
		if slower, err = offerRuntime(cmd, f.backend, f.yes); err != nil {
			return nil, nil, err
		}
	}
	x, err := front.Extractor(cmd.Context(), f.backend)
	if err != nil {
		return nil, nil, cli.BackendError(err)
	}
	f.Size = front.Origin.Size
	if !f.quiet {
		sayRead(stderr, &f.data)
		fmt.Fprintln(stderr, computes(x.Description, false))
		if note := f.data.usual.Note(); note != "" && f.data.decode == "" && f.data.dataset == photoDataset {
			fmt.Fprintln(stderr, note)
		}
		if slower != "" {
			fmt.Fprintln(stderr, slower)
		}
		for _, note := range front.Loaded.Notes {
			fmt.Fprintln(stderr, "weights: "+note)
		}
		f.Progress = countProgress(stderr, "images")
	}
	return front, x, nil
}
