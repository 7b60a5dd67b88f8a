package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/predict/photos"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// autoNames is the argument of --names for the template of the network's family.
const autoNames = "auto"

const namesUsage = "class names: auto, a template with {}, or a file"

// namesHelp describes names in the help of a command.
const namesHelp = `--names compares images with the names of the classes, by the text tower of the network
(CLIP, SigLIP, BioCLIP). It is text_model.onnx beside vision_model.onnx, or in one
model.onnx, with tokenizer.json. --names auto takes the template of the family. A file of
templates, one a line, gives their mean. --classes 'fox=red fox,empty=an empty forest'
gives a class other words.`

// readTemplates reads the argument of --names; nil for the family's template.
func readTemplates(text string) (list []string, err error) {
	if text == autoNames {
		return nil, nil
	}
	if strings.Contains(text, model.Slot) {
		return []string{text}, nil
	}
	b, err := regular.Read(text, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("--names %q has no %s, the place of a class's name, and is no file: want such as 'a photo of a {}.', or auto", text, model.Slot)
	}
	if err != nil {
		return nil, fmt.Errorf("--names: %w", err)
	}
	for line := range strings.Lines(strings.TrimPrefix(string(b), "\ufeff")) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	if list == nil {
		return nil, usagef("--names %s has no template", text)
	}
	return list, nil
}

// splitWords takes the words of classes out of a list with CLASS=WORDS.
func splitWords(list []string) (classes []string, words map[string]string, err error) {
	words = map[string]string{}
	for _, c := range list {
		class, w, ok := strings.Cut(c, "=")
		if class = strings.TrimSpace(class); ok {
			words[class] = strings.TrimSpace(w)
		}
		classes = append(classes, class)
	}
	return classes, words, datasets.ValidClasses(classes)
}

// classEmbeddings computes the embeddings of class names by the text tower beside an image network.
func classEmbeddings(cmd *cobra.Command, network, backend string, yes bool, names string, classes []string, words map[string]string) (*datasets.ClassEmbeddings, error) {
	templates, err := readTemplates(names)
	if err != nil {
		return nil, err
	}
	if len(classes) == 0 {
		return nil, usagef("--names: the images have no classes: name them with --classes")
	}
	for _, c := range slices.Sorted(maps.Keys(words)) {
		if !slices.Contains(classes, c) {
			return nil, usagef("--classes: %q has words and is no class here: %s", c, strings.Join(classes, ", "))
		}
	}
	t, err := model.OpenTextTower(network)
	if err != nil {
		return nil, err
	}
	if _, err := offerRuntime(cmd, backend, yes); err != nil {
		return nil, err
	}
	list := make([]string, len(classes))
	for i, c := range classes {
		list[i] = cmp.Or(words[c], strings.TrimSpace(strings.ReplaceAll(c, "_", " ")))
	}
	n, err := t.Embed(cmd.Context(), backend, classes, list, templates)
	if err == nil && templates == nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "names: template %q, that of the family %s, assumed by %s\n", n.Templates[0], n.Family, t.By)
	}
	return n, err
}

// fetchedNetwork finds the file of a network that is a folder, or on the hub: there with its text tower.
func fetchedNetwork(cmd *cobra.Command, net string, names bool) (f model.FetchedNetwork, err error) {
	say := func(line string) { fmt.Fprintln(cmd.ErrOrStderr(), line) }
	if strings.HasPrefix(net, config.HubPrefix) {
		return model.FetchNetwork(cmd.Context(), net, "", names, say)
	}
	path, folder, err := model.NetworkInFolder(net)
	if f.Path = net; folder {
		f.Path = path
	}
	return f, err
}

// namedPrediction are the flags of ledg predict without a run.
type namedPrediction struct {
	net, names, classes string
	importing           importFlags
}

func (f *namedPrediction) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.net, "net", "", "without RUN: FILE.onnx, a folder, or hf:OWNER/NAME of Hugging Face")
	flags.StringVar(&f.names, "names", "", "without RUN: "+namesUsage)
	flags.StringVar(&f.classes, "classes", "", "without RUN: class names, as a,b,c or a file")
	f.importing.add(flags)
}

// open opens a predictor by names alone, of boxes in images or of whole ones.
func (f *namedPrediction) open(cmd *cobra.Command, backend string, yes, boxes bool) (*predict.Predictor, error) {
	if f.net == "" || f.classes == "" {
		return nil, usagef("--names without a run needs --net, such as hf:OWNER/NAME, and --classes, such as cat,dog")
	}
	list, err := datasets.ReadClasses(f.classes)
	if err != nil {
		return nil, usagef("--classes: %w", err)
	}
	classes, words, err := splitWords(list)
	if err != nil {
		return nil, usagef("--classes: %w", err)
	}
	net, err := fetchedNetwork(cmd, f.net, true)
	if err != nil {
		return nil, err
	}
	if !isONNX(net.Path) {
		return nil, usagef("--net %s: names need a network of images and texts: FILE.onnx, its folder, or hf:OWNER/NAME", f.net)
	}
	names, err := classEmbeddings(cmd, net.Path, backend, yes, f.names, classes, words)
	if err != nil {
		return nil, err
	}
	from, err := f.importing.origin(cmd.Flags(), net.Path, 0)
	if err != nil {
		return nil, err
	}
	from.WeightsName, from.Licence, from.Decoding = net.Name, net.Licence, rgb.ScaledFor(from.Fit())
	if boxes {
		from.Decoding = from.Decoding.OfBoxes()
	}
	return predict.OpenNames(from, names, backend, photos.Cached(""))
}

// sayNames says how good names may be, and what that rests on.
func sayNames(p *predict.Predictor) string {
	accuracy, n, err := p.Estimate()
	if err != nil || n == 0 {
		return "no estimate of accuracy: no image was predicted now"
	}
	return fmt.Sprintf("accuracy of names alone: perhaps %.0f%%, by the probabilities of %d images and the class shares that they say themselves; no label was seen, so an audit of 30 says more", 100*accuracy, n)
}
