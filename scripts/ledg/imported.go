package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/nets/onnx/imported"
	"github.com/ledg-go/ledg/ceg/nets/preprocess"
	"github.com/ledg-go/ledg/ceg/rundir/shell"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/rgb"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// importFlags are the flags about networks from ONNX files.
type importFlags struct {
	preset, filter, mean, std string
	short                     int
	bgr                       bool
	output, pool              string
}

// importHelp describes networks from ONNX files in the help of a command.
const importHelp = `Networks from ONNX files (--net FILE.onnx) are preprocessed as preprocessor_config.json
beside the file says (Hugging Face), or as --preprocess says:

%s
--size, --short, --filter, --mean, --std and --bgr change single values. --output selects an
output, and --pool the tokens: cls (the first), mean (all), or patches (mean of the
others). Maps are averaged. --net hf:OWNER/NAME[@REVISION] downloads vision_model.onnx or
model.onnx, there or in onnx/, from the Hugging Face hub, or from HF_ENDPOINT; --net
hf:OWNER/NAME:fp16 takes vision_model_fp16.onnx. --net FOLDER finds them alike. ONNX Runtime computes the
features. ledg offers to install it (--yes agrees). Without it, onnx-gomlx computes them: it
is slow, and may refuse operations or ignore an attribute.`

func describePresets() string {
	var b strings.Builder
	for _, p := range preprocess.Presets {
		fmt.Fprintf(&b, "  %-9s %s\n", p.Name, p.Of)
	}
	return b.String()
}

func presetNames() []string {
	var names []string
	for _, p := range preprocess.Presets {
		names = append(names, p.Name)
	}
	return names
}

func (f *importFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.preset, "preprocess", "", "preprocessing of an ONNX network; see ledg embed --help (default its "+preprocess.File+")")
	flags.IntVar(&f.short, "short", 0, "ONNX: short side in pixels before the crop; 0 for none")
	bound(flags, "[0, 65536]", "short")
	flags.StringVar(&f.filter, "filter", "", "ONNX: image scaling: bilinear, bicubic or lanczos")
	flags.StringVar(&f.mean, "mean", "", "ONNX: mean of red, green and blue, such as 0.485,0.456,0.406")
	flags.StringVar(&f.std, "std", "", "ONNX: standard deviation of red, green and blue")
	flags.BoolVar(&f.bgr, "bgr", false, "ONNX: channels in the order blue, green, red")
	flags.StringVar(&f.output, "output", "", "ONNX: output, or any other value, to use as features")
	flags.StringVar(&f.pool, "pool", "", "ONNX: features from tokens: "+strings.Join(datasets.Pools, ", "))
}

// importNames are the names of these flags, which do not apply to other networks.
var importNames = []string{"preprocess", "short", "filter", "mean", "std", "bgr", "output", "pool"}

// offerRuntime offers to install ONNX Runtime for a network from an ONNX file, where a backend asks for the fastest.
// It returns one line about onnx-gomlx where ONNX Runtime is not installed then.
func offerRuntime(cmd *cobra.Command, backend string, yes bool) (note string, err error) {
	plan, ok, reason := engine.RuntimePlan(backend)
	switch in, terminal := cmd.InOrStdin().(*os.File); {
	case !ok:
		return "", nil
	case reason != nil:
	case yes || terminal && term.IsTerminal(int(in.Fd())):
		_, reason = engine.Install(cmd.Context(), plan, func(p engine.Plan) bool { return yes || confirm(in, cmd.ErrOrStderr(), p) })
		if err := context.Cause(cmd.Context()); reason == nil || err != nil {
			return "", err
		}
	default:
		reason = fmt.Errorf("to install it, run `ledg backend install onnxruntime` or add --yes (%s)", plan.What)
	}
	return "ONNX Runtime is not installed, and onnx-gomlx computes the network: it is slow, and may refuse operations or ignore single attributes (GELU's approximation); " + cli.OneLine(reason), nil
}

func isONNX(net string) bool { return strings.HasSuffix(net, ".onnx") }

// origin returns the preprocessing of a network from a file, for images of a size, or of the
// network's own size for 0.
func (f *importFlags) origin(flags *pflag.FlagSet, net string, size int) (datasets.Origin, error) {
	var o datasets.Origin
	var r datasets.Reading
	n, err := imported.Open(net, f.output, "")
	if err != nil {
		return o, err
	}
	if size == 0 && f.preset != "" {
		size = n.Size
	}
	own := 0
	file := ""
	switch {
	case f.preset != "":
		preset, ok := preprocess.Of(f.preset)
		if !ok {
			return o, usagef("--preprocess %s: want %s (see ledg embed --help)", f.preset, strings.Join(presetNames(), ", "))
		}
		own, r = preset.At(size)
	default:
		if file, own, r, err = preprocess.Read(net); err != nil {
			return o, err
		}
		if size != 0 && size != own { // the crop is a share
			r.Short = r.Short * size / max(own, 1)
		}
	}
	if file == "" && f.preset == "" && (f.mean == "" || f.std == "") {
		if !n.Bytes() {
			return o, f.unknown(net, n, size)
		}
		raw, _ := preprocess.Of(preprocess.Raw)
		own, r = raw.At(cmp.Or(size, n.Size))
	}
	size = cmp.Or(size, own)
	for _, x := range []struct {
		name, text string
		to         *[3]float64
	}{{"mean", f.mean, &r.Mean}, {"std", f.std, &r.Std}} {
		if x.text == "" {
			continue
		}
		if *x.to, err = three(x.text); err != nil {
			return o, usagef("--%s %s: %w", x.name, x.text, err)
		}
	}
	if f.filter != "" {
		r.Filter = rgb.Filter(f.filter)
	}
	if flags.Changed("short") {
		r.Short = f.short
	}
	if flags.Changed("bgr") {
		r.BGR = f.bgr
	}
	if f.pool != "" && !slices.Contains(datasets.Pools, f.pool) {
		return o, usagef("--pool %s: want one of %s", f.pool, strings.Join(datasets.Pools, ", "))
	}
	if err := r.Check(size); err != nil {
		return o, usagef("images of --net %s: %w", net, err)
	}
	r.Output, r.Pool = f.output, f.pool
	return datasets.Origin{Weights: net, Size: size, ONNX: &r}, nil
}

// unknown is the error of a network whose preprocessing nobody has named, with an example.
func (f *importFlags) unknown(net string, n *imported.Network, size int) error {
	takes, example := "images of any size", []string{"--net", net, "--preprocess", preprocess.Presets[0].Name}
	if n.Size > 0 {
		takes = fmt.Sprintf("images of %d x %d pixels", n.Size, n.Size)
	}
	if n.Size > 0 && size == 0 {
		example = append(example, "--size", strconv.Itoa(n.Size))
	}
	if f.output != "" {
		example = append(example, "--output", f.output)
	}
	return usagef("--net %s takes %s, and nothing says how their values are scaled: there is no %s beside it; add --preprocess with one of %s (see ledg embed --help), such as %s", net, takes, preprocess.File, strings.Join(presetNames(), ", "), shell.Line(example...))
}

// three reads three numbers.
func three(text string) (v [3]float64, err error) {
	parts := strings.Split(text, ",")
	if len(parts) != len(v) {
		return v, fmt.Errorf("want three numbers, with commas between")
	}
	for i, s := range parts {
		if v[i], err = strconv.ParseFloat(strings.TrimSpace(s), 64); err != nil {
			return v, fmt.Errorf("%q is not a number", s)
		}
	}
	return v, nil
}
