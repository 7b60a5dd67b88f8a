package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ledg-go/ledg/ceg/nets/onnx/imported"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// importFlags say what an ONNX file does not say.
type importFlags struct {
	preset, filter, mean, std string
	short                     int
	bgr                       bool
	output, pool              string
}

// importHelp is about networks from files, in the help of a command.
const importHelp = `--net FILE.onnx takes any network of images from an ONNX file. How images are
made for it is in preprocessor_config.json beside it (Hugging Face's), or said by --preprocess:

%s
and single things by --size, --short, --filter, --mean, --std and --bgr. --output names
the value that is taken, where there are several, and --pool what of its tokens: cls
(the first), mean (of all) or patches (the mean of those of patches). Maps are averaged.
All of it is written down with the file's SHA-256: predictions take the same file again.
--net hf:OWNER/NAME (or hf:OWNER/NAME@REVISION) fetches model.onnx or onnx/model.onnx with
its preprocessor_config.json from the Hugging Face hub, or HF_ENDPOINT, once.
ONNX Runtime computes it where ledg backend install onnxruntime has put it in its place,
else Go; --backend chooses.`

// describePresets lists the presets, a line each.
func describePresets() string {
	var b strings.Builder
	for _, p := range imported.Presets {
		fmt.Fprintf(&b, "  %-9s %s\n", p.Name, p.Of)
	}
	return b.String()
}

func (f *importFlags) add(flags *pflag.FlagSet) {
	var presets []string
	for _, p := range imported.Presets {
		presets = append(presets, p.Name)
	}
	flags.StringVar(&f.preset, "preprocess", "", "of an ONNX file: how images are made for it, one of "+strings.Join(presets, ", ")+" (default: its "+imported.PreprocessorFile+")")
	flags.IntVar(&f.short, "short", 0, "of an ONNX file: pixels that the short side is scaled to before the middle is cut out; 0 scales both sides to --size")
	flags.StringVar(&f.filter, "filter", "", "of an ONNX file: how images are scaled, bilinear, bicubic or lanczos")
	flags.StringVar(&f.mean, "mean", "", "of an ONNX file: mean of red, green and blue from 0 to 1, as in 0.485,0.456,0.406")
	flags.StringVar(&f.std, "std", "", "of an ONNX file: standard deviation, likewise")
	flags.BoolVar(&f.bgr, "bgr", false, "of an ONNX file: channels in the order blue, green, red")
	flags.StringVar(&f.output, "output", "", "of an ONNX file: the output that is taken, or any other value in it")
	flags.StringVar(&f.pool, "pool", "", "of an ONNX file whose output has tokens: "+strings.Join(datasets.Pools, ", "))
}

// importNames are the flags' names, which say nothing of a network by name.
var importNames = []string{"preprocess", "short", "filter", "mean", "std", "bgr", "output", "pool"}

// isONNX reports whether a network is a file.
func isONNX(net string) bool { return strings.HasSuffix(net, ".onnx") }

// origin is what is said of a network from a file, for images of a size if one is asked for.
func (f *importFlags) origin(flags *pflag.FlagSet, net string, size int) (datasets.Origin, error) {
	var o datasets.Origin
	var r datasets.Reading
	own := 0
	file, err := "", error(nil)
	switch {
	case f.preset != "":
		i := slices.IndexFunc(imported.Presets, func(p imported.Preset) bool { return p.Name == f.preset })
		if i < 0 {
			return o, usagef("--preprocess %s: want one of\n%s", f.preset, describePresets())
		}
		own, r = imported.Presets[i].At(size)
	default:
		if file, own, r, err = imported.ReadPreprocessor(net); err != nil {
			return o, err
		}
		if size != 0 && size != own { // what is cut off is a share
			r.Short = r.Short * size / max(own, 1)
		}
	}
	if file == "" && f.preset == "" && (f.mean == "" || f.std == "") {
		return o, usagef("--preprocess is missing: there is no %s beside %s, and no --mean and --std; one of\n%s", imported.PreprocessorFile, net, describePresets())
	}
	if size == 0 {
		size = own
	}
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

// three reads three numbers.
func three(text string) (v [3]float64, err error) {
	parts := strings.Split(text, ",")
	if len(parts) != len(v) {
		return v, fmt.Errorf("want three numbers, with commas between")
	}
	for i, s := range parts {
		if v[i], err = strconv.ParseFloat(strings.TrimSpace(s), 64); err != nil {
			return v, fmt.Errorf("%q is no number", s)
		}
	}
	return v, nil
}
