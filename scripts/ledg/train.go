package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/weights/pretrained"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// trainFlags are the flags of ledg train. Zero values leave the preset's.
type trainFlags struct {
	from           string
	data           dataFlags
	target, method string
	pair           pairFlags
	preset         string
	protocol       string
	seed           uint64
	budget         string
	timing         string
	initialShare   float64
	initial        string
	domains        string
	average        string
	threshold      string
	rscShare       float64
	normalise      string
	epochs         int
	imageSize      int
	net            string
	width          int
	weights, style string
	backend        string
	precision      learner.Precision
	out, cache     string
	beginnings     string
	resume, wait   bool
	oracle         string
	json, quiet    bool
}

// newTrainCommand returns the command that runs the method.
func newTrainCommand() *cobra.Command {
	var f trainFlags
	cmd := &cobra.Command{
		Use:   "train --target DOMAIN",
		Short: "Ask for labels, train on them, and measure on a domain never seen",
		Long: `Run a method from start to end on all domains but the target: label a part of the
budget at random (or by --initial), train, choose the other labels, train on, and measure on the
target. Everything is kept in the folder --out, which --resume continues after an
interruption to the same result.

A method is a query strategy and an objective, which ledg methods lists; --method is
its short form: a strategy with CEG's training (ceg, uniform, ...), with -ce for
cross-entropy on the labelled images alone (ceg-ce, uniform-ce, ...), or an objective
with all labels at random before training (fixmatch, ...). Which labels are asked for
is the method's affair, when they are asked for that of --timing. On glyphs it is best
to have all labels before training, which leaves nothing to choose, so that is what
glyphs and folders get unless --timing, --initial-share or --preset says otherwise:
with --timing published a method asks as in the paper, late. A schedule of your own is
written into a config.json (exploration.initial_share, schedule.query_after and
schedule.query_shares) and given with --config.

With --dataset features the examples are feature vectors in a file instead of images
(ledg embed makes one), and the network is a linear classifier, or mlp, on them: a run
takes seconds. The pool's mean is taken off them, and they are divided by one number.
The weak and strong views that losses compare are those stored in the file; where it
has none, the weak one is the vector itself, and the strong one has 30% of it dropped.
Objectives that work on pixels say so.

With --oracle ask it is people who answer. The run ends with status 3 as soon as it needs
labels, and says how many; they are given on the page of ledg label, or by ledg label
import, and then --resume goes on. Nothing is held or lost meanwhile. --wait waits
instead. Images that were skipped are replaced by others of their domain, bad ones leave
the pool, and corrected answers are taken up when the next epoch begins. Where annotators differ,
the rule holds that is in the ledger: that of ledg label --rule or ledg label import --rule. The images of
your own need no class folders then: --classes names the classes, and class folders and
--labels count as answers that were given. --target none trains on all domains.`,
		Example: `  ledg train --target sketch
  ledg train --dataset features --root pacs.safetensors --target sketch --budget 1%
  ledg train --dataset folder --root photos --classes cat,dog --target none --oracle ask --budget 60 --out mine
  ledg label mine
  ledg train --resume --out mine
  ledg train --dataset folder --root photos --target night --budget 120 --seed 3`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	f.data.add(cmd)
	f.data.addOwn(cmd)
	flags.StringVar(&f.target, "target", "", "domain that is held out, or none (required)")
	flags.StringVar(&f.method, "method", "ceg", "short form of --strategy and --objective; see ledg methods: "+strings.Join(ceg.Methods(), ", "))
	f.pair.add(cmd)
	flags.StringVar(&f.preset, "preset", string(ceg.Authors), "authors (what the published code does, as published numbers were made), paper (the equations as written), or ledg (authors with all labels before training; networks from random weights take batches of 8 images a domain, and on features MaxHerding chooses the labels, with square roots of these and an average of the weights); ledg query defaults to paper")
	flags.StringVar(&f.protocol, "protocol", string(ceg.PaperProtocol), "optimisation of an objective that is not CEG's: paper (CEG's, for all) or original (that of its published code: epochs, batch, momentum, decay, schedule, and with --weights the rates)")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of every random choice")
	flags.StringVar(&f.budget, "budget", "5%", "labels to spend: a number, or a share of the source training images")
	flags.StringVar(&f.timing, "timing", "", "when labels are asked for: published (half at random before training, the rest in its second half), early (a quarter, the rest in the first quarter of training) or once (all at random before training) (default: once for objectives that are methods, such as "+ceg.FixMatch+", and on glyphs and folders without --preset, otherwise published)")
	flags.Float64Var(&f.initialShare, "initial-share", 0, "share of the budget that is labelled before training (default: the timing's); 1 asks for nothing later")
	flags.StringVar(&f.initial, "initial", "uniform", "strategy that chooses the labels before training, by the features of the network that it starts from (--weights): "+strings.Join(ceg.Initials(), ", "))
	flags.StringVar(&f.domains, "domains", string(active.Pooled), "how each query is divided among the source domains: "+divisions())
	flags.StringVar(&f.average, "average", "none", "weights that predict: none (the last), ema, their moving average over the steps (decay 0.999), or three, the mean of both and of those with the best source validation")
	flags.StringVar(&f.threshold, "threshold", "fixed", "what a pseudo-label's confidence is held against: fixed (0.95), or freematch, thresholds that adapt")
	flags.Float64Var(&f.rscShare, "rsc-share", 0, "share of the features' entries and of the images that the objective rsc-domainbed mutes (default: DomainBed's 1/3)")
	flags.StringVar(&f.normalise, "normalise", "none", "what is made of feature vectors first: none, root (sign(x) sqrt|x|), unit (divided by their length) or root-unit (both)")
	flags.IntVar(&f.epochs, "epochs", 0, "number of epochs (default: the preset's)")
	flags.IntVar(&f.imageSize, "image-size", 0, "side of the images in pixels (default: the preset's)")
	flags.StringVar(&f.net, "net", "", "network: "+strings.Join(ceg.Networks(), ", ")+"; on features "+strings.Join(ceg.VectorNetworks(), ", ")+" (default: the preset's)")
	flags.IntVar(&f.width, "width", 0, "channels of smallcnn, of the first stage of a resnet, of the first convolution of an efficientnet-lite (default: the preset's; with --weights imagenet 64, and 32 for efficientnet-lite)")
	flags.StringVar(&f.weights, "weights", pretrained.None, "weights that the network starts from: none, imagenet, or a .safetensors or PyTorch file; they come with the paper's learning rates, 0.003 and 0.01 for the heads")
	flags.StringVar(&f.style, "style-weights", "", "folder with the weights of pytorch-AdaIN, vgg_normalised.pth and decoder.pth, which the objective stylematch needs")
	flags.StringVar(&f.backend, "backend", "", "what computes; see ledg backend --help (default: auto)")
	precisionFlag(cmd, &f.precision)
	flags.StringVar(&f.out, "out", "", "folder of the run (default: a name made of the settings, in runs)")
	flags.StringVar(&f.cache, "cache", "", "folder of decoded images (default: the user's cache folder)")
	flags.StringVar(&f.beginnings, "beginnings", "", "folder where runs that differ only in what they ask share the epochs before they ask first")
	flags.StringVar(&f.oracle, "oracle", ceg.Oracles()[0], "who answers: simulated (the classes of the data set) or ask (people, with ledg label)")
	flags.BoolVar(&f.wait, "wait", false, "with --oracle ask, wait for the answers instead of ending with status 3")
	flags.BoolVar(&f.resume, "resume", false, "continue the run in --out if it has begun; without --target, with the settings that it has")
	flags.BoolVar(&f.json, "json", false, "print the result as one JSON object, the last line of stdout")
	flags.BoolVar(&f.quiet, "quiet", false, "no progress on stderr")
	flags.StringVar(&f.from, "config", "", "take all settings from the config.json of a run, to make it again")
	for _, name := range []string{"dataset", "split-seed", "classes", "target", "method", "strategy", "objective", "preset", "protocol", "seed", "budget", "timing", "initial-share", "initial", "domains", "average", "threshold", "rsc-share", "normalise", "epochs", "image-size", "net", "width", "precision"} {
		cmd.MarkFlagsMutuallyExclusive("config", name)
	}
	cmd.MarkFlagsMutuallyExclusive("config", "oracle")
	return cmd
}

// precisionFlag adds --precision to a command that trains.
func precisionFlag(cmd *cobra.Command, p *learner.Precision) {
	cmd.Flags().TextVar(p, "precision", learner.TF32, "numbers that the network computes in: tf32 (float32, rounded to TF32 where an NVIDIA GPU is faster so), float32, or bfloat16 (XLA only; weights stay float32)")
}

// config turns the flags into a run's config. Its errors are of usage.
func (f *trainFlags) config(changed func(flag string) bool) (ceg.Config, error) {
	method := f.pair.method(f.method, changed)
	if ceg.Preset(f.preset) == ceg.Ledg && !changed("method") && !changed("strategy") && !changed("objective") {
		method = (active.Uniform{}).Name() // nothing is asked for later, and no domain head is needed
	}
	c, err := ceg.NewConfig(f.data.dataset, f.target, method, ceg.Preset(f.preset))
	if err != nil {
		return ceg.Config{}, usagef("%w", err)
	}
	if changed("protocol") {
		if err := c.SetProtocol(ceg.Protocol(f.protocol)); err != nil {
			return ceg.Config{}, usagef("--%w", err)
		}
	}
	if f.style != "" {
		c.UseStyle(&pretrained.Source{Name: ceg.StyleName}) // opened once the settings are known to make sense
	}
	c.Seed = f.seed
	if c.Exploration.Oracle, err = ceg.ParseOracle(f.oracle); err != nil {
		return ceg.Config{}, usagef("--%w", err)
	}
	c.Exploration.Budget = f.budget
	c.Data.SplitSeed = f.data.splitSeed
	own, err := f.data.options()
	if err != nil {
		return ceg.Config{}, err
	}
	if c.Data.Classes = own.Classes; f.data.labels != "" {
		c.Data.Labels = labels.Digest(own.Labels)
	}
	if changed("epochs") {
		if f.epochs < 1 {
			return ceg.Config{}, usagef("--epochs %d: want 1 or more", f.epochs)
		}
		c.SetEpochs(f.epochs)
	}
	switch data := f.data.dataset; {
	case changed("timing"):
		if err := c.SetTiming(ceg.Timing(f.timing)); err != nil {
			return ceg.Config{}, usagef("--%w", err)
		}
	case (data == "glyphs" || data == "folder") && !changed("preset") && !changed("initial-share"):
		if err := c.SetTiming(ceg.Once); err != nil {
			return ceg.Config{}, err
		}
	}
	if changed("initial-share") {
		c.Exploration.InitialShare = f.initialShare
	}
	if f.initial != (active.Uniform{}).Name() {
		c.Exploration.Initial = f.initial
	}
	if d := active.Division(f.domains); d != active.Pooled {
		c.Exploration.Domains = d
	}
	if f.average != "none" {
		c.Generalization.Average = ceg.Average(f.average)
	}
	if f.threshold != "fixed" {
		c.Generalization.Threshold = ceg.Threshold(f.threshold)
	}
	if changed("rsc-share") {
		if f.rscShare == 0 {
			return ceg.Config{}, usagef("--rsc-share 0: want a share between 0 and 1")
		}
		c.Generalization.RSCShare = f.rscShare
	}
	if f.normalise != "none" {
		c.Data.Normalise = ceg.Normalisation(f.normalise)
	}
	if changed("image-size") {
		c.Data.ImageSize = f.imageSize
	}
	if changed("net") {
		c.Network.Name = f.net
	}
	published := pretrained.Width(c.Network.Name)
	switch imageNet := f.weights == pretrained.ImageNet; {
	case changed("width"):
		c.Network.Width = f.width
		if imageNet && f.width != published {
			return ceg.Config{}, usagef("--width %d: the weights of imagenet are of width %d", f.width, published)
		}
	case imageNet || strings.HasPrefix(c.Network.Name, "efficientnet"):
		c.Network.Width = published
	}
	c.Network.Precision = f.precision
	if err := c.Validate(); err != nil {
		return ceg.Config{}, usagef("%w", err)
	}
	return c, nil
}

// openStyle opens the weights of AdaIN, if the run needs any.
func (f *trainFlags) openStyle(c *ceg.Config) error {
	want := c.Generalization.StyleWeights
	if want == nil {
		if f.style != "" {
			return usagef("--style-weights: the objective %s has no use for them", c.Generalization.Objective)
		}
		return nil
	}
	if f.style == "" { // of --config
		return usagef("the run needs %s (--style-weights)", objective.StyleWeights)
	}
	w, err := ceg.OpenStyle(f.style)
	if err != nil {
		return fmt.Errorf("--%w", err)
	}
	if want.Digest != "" && want.Digest != w.Digest {
		return fmt.Errorf("--style-weights %s: the run began with %s, these are %s", f.style, want, w)
	}
	c.UseStyle(w)
	return nil
}

// again reads the settings of a run that is to be made again.
func (f *trainFlags) again() (c ceg.Config, err error) {
	if err := result.ReadConfig(os.DirFS(filepath.Dir(f.from)), filepath.Base(f.from), &c); err != nil {
		return c, fmt.Errorf("--config %s: %w", f.from, err)
	}
	f.data.dataset = c.Data.Dataset
	if f.itself() && f.data.root == "" { // it knows where its images are
		return c, nil
	}
	return c, f.data.check()
}

// itself reports whether the settings are those of the run in --out.
func (f *trainFlags) itself() bool {
	return f.resume && f.from == filepath.Join(f.out, result.ConfigFile)
}

func (f *trainFlags) run(cmd *cobra.Command) error {
	var c ceg.Config
	var err error
	if f.resume && f.from == "" && f.target == "" && f.out != "" {
		if file := filepath.Join(f.out, result.ConfigFile); exists(file) {
			f.from = file
		}
	}
	switch {
	case f.from != "":
		c, err = f.again()
	case f.target == "":
		err = usagef("--target is missing: the domain that is held out, or none")
	default:
		if err = f.data.check(); err == nil {
			c, err = f.config(cmd.Flags().Changed)
		}
	}
	if err != nil {
		return err
	}
	if f.wait && c.Exploration.Oracle != ceg.People {
		return usagef("--wait: only a run with --oracle %s waits for anybody", ceg.People)
	}
	w, err := pretrained.Open(cmd.Context(), f.weights, c.Network.Name, pretrained.Options{
		Say: func(line string) { fmt.Fprintln(cmd.ErrOrStderr(), line) }})
	if err != nil {
		return fmt.Errorf("--weights: %w", err)
	}
	switch {
	case f.from == "":
		c.UseWeights(w)
	case f.itself() && !cmd.Flags().Changed("weights") && exists(filepath.Join(f.out, ceg.CheckpointFile)): // they are there
	default:
		err = sameWeights(&c, w)
	}
	if err != nil {
		return err
	}
	if err := f.openStyle(&c); err != nil {
		return err
	}
	dir := f.out
	if dir == "" {
		if dir, err = defaultDir(c, f.data.root); err != nil {
			return err
		}
	}
	options := ceg.Options{Dir: dir, Resume: f.resume, Root: f.data.root, SplitsDir: f.data.splits, Labels: f.data.labels, FollowLinks: f.data.followLinks,
		Backend: f.backend, CacheDir: f.cache, Beginnings: f.beginnings, Wait: f.wait}
	stop := func() {}
	if !f.quiet {
		p := newProgress(cmd.ErrOrStderr())
		options.Observe, stop = p.observe, p.close
	}
	r, err := ceg.Run(cmd.Context(), c, options)
	stop()
	if err != nil {
		return trainError(cmd.Context(), err, dir)
	}
	if f.json {
		line, err := r.Line()
		if err != nil {
			return err
		}
		_, err = cmd.OutOrStdout().Write(line)
		return err
	}
	run, err := report.ReadRun(dir)
	if err != nil {
		return err
	}
	return run.Table().Write(cmd.OutOrStdout(), result.Text)
}

// sameWeights gives a run that is made again the weights that it began with.
func sameWeights(c *ceg.Config, w *pretrained.Source) error {
	had := c.Network.Weights
	if had == nil {
		had = &pretrained.Source{Name: pretrained.None}
	}
	if w.Digest != had.Digest {
		return usagef("--weights: the run began with %s, these are %s; give those with --weights", had, w)
	}
	if w.Digest != "" {
		c.Network.Weights = w
	}
	return nil
}

// defaultDir names a run by its settings, so that equal settings find the same
// folder again: what a reader looks for, and a hash of everything. Of your own
// images the root is all that tells one set from another, so there it counts.
func defaultDir(c ceg.Config, root string) (string, error) {
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

// trainError says what to do about an error of a run.
func trainError(ctx context.Context, err error, dir string) error {
	var setting *ceg.SettingError
	var awaiting *ceg.ErrAwaitingLabels
	switch {
	case errors.As(err, &awaiting):
		return &awaitingError{awaiting, dir}
	case errors.As(err, &setting):
		return usagef("--%s: %w", setting.Setting, setting.Err)
	case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return fmt.Errorf("interrupted; the same command with --resume --out %s continues the run", dir)
	case errors.Is(err, result.ErrUnfinished):
		return fmt.Errorf("%w: --resume continues it, another --out begins anew", err)
	case errors.Is(err, result.ErrFinished):
		return fmt.Errorf("%w: ledg eval %s shows it, another --out begins anew", err, dir)
	case errors.Is(err, result.ErrForeign):
		if _, statErr := os.Stat(filepath.Join(dir, result.ConfigFile)); statErr == nil {
			return fmt.Errorf("%w; choose another --out, or give that run's settings, --weights included", err)
		}
		return fmt.Errorf("%w; choose another --out", err)
	}
	return cli.BackendError(err)
}

// awaitingError ends the program with status 3: the run needs labels.
type awaitingError struct {
	labels *ceg.ErrAwaitingLabels
	dir    string
}

func (e *awaitingError) Unwrap() error { return e.labels }

// Error says what is needed, and how to give it.
func (e *awaitingError) Error() string {
	when := "before training"
	if e.labels.Round > 0 {
		when = fmt.Sprintf("of query %d", e.labels.Round)
	}
	return fmt.Sprintf("%d of the %d labels %s are needed: ledg label %s asks for them in a browser, or ledg label export and import let another tool do it; then ledg train --resume --out %[4]s goes on",
		len(e.labels.Queries), e.labels.Of, when, e.dir)
}

// exists reports whether there is something at a path.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
