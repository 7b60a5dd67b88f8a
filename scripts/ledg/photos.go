package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/campaign"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/predict/photos"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/rgb"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// A folder of photos is trained on by the features of a pretrained network, unless a setting asks for a
// network of images. [photoStep] is the step between the folder and the run, which is then one on a file of
// features: [newPhotoStep] changes the settings, check finds what is wrong with them, and features
// computes the file.

// photoDataset is the data set of a folder of images.
const photoDataset = datasets.FolderName

// ofPixels are the settings that ask for a network of images.
var ofPixels = []string{"network.name", "network.width", "network.pooling", "network.precision", "network.weights", "data.image_size", "generalization.style_weights"}

// ofFiles are the settings about image files, which a file of features records.
var ofFiles = []string{"data.decode", "data.exclude", "data.layout", "data.site"}

// onPhotos reports whether the settings of a run name a folder of images and no setting of pixels.
func onPhotos(s config.Spec) bool {
	return s.Set["data.dataset"] == photoDataset && !slices.ContainsFunc(ofPixels, func(path string) bool { return s.Set[path] != nil })
}

// photoStep is the step between a folder of photos and a run on their features.
type photoStep struct {
	folder *datasets.Dataset
	truth  datasets.Truth
}

// newPhotoStep opens the folder of the flags, and makes the settings about it those about its features:
// the recommended preset, no target, and people as annotators of unlabelled images, unless specified otherwise.
func newPhotoStep(cmd *cobra.Command, f *trainFlags, s config.Spec) (*photoStep, error) {
	if name, _ := s.Set["generalization.objective"].(string); name != "" {
		if o, ok := config.LookupObjective(name); ok && o.Pixels {
			return nil, usagef("--objective %s needs pixels, and a folder of images is trained on by features: give --net smallcnn, or another network of images, to train on pixels", name)
		}
	}
	d, truth, err := f.data.openDataset() // with the labels that a file gives
	if err != nil {
		return nil, err
	}
	if len(d.Classes) == 0 {
		return nil, usagef("--classes is missing: no folder of %s names a class; give them, such as --classes cat,dog, or where its folders are classes, --layout '{class}/{name}'", f.data.root)
	}
	s.Set["data.dataset"] = datasets.FeaturesFile
	for _, path := range ofFiles {
		delete(s.Set, path) // the features' file records it
	}
	for path, v := range map[string]any{"preset": string(config.Recommended), "data.target": config.NoTarget} {
		if s.Set[path] == nil {
			s.Set[path] = v
		}
	}
	people := f.wait || f.page || fmt.Sprint(s.Set["exploration.oracle"]) == string(config.People)
	who, line := whoLabels(s, d, truth, people)
	if who == config.People && s.Set["exploration.oracle"] == nil {
		s.Set["exploration.oracle"] = config.People
	}
	if line != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), line)
	}
	return &photoStep{d, truth}, nil
}

// whoLabels returns who labels the photos of a folder where no flag names it: people, if photos to
// train on have no class. With more known classes than an explicit budget these are the annotator, and no
// more of them are used, unless people is true. Photos that cannot be read do not count as unlabelled.
// line says what becomes of labels and budget, if only some photos have a class.
func whoLabels(s config.Spec, d *datasets.Dataset, truth datasets.Truth, people bool) (who config.Oracle, line string) {
	known, all, asks := 0, 0, false
	var unknown []int
	for i, e := range d.Examples {
		switch {
		case d.Domains[e.Domain] == s.Set["data.target"] || e.Split != datasets.Train:
			continue
		case truth.Knows(i):
			known++
		default:
			unknown = append(unknown, i)
		}
		all++
	}
	for _, i := range unknown {
		if _, err := d.Image(i); err == nil {
			asks = true
			break
		}
	}
	if !asks {
		return config.Simulated, ""
	}
	if known == 0 {
		return config.People, ""
	}
	text, _ := s.Set["exploration.budget"].(string)
	if budget, err := active.ParseBudget(text); err == nil {
		if n, err := budget.Labels(all); err == nil && known > n && !people {
			return config.Simulated, fmt.Sprintf("%s of %s photos to train on have no label: the labels of the others are the annotator, and --budget %s takes at most %d of them; --oracle %s trains on all of them instead",
				humanize.Comma(int64(len(unknown))), humanize.Comma(int64(all)), text, n, config.People)
		}
	}
	return config.People, fmt.Sprintf("%s of %s photos to train on have no label: all %s labels of the others are trained on, and people give those that the budget lacks",
		humanize.Comma(int64(len(unknown))), humanize.Comma(int64(all)), humanize.Comma(int64(known)))
}

// check finds what is wrong with the target, the budget, the classes and the folder of a run before its
// images are embedded.
func (s *photoStep) check(c config.Config, dir string) error {
	p, err := campaign.New(c, s.folder)
	if err != nil {
		return err
	}
	people, class := c.Exploration.Oracle == config.People, s.truth.Class
	if people {
		class = func(int) int { return 0 } // people can label every image
	}
	if !people || s.truth.Known() == 0 { // no label exists before the first query
		if err := p.SetOracle(campaign.Simulated(p, class)); err != nil {
			return err
		}
	}
	return result.CheckNew(dir)
}

// features checks the run, computes the features of its photos, and returns their file.
func (s *photoStep) features(cmd *cobra.Command, f *trainFlags, c config.Config, dir string) (file string, err error) {
	if err := s.check(c, dir); err != nil {
		return "", trainError(cmd.Context(), err, dir)
	}
	return f.data.embed(cmd, c.Data.Classes, f.backend, f.cache, f.quiet)
}

// embed makes the features of the folder of the flags, for a data set with these classes.
func (f *dataFlags) embed(cmd *cobra.Command, classes []string, backend, cache string, quiet bool) (file string, err error) {
	decoding, err := f.decodingOr(rgb.Scaled)
	if err != nil {
		return "", err
	}
	boxes, err := f.box.boxes()
	if err != nil {
		return "", err
	}
	file, err = embedPhotos(cmd, f.root, photos.Options{By: datasets.Origin{Decoding: decoding, Exclude: f.exclude, Layout: f.layout, SiteRule: f.site},
		Strict: f.strict, FollowLinks: f.followLinks, Boxes: boxes, Group: f.group, Classes: classes, Backend: backend, CacheDir: cache}, quiet)
	return file, cli.BackendError(err)
}

// embedPhotos makes the features of the images in a folder.
func embedPhotos(cmd *cobra.Command, root string, o photos.Options, quiet bool) (file string, err error) {
	stderr := cmd.ErrOrStderr()
	o.Say = func(line string) { fmt.Fprintln(stderr, line) }
	o.Allow = func(question string) bool { return allowed(cmd.InOrStdin(), stderr, question) }
	if !quiet {
		o.Progress = countProgress(stderr, "images")
	}
	return photos.Embed(cmd.Context(), root, o)
}

// extendPhotos makes the features of the images that a run on features of a folder is extended
// to, those in the folder named or else in the one that the run's are of, and names their file
// in its place.
func extendPhotos(cmd *cobra.Command, x *ceg.Extension, f *trainFlags) (embedded bool, err error) {
	c, d, _, err := run.OpenData(ceg.Options{Dir: x.Of})
	if err != nil || c.Data.Dataset != datasets.FeaturesFile {
		return false, nil // Extend reports the error
	}
	v, _ := d.Features()
	from, ok := v.Origin()
	if !ok || from.Dataset != photoDataset {
		return false, nil
	}
	root := x.Root
	if info, err := os.Stat(root); root != "" && err == nil && !info.IsDir() {
		return false, nil // a file of features
	}
	if root == "" {
		if root, err = v.ImageRoot(); err != nil {
			return false, nil // as they were
		}
	}
	from.Exclude = append(slices.Clone(from.Exclude), x.Exclude...)
	boxes, err := f.data.box.boxes()
	if err != nil {
		return false, err
	}
	classes := x.Classes
	if !slices.ContainsFunc(classes, func(name string) bool { return !strings.HasPrefix(name, "+") }) {
		if classes = slices.Clone(c.Data.Classes); classes != nil {
			for _, name := range x.Classes {
				classes = append(classes, strings.TrimPrefix(name, "+"))
			}
		}
	}
	x.Root, err = embedPhotos(cmd, root, photos.Options{By: from, Known: []string{v.Path()}, FollowLinks: from.FollowLinks || x.FollowLinks, Boxes: boxes, Group: c.Data.Group, Classes: classes, Backend: f.backend, CacheDir: f.cache}, f.quiet)
	return true, err
}

// allowed asks a question on a terminal; without a terminal, all specified settings are allowed.
func allowed(in io.Reader, out io.Writer, question string) bool {
	if f, ok := in.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		return true
	}
	for lines := bufio.NewReader(in); ; {
		fmt.Fprintf(out, "%s [Y/n] ", question)
		line, err := lines.ReadString('\n')
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "", "y", "yes":
			return true
		case "n", "no":
			return false
		}
		if err != nil {
			return false
		}
	}
}
