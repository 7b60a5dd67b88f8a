package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/labels"
	campaign "github.com/ledg-go/ledg/ceg/labels/acquire"
	"github.com/ledg-go/ledg/ceg/labels/page"
	"github.com/ledg-go/ledg/ceg/predict/photos"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// photoDataset is the data set that is trained on features, unless a network on images is
// specified.
const photoDataset = datasets.FolderName

// ofPixels are the settings that ask for a network of images.
var ofPixels = []string{"network.name", "network.width", "network.pooling", "network.precision", "network.weights", "data.image_size", "generalization.style_weights"}

// ofFiles are the settings about image files, which a file of features records.
var ofFiles = []string{"data.decode", "data.exclude", "data.layout", "data.site"}

// onPhotos reports whether the settings of a run name a folder of images and no setting of pixels.
func onPhotos(s config.Spec) bool {
	return s.Set["data.dataset"] == photoDataset && !slices.ContainsFunc(ofPixels, func(path string) bool { return s.Set[path] != nil })
}

// ofPhotos makes the words about a folder of images those about its features: the preset ledg, no
// target, and people as annotators of unlabelled images, unless specified otherwise.
func (f *trainFlags) ofPhotos(cmd *cobra.Command, s config.Spec) error {
	if name, _ := s.Set["generalization.objective"].(string); name != "" {
		if o, ok := config.LookupObjective(name); ok && o.Pixels {
			return usagef("--objective %s needs pixels, and a folder of images is trained on by features: give --net smallcnn, or another network of images, to train on pixels", name)
		}
	}
	d, truth, err := f.data.openDataset() // with the labels that a file gives
	if err != nil {
		return err
	}
	if len(d.Classes) == 0 {
		return usagef("--classes is missing: no folder of %s names a class; give them, such as --classes cat,dog, or where its folders are classes, --layout '{class}/{name}'", f.data.root)
	}
	s.Set["data.dataset"] = datasets.FeaturesFile
	for _, path := range ofFiles {
		delete(s.Set, path) // the features' file records it
	}
	for path, v := range map[string]any{"preset": string(config.Ledg), "data.target": config.NoTarget} {
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
	f.photos, f.folder, f.truth = f.data.root, d, truth
	return nil
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

// checkPhotos finds what is wrong with the target, the budget, the classes and the folder of a
// run before its images are embedded.
func (f *trainFlags) checkPhotos(c config.Config, dir string) error {
	p, err := campaign.New(c, f.folder)
	if err != nil {
		return err
	}
	people, class := c.Exploration.Oracle == config.People, f.truth.Class
	if people {
		class = func(int) int { return 0 } // people can label every image
	}
	if !people || f.truth.Known() == 0 { // no label exists before the first query
		if err := p.SetOracle(campaign.Simulated(p, class)); err != nil {
			return err
		}
	}
	return result.CheckNew(dir)
}

// embedPhotos makes the features of the images in a folder, which what needs, such as a page.
func embedPhotos(cmd *cobra.Command, root, what string, o photos.Options, quiet bool) (file string, err error) {
	stderr := cmd.ErrOrStderr()
	o.Say = func(line string) { fmt.Fprintln(stderr, line) }
	o.Allow = func(question string) bool { return allowed(cmd.InOrStdin(), stderr, question) }
	if !quiet {
		o.Progress = sayWhen(stderr, what+" in about %d min; later commands take seconds", time.Now, countProgress(stderr, "images"))
	}
	return photos.Embed(cmd.Context(), root, o)
}

// extendPhotos makes the features of the images that a run on features of a folder is extended
// to, those in the folder named or else in the one that the run's are of, and names their file
// in its place.
func extendPhotos(cmd *cobra.Command, x *ceg.Extension, f *trainFlags) (embedded bool, err error) {
	c, d, _, err := ceg.OpenData(ceg.Options{Dir: x.Of})
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
	classes := x.Classes
	if !slices.ContainsFunc(classes, func(name string) bool { return !strings.HasPrefix(name, "+") }) {
		if classes = slices.Clone(c.Data.Classes); classes != nil {
			for _, name := range x.Classes {
				classes = append(classes, strings.TrimPrefix(name, "+"))
			}
		}
	}
	x.Root, err = embedPhotos(cmd, root, "features", photos.Options{By: from, Known: []string{v.Path()}, FollowLinks: from.FollowLinks || x.FollowLinks, Group: c.Data.Group, Classes: classes, Backend: f.backend, CacheDir: f.cache}, f.quiet)
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

// runPage serves the labelling page of a run in a process of its own, and reports to it what the
// run does.
type runPage struct {
	cmd    *cobra.Command
	dir    string
	ctx    context.Context
	cancel func()
	once   sync.Once
	work   sync.WaitGroup
	served bool

	mu       sync.Mutex
	training string // progress
}

func newRunPage(cmd *cobra.Command, dir string) *runPage {
	p := &runPage{cmd: cmd, dir: dir}
	p.ctx, p.cancel = context.WithCancel(cmd.Context())
	return p
}

// show serves the page, once the run can be labelled. Calls after the first do nothing.
func (p *runPage) show() {
	p.once.Do(func() {
		p.served = true
		p.work.Go(func() {
			c := newLabelCommand([]string{"label", p.dir, "--parent", strconv.Itoa(os.Getpid())})
			c.SetOut(p.cmd.OutOrStdout())
			c.SetErr(p.cmd.ErrOrStderr())
			c.SetArgs([]string{p.dir, "--detach"})
			c.SilenceErrors, c.SilenceUsage = true, true
			if err := c.ExecuteContext(p.ctx); err != nil && p.ctx.Err() == nil {
				fmt.Fprintf(p.cmd.ErrOrStderr(), "the labelling page: %s\n", cli.OneLine(err))
			}
		})
		p.work.Go(func() {
			for tick := time.NewTicker(time.Second); ; {
				select {
				case <-p.ctx.Done():
					return
				case <-tick.C:
					p.mu.Lock()
					training := p.training
					p.mu.Unlock()
					_ = p.place().Report(p.ctx, training) // to nobody before the page is served
				}
			}
		})
	})
}

func (p *runPage) place() page.Place { return page.Remembered(filepath.Join(p.dir, labels.File)) }

// observe notes the progress of the run.
func (p *runPage) observe(e ceg.Event) {
	training := fmt.Sprintf("epoch %d of %d", e.Epoch+1, e.Epochs)
	switch {
	case e.Epochs == 0 || e.Steps == 0:
		return
	case e.Message != "" && e.Over() < float64(e.Epochs): // of a query
		return
	case e.Message != "": // the accuracy is estimated
		training = e.Message
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.training = training
}

// close stops the page, after its windows have shown how the run ended.
func (p *runPage) close() {
	p.cancel()
	if p.work.Wait(); p.served {
		if place := p.place(); place.Token != "" {
			_ = place.Stop(context.Background()) // it may have stopped already
		}
	}
}
