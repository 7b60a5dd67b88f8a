package main

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/learner/checkpoint"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/artifact"
	"github.com/ledg-go/ledg/ceg/rundir/shell"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// trainFlags are the flags of ledg train: the settings, from the table of package config, and
// flags on where and how to run.
type trainFlags struct {
	settings    settingFlags
	data        dataFlags
	from        string
	backend     string
	out, cache  string
	resume      bool
	noEstimate  bool
	wait        bool
	json, quiet bool
	printConfig bool
	names       bool       // starts from class names
	page        bool       // serves the labelling page
	photos      *photoStep // before a run on the features of a folder, else nil
	// defaultPreset reports that no flag names the preset.
	defaultPreset bool
}

func newTrainCommand() *cobra.Command {
	var f trainFlags
	cmd := &cobra.Command{
		Use:         "train --target DOMAIN",
		SuggestFor:  []string{"fit", "run"},
		Annotations: map[string]string{guide: "", flagGroups: trainGroups},
		Short:       "Query labels, train, and evaluate on an unseen domain",
		Long: `Train on all domains but the target, query labels up to the budget, and evaluate on the
target. The run's folder (--out) has all results; --resume continues an interrupted run.

--dataset folder trains on your photos (ROOT/site/photo, or ROOT/site/class/photo), and
--label opens the labelling page. --dataset features trains on vectors of ledg embed.`,
		Example: `  ledg train --target sketch --preset ledg
  ledg train --dataset folder --root photos --classes cat,dog --budget 60 --out mine --label
  ledg train --dataset pacs --root PACS --target sketch --net resnet18 --backend xla:cuda`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.data.add(cmd)
	f.data.addOwn(cmd)
	f.settings.add(cmd)
	flags := cmd.Flags()
	f.addRunning(cmd, "folder of the run (default runs/NAME, after the settings)")
	flags.BoolVar(&f.resume, "resume", false, "continue the run in --out with its own settings")
	flags.BoolVar(&f.names, "names", false, "start from the names of the classes: objective clap")
	flags.StringVar(&f.from, "config", "", "config.json of a run to repeat with its settings")
	flags.BoolVar(&f.printConfig, "print-config", false, "print the config.json of this run and exit")
	return cmd
}

// addRunning adds the flags that say where and how a run happens.
func (f *trainFlags) addRunning(cmd *cobra.Command, out string) {
	flags := cmd.Flags()
	flags.StringVar(&f.backend, "backend", "", "backend that computes; see ledg backend --help (default auto)")
	flags.StringVar(&f.out, "out", "", out)
	flags.StringVar(&f.cache, "cache", "", "folder of decoded images and features (default the user's cache folder)")
	flags.BoolVar(&f.noEstimate, "no-estimate", false, "skip the accuracy estimate, which repeats the training")
	flags.BoolVar(&f.wait, "wait", false, "with --oracle ask, wait for labels instead of ending")
	flags.BoolVar(&f.page, "label", false, "with --oracle ask, serve the labelling page and wait")
	flags.BoolVar(&f.json, "json", false, "print the result as one JSON object on stdout")
	flags.BoolVar(&f.quiet, "quiet", false, "print no progress on stderr")
}

// spec returns what the flags say of a run, and the words for its weights.
func (f *trainFlags) spec(cmd *cobra.Command) (s config.Spec, w model.WeightArgs, err error) {
	if s.Set, err = f.settings.specified(cmd); err != nil {
		return s, w, err
	}
	own, err := f.data.options()
	if err != nil {
		return s, w, err
	}
	if own.Classes != nil {
		s.Set["data.classes"] = own.Classes
	}
	if f.data.labels != "" {
		s.Set["data.labels"] = labels.Digest(own.Labels)
	}
	if len(f.data.exclude) > 0 {
		s.Set["data.exclude"] = f.data.exclude
	}
	if err := config.SplitNetwork(s.Set); err != nil {
		return s, w, err
	}
	of := s.Set["generalization.objective"]
	if method, ok := s.Set["method"].(string); ok && of == nil {
		_, of, _ = config.SplitMethod(method)
	}
	if name, _ := of.(string); f.names && of != nil {
		if o, ok := config.LookupObjective(name); ok && !o.Names {
			return s, w, usagef("--names trains from names, by --objective %s, and %s does not read them: leave one of the two out; the report compares names alone with any objective", config.CLAP, name)
		}
	} else if f.names {
		s.Set["generalization.objective"] = config.CLAP
		if s.Set["exploration.strategy"] == nil {
			s.Set["exploration.strategy"] = active.Uniform{}.Name() // clap has no domain head, which the default asks
		}
	}
	w.Weights, _ = s.Set["network.weights"].(string)
	w.Style, _ = s.Set["generalization.style_weights"].(string)
	return s, w, nil
}

// again reads the settings of a run that is to be made again. The flags must agree with them. For a run on
// the features of a folder, --dataset folder and --root say where its images are now.
func (f *trainFlags) again(s config.Spec) (c config.Config, err error) {
	fsys, err := result.FS(filepath.Dir(f.from))
	if err == nil {
		err = result.ReadConfig(fsys, filepath.Base(f.from), &c)
	}
	if err != nil {
		return c, fmt.Errorf("--config %s: %w", f.from, err)
	}
	ofPhotos := c.Data.Dataset == datasets.FeaturesFile && onPhotos(s)
	for _, path := range ofFiles {
		if ofPhotos && s.Set[path] != nil {
			return c, usagef("%s: %s is on features, which record it; leave it out", flagOf(path), f.out)
		}
	}
	if ofPhotos {
		delete(s.Set, "data.dataset")
	}
	for path, v := range s.Set {
		row, err := config.Lookup(path)
		if err != nil {
			return c, settingError(err)
		}
		if path == "network.weights" || path == "generalization.style_weights" {
			if v == config.NoWeights && row.Text(c) != config.NoWeights {
				return c, f.differs(row, row.Text(c), config.NoWeights)
			}
			continue // compared by digest, once they are open
		}
		if now, err := row.With(c, v); err != nil {
			return c, settingError(err)
		} else if !reflect.DeepEqual(now, c) {
			return c, f.differs(row, row.Text(c), row.Text(now))
		}
	}
	f.data.dataset = c.Data.Dataset
	if f.goesOn() && (f.data.root == "" || ofPhotos) { // it knows where its images or features are
		return c, nil
	}
	return c, f.data.check()
}

// goesOn reports whether the settings equal the settings of the resumed run.
func (f *trainFlags) goesOn() bool {
	return f.resume && f.from == filepath.Join(f.out, result.ConfigFile)
}

// differs is the error of a flag that wants something else than a run's config has.
func (f *trainFlags) differs(row config.Setting, have, want string) error {
	if !f.goesOn() {
		return usagef("%s: %s has %s, and a run continues with its own settings", flagOf(row.Path), f.from, have)
	}
	specified := want
	switch row.Path {
	case "data.labels":
		digest := func(s string) string { return cmp.Or(s[:min(12, len(s))], "none") }
		have, want, specified = digest(have), digest(want), f.data.labels
	case "data.classes":
		specified = f.data.classes
	}
	instead := "begin a new run with another --out"
	if slices.Contains(extends, row.Path) {
		instead = shell.Line("ledg", "extend", filepath.Dir(f.from), flagOf(row.Path), specified) + " makes a new run with its labels"
	}
	return usagef("%s: the run has %s, the command has %s, and a run continues with its own settings: %s", flagOf(row.Path), have, want, instead)
}

// extends are the settings that ledg extend changes.
var extends = []string{"exploration.budget", "schedule.epochs", "data.classes", "data.labels"}

// config returns the run's config and the words for its weights.
func (f *trainFlags) config(cmd *cobra.Command) (c config.Config, w model.WeightArgs, err error) {
	if f.resume && f.from == "" && f.out != "" {
		if file := filepath.Join(f.out, result.ConfigFile); exists(file) {
			f.from = file
		}
	}
	s, w, err := f.spec(cmd)
	switch {
	case err != nil:
	case f.from == "":
		c, err = f.fresh(cmd, s)
	default:
		if c, err = f.again(s); err == nil && f.goesOn() {
			w, err = f.remember(w)
		}
	}
	return c, w, settingError(err)
}

// ofMethods are the settings that compose a method. Without any, a run has the preset [config.Recommended].
var ofMethods = []string{"method", "exploration.strategy", "generalization.objective", "exploration.initial", "exploration.initial_share", "schedule.timing", "schedule.query_after", "protocol"}

// fresh returns the config of a new run.
func (f *trainFlags) fresh(cmd *cobra.Command, s config.Spec) (c config.Config, err error) {
	if onPhotos(s) {
		f.photos, err = newPhotoStep(cmd, f, s)
	} else if f.data.box.File != "" {
		return c, usagef("--boxes %s: boxes are trained on by their features: leave out the settings of a network of images, such as --net and --weights, or give them to ledg embed, and train on its file with --dataset features", f.data.box.File)
	} else if _, err = f.data.layoutOptions(); f.data.layout != "" {
		s.Set["data.layout"] = f.data.layout
	}
	if err != nil {
		return c, err
	}
	if f.defaultPreset = s.Set["preset"] == nil; f.defaultPreset && !slices.ContainsFunc(ofMethods, func(path string) bool { return s.Set[path] != nil }) {
		s.Set["preset"] = string(config.Recommended)
	}
	if c, err = config.Resolve(s); err != nil {
		return c, err
	}
	if idle := s.Idle(c); idle != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), "note: "+idle)
	}
	return c, nil
}

// remember fills in what the run that goes on was given where the flags say nothing. It
// looks for weights only if the run has not taken them yet.
func (f *trainFlags) remember(w model.WeightArgs) (model.WeightArgs, error) {
	p, err := result.ReadPlace(f.out)
	if err != nil {
		return w, err
	}
	f.backend, f.cache = cmp.Or(f.backend, p.Backend), cmp.Or(f.cache, p.CacheDir)
	f.data.followLinks = f.data.followLinks || p.FollowLinks
	if checkpoint.Exists(f.out) {
		return w, nil
	}
	return found(w, p), nil
}

// found fills in where weights were found last, if they still are there.
func found(w model.WeightArgs, p result.Place) model.WeightArgs {
	there := func(word string) string {
		if config.Elsewhere(word) || word != "" && exists(word) {
			return word
		}
		return ""
	}
	return model.WeightArgs{Weights: cmp.Or(w.Weights, there(p.Weights)), Style: cmp.Or(w.Style, there(p.Style))}
}

func (f *trainFlags) run(cmd *cobra.Command) error {
	c, words, err := f.config(cmd)
	if err != nil {
		return err
	}
	if err := f.mayWait(c); err != nil {
		return err
	}
	options := ceg.Options{Dir: f.out, Resume: f.resume, Root: f.data.root, SplitsDir: f.data.splits, Labels: f.data.labels, Columns: f.data.columns, FollowLinks: f.data.followLinks,
		Backend: f.backend, CacheDir: f.cache, NoEstimate: f.noEstimate, Wait: f.wait}
	if !f.printConfig { // which may be for another machine
		if err := engine.Check(options.Backend); err != nil {
			return cli.BackendError(err)
		}
	}
	resumed := options.Resume && checkpoint.Exists(options.Dir)
	say := func(line string) { fmt.Fprintln(cmd.ErrOrStderr(), line) }
	if options.Weights, options.Style, err = model.OpenWeights(cmd.Context(), &c, words, resumed, say); err != nil {
		return settingError(err)
	}
	if f.printConfig {
		return result.WriteConfig(cli.Raw(cmd.OutOrStdout()), c)
	}
	if c.Data.Dataset == photoDataset && f.from == "" {
		if options.Damaged, err = f.leaveOut(cmd, &c); err != nil {
			return err
		}
	}
	if options.Dir == "" {
		if options.Dir, err = defaultDir(c, f.data.root); err != nil {
			return err
		}
	}
	if !f.quiet {
		sayRead(cmd.ErrOrStderr(), &f.data)
	}
	if f.photos != nil {
		if options.Root, err = f.photos.features(cmd, f, c, options.Dir); err != nil {
			return err
		}
		options.KeepFeatures = true
	}
	return f.train(cmd, c, options)
}

// mayWait makes --label wait, and reports --wait and --label without human annotators.
func (f *trainFlags) mayWait(c config.Config) error {
	if (f.wait || f.page) && c.Exploration.Oracle != config.People {
		flag := "--wait"
		if f.page {
			flag = "--label"
		}
		return usagef("%s: only a run with --oracle %s waits for labels", flag, config.People)
	}
	f.wait = f.wait || f.page
	return nil
}

// train runs, beside the labelling page with --label, and prints the result.
func (f *trainFlags) train(cmd *cobra.Command, c config.Config, options ceg.Options) error {
	if f.page {
		p := newRunPage(cmd, options.Dir)
		defer p.close()
		options.Ready, options.Observe = p.show, p.observe
	}
	stop := func() {}
	if !f.quiet {
		p := newProgress(cmd.ErrOrStderr())
		if f.defaultPreset {
			p.first = fmt.Sprintf("preset %s, as no flag names one; see ledg settings preset", c.Preset)
			if c.Preset != config.Recommended {
				p.first = fmt.Sprintf("preset %s, as no flag names one but for the method; recommended: --preset %s (see ledg settings preset)", c.Preset, config.Recommended)
			}
		}
		page := options.Observe
		options.Observe, stop = func(e ceg.Event) {
			p.observe(e)
			if page != nil {
				page(e)
			}
		}, p.close
	}
	r, err := ceg.Run(cmd.Context(), c, options)
	stop()
	if err != nil {
		return trainError(cmd.Context(), err, options.Dir)
	}
	if line := calibrateRun(cmd.Context(), options); !f.quiet {
		if info, _ := datasets.Lookup(c.Data.Dataset); info.Yours {
			line += "\nto predict images: " + predictLine(options.Dir)
		}
		defer fmt.Fprintln(cmd.ErrOrStderr(), line)
	}
	if f.json {
		line, err := r.Line()
		if err != nil {
			return err
		}
		_, err = cli.Raw(cmd.OutOrStdout()).Write(line)
		return err
	}
	run, err := report.ReadRun(options.Dir)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if err := run.Table().Write(out, result.Text); err != nil {
		return err
	}
	if !r.Accuracy.Measured() {
		k, err := artifact.Read(options.Dir)
		if err != nil {
			return err
		}
		if k != nil && k.Estimate != nil { // the only number there is
			fmt.Fprintf(out, "\n%v", k.Estimate)
		}
	}
	return nil
}

// defaultDir names a run by its settings, so that equal settings find the same
// folder again: what a reader looks for, and a hash of everything. Of your own
// images the root is all that tells one set from another, so there it counts.
func defaultDir(c config.Config, root string) (string, error) {
	data, err := c.Identity()
	if err != nil {
		return "", err
	}
	if info, _ := datasets.Lookup(c.Data.Dataset); info.Yours {
		if root, err = filepath.Abs(root); err != nil {
			return "", err
		}
		data = append(data, root...)
	}
	sum := sha256.Sum256(data)
	words := []string{c.Data.Dataset, c.Data.Target, c.Method, string(c.Preset), fmt.Sprintf("seed%d", c.Seed), fmt.Sprintf("%x", sum[:4])}
	for i, w := range words {
		words[i] = strings.Map(func(r rune) rune {
			if r == filepath.Separator || r == '/' || r < ' ' {
				return '_'
			}
			return r
		}, w)
	}
	return filepath.Join("runs", strings.Join(words, "-")), nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
