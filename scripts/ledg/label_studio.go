package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/calibration"
	"github.com/ledg-go/ledg/ceg/cluster"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/judge"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/labels/page"
	"github.com/ledg-go/ledg/ceg/labels/studio"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/seed"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/rgb"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// newLabelStudioCommand returns the command that is a backend of Label Studio.
func newLabelStudioCommand() *cobra.Command {
	var b studioBackend
	var place labelFlags
	cmd := &cobra.Command{
		Use:   "label-studio RUN",
		Short: "Be the machine learning backend of a Label Studio project: guesses, an order, training",
		Long: `Serve Label Studio's machine learning backend for the run RUN, which asks people
(--oracle ask), trained or not yet. Add the address that is printed to a project with the
same classes as Choices about an Image, under Settings, Model. A project can be made with
ledg label export --format labelstudio, or have images of its own.

Each task gets the model's guess, and a score: the smallest is what ledg query would ask
first with --strategy. To be asked in that order choose the newest version of this model
under Settings, Annotation, for predictions (Label Studio 1.23 sorts by no score while the
live model is chosen), and there "Uncertainty sampling", or sort the data manager by
"Prediction score", ascending. Scores below 0.5 are of a query of up to 1000 images, or
before any training of what the run asked for; other images follow by how sure the model
is, and answered ones have 1. The order is made anew with each model; Label Studio takes
it with the action "Retrieve Predictions".

Annotations go to the ledger labels.jsonl of RUN, on the disk before Label Studio hears so,
as answers of "label-studio user N": changed ones too, and deleted ones are taken back.
What was annotated while ledg did not run is read from Label Studio's API as soon as that
looks for the backend again, which its settings do under Model, and predictions.

"Start training" in Label Studio, or every n answers with --every n, trains anew on all
answers (ledg extend) into the folder RUN-studio-N, and then the guesses are of that; RUN
itself stays as it is. Every domain needs an answer before. Killed at any time, the same command goes on where it was.

Label Studio 1.23 refuses backends on its own machine and in private networks unless it is
started with ML_BLOCK_LOCAL_IP=false and SSRF_PROTECTION_ENABLED=false in its environment.
Images that only Label Studio has (uploads) and missed annotations are read with the token
that it sends, or with LABEL_STUDIO_URL and LABEL_STUDIO_API_KEY (a legacy token or a
personal one) from the environment of ledg, which projects need that have legacy tokens
disabled. Tasks with several images, or several choices of one image, are not supported.`,
		Example: `  ledg label-studio runs/mine
  ledg label-studio runs/mine --every 20 --port 9090
  ledg label-studio runs/mine --listen 0.0.0.0:9090`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			b.dir = filepath.Clean(args[0])
			if b.strategy != "" && !slices.Contains(active.Names(), b.strategy) {
				return usagef("--strategy %q: want one of %s", b.strategy, strings.Join(active.Names(), ", "))
			}
			if b.every < 0 {
				return usagef("--every %d: want a number of answers", b.every)
			}
			var saying sync.Mutex
			b.log = func(format string, args ...any) {
				saying.Lock()
				defer saying.Unlock()
				fmt.Fprintln(cli.Plain{Writer: cmd.ErrOrStderr()}, cli.OneLine(fmt.Errorf(format, args...)))
			}
			place.progress = func(format string, args ...any) { b.log(strings.TrimSpace(format), args...) }
			if err := place.checkPlace(cmd); err != nil {
				return err
			}
			return b.serve(cmd, &place)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&b.every, "every", 0, "train after so many answers that the newest model does not know (default: only when Label Studio says so)")
	flags.StringVar(&b.strategy, "strategy", "", "query strategy by which images are ordered; see ledg query --help (default: the run's, or "+orderOfUniform+" where that is uniform)")
	flags.StringVar(&place.listen, "listen", "", "address on the network, HOST or HOST:PORT (default: the loopback, which nobody else reaches)")
	flags.IntVar(&place.port, "port", 0, "port (default: that of last time, or any)")
	flags.StringVar(&place.cert, "tls-cert", "", "file of the certificate with which it is encrypted, PEM")
	flags.StringVar(&place.key, "tls-key", "", "file of its key, PEM")
	flags.StringVar(&b.backend, "backend", "", "what computes; see ledg backend --help (default: auto)")
	flags.StringVar(&b.cache, "cache", "", "folder of decoded images and of features (default: the user's cache folder)")
	return cmd
}

// studioBackend is a run behind Label Studio.
type studioBackend struct {
	dir            string
	backend, cache string
	strategy       string
	every          int
	log            func(format string, args ...any)

	data   *datasets.Dataset
	truth  datasets.Truth
	target string // domain, or none
	ledger *labels.Ledger
	ctx    context.Context

	mu       sync.Mutex
	model    *studioModel
	training bool
	work     sync.WaitGroup
}

func (b *studioBackend) serve(cmd *cobra.Command, f *labelFlags) error {
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	b.ctx = ctx
	c, d, truth, err := ceg.OpenData(ceg.Options{Dir: b.dir, CacheDir: b.cache})
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(b.dir, labels.File)); errors.Is(err, fs.ErrNotExist) || c.Exploration.Oracle != config.People {
		return fmt.Errorf("%s: the run asks nobody; one that was made with --oracle %s does", b.dir, config.People)
	}
	b.data, b.truth, b.target = d, truth, c.Data.Target
	if b.ledger, err = page.OpenLedger(b.dir, d, d.Classes, labels.Newest); err != nil {
		return err
	}
	defer b.ledger.Close()
	for _, note := range b.ledger.Notes() {
		b.log("%s", note)
	}
	name := filepath.Join(b.dir, labels.File) + "#label-studio"
	release, ok, err := page.Claim(name)
	if err == nil && !ok {
		return fmt.Errorf("%s: another process is its backend for Label Studio", b.dir)
	} else if err == nil {
		defer release()
	}
	newest, unfinished := b.newest()
	if b.model, err = b.open(newest); err != nil {
		return err
	}
	l, at, err := f.open(name)
	if l == nil {
		return err
	}
	if err != nil {
		b.log("%v", err)
	}
	defer l.Close()
	address := at.Address("label-studio")
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	digests := sync.OnceValues(func() ([]string, error) { return datasets.Digests(ctx, d, b.cache) })
	s := studio.New(ctx, studio.Options{Data: d, Classes: d.Classes, Ledger: b.ledger, Digests: digests, Token: strings.Trim(u.Path, "/"),
		Model: func() studio.Model { b.mu.Lock(); defer b.mu.Unlock(); return b.model }, Train: b.train, Changed: b.changed,
		Address: os.Getenv("LABEL_STUDIO_URL"), Key: os.Getenv("LABEL_STUDIO_API_KEY"), Log: b.log})
	fmt.Fprintln(cmd.OutOrStdout(), address)
	b.log("the address above is the backend of %s (%s) for Label Studio; Ctrl-C ends it, and nothing is lost", b.dir, b.model.Version())
	if unfinished != "" {
		b.log("training goes on in %s", unfinished)
		b.mu.Lock()
		b.start(unfinished, "train", "--resume")
		b.mu.Unlock()
	} else {
		b.changed()
	}
	err = s.Serve(ctx, l)
	cancel()
	b.work.Wait()
	b.model.close()
	return err
}

// newest returns the newest run with a model, RUN or one made of it here, and the one that
// was begun after it, if there is one.
func (b *studioBackend) newest() (finished, begun string) {
	finished = b.dir
	for n := b.last(); n > 0; n-- {
		dir := b.numbered(n)
		if result.Finished(os.DirFS(dir)) {
			return dir, begun
		}
		begun = cmp.Or(begun, dir)
	}
	return finished, begun
}

func (b *studioBackend) numbered(n int) string { return fmt.Sprint(b.dir, "-studio-", n) }

var studioRun = regexp.MustCompile(`-studio-([0-9]{1,6})$`)

// last returns the number of the newest run made here, 0 if there is none.
func (b *studioBackend) last() (n int) {
	list, _ := filepath.Glob(filepath.Join(filepath.Dir(b.dir), "*-studio-*"))
	for _, dir := range list {
		if m := studioRun.FindStringSubmatch(dir); m != nil && strings.TrimSuffix(dir, m[0]) == b.dir {
			k, _ := strconv.Atoi(m[1])
			n = max(n, k)
		}
	}
	return n
}

// changed trains if there are enough answers that the newest model does not know.
func (b *studioBackend) changed() {
	if b.every == 0 {
		return
	}
	if n := b.unknown(); n >= b.every {
		b.log("%d answers are new: %s", n, b.train())
	}
}

// unknown counts the images whose class is another than the newest model was trained with.
func (b *studioBackend) unknown() (n int) {
	b.mu.Lock()
	trained := b.model.trained
	b.mu.Unlock()
	b.ledger.View(func(s *labels.State) {
		seen := 0
		for v := range s.Images() {
			if class, ok := trained[v.ID]; ok {
				seen++
				if class != v.Class {
					n++
				}
			} else if v.Class != "" {
				n++
			}
		}
	})
	return n
}

// train begins a run with all labels, and says so.
func (b *studioBackend) train() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.training {
		return "training goes on already"
	}
	if none := b.unlabelled(); len(none) > 0 {
		return "not before every domain has an answer, but there is none of " + strings.Join(none, ", ")
	}
	e, err := ceg.Extend(ceg.Extension{Of: b.dir, CacheDir: b.cache})
	if err != nil {
		return cli.OneLine(err)
	}
	out := b.numbered(b.last() + 1)
	b.start(out, "extend", b.dir, "--budget", strconv.Itoa(e.Taken))
	return fmt.Sprintf("%s is trained on %s", out, count(e.Taken, "label"))
}

// unlabelled names the domains to train on without a label.
func (b *studioBackend) unlabelled() (none []string) {
	has := map[string]bool{b.target: true}
	b.ledger.View(func(s *labels.State) {
		for _, l := range s.Labels() {
			has[l.Domain] = true
		}
	})
	for i, x := range b.data.Examples {
		if name := b.data.Domains[x.Domain]; !has[name] && b.truth.Len() > 0 && b.truth.Knows(i) {
			has[name] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(b.data.Domains), func(name string) bool { return has[name] })
}

// start runs a command of this program that trains into a folder, and takes the model that
// comes of it. The caller holds mu.
func (b *studioBackend) start(out string, args ...string) {
	b.training = true
	b.work.Go(func() {
		begun := time.Now()
		root := newRootCommand()
		root.SetIn(strings.NewReader("")) // asks nobody
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		args = append(args, "--out", out, "--quiet")
		for flag, v := range map[string]string{"--backend": b.backend, "--cache": b.cache} {
			if v != "" {
				args = append(args, flag, v)
			}
		}
		root.SetArgs(args)
		root.SilenceErrors, root.SilenceUsage = true, true
		err := root.ExecuteContext(b.ctx)
		var m *studioModel
		if err == nil {
			dir, _ := b.newest()
			m, err = b.open(dir)
		}
		b.mu.Lock()
		b.training = false
		if err == nil {
			b.model, m = m, b.model
		}
		version := b.model.Version()
		b.mu.Unlock()
		if m != nil {
			m.close()
		}
		switch {
		case b.ctx.Err() != nil:
		case err != nil:
			b.log("training failed, and the guesses stay those of %s: %w", version, err)
		default:
			b.log("predictions are of %s now, after %s", version, time.Since(begun).Round(time.Second/10))
			b.changed() // by what came meanwhile
		}
	})
}

// studioModel is what a run has trained, with the order in which it would ask.
type studioModel struct {
	b       *studioBackend
	version string
	place   map[string]float64 // of images that are wanted, in [0, 0.5)
	trained map[string]string  // classes of images

	mu sync.Mutex
	p  *predict.Predictor // nil before training
}

// orderOfUniform is the strategy that orders the images of a run that draws them at random:
// one that needs no more than the model's class probabilities.
const orderOfUniform = "bvsb"

// mostRanked is how many images are ranked by the query strategy: some take a time that
// grows with it.
const mostRanked = 1000

// open opens the model of a run, and ranks what is to be asked.
func (b *studioBackend) open(dir string) (m *studioModel, err error) {
	m = &studioModel{b: b, version: filepath.Base(dir) + " untrained", place: make(map[string]float64), trained: make(map[string]string)}
	var wanted []string
	if result.Finished(os.DirFS(dir)) {
		if m.p, err = predict.OpenWith(ceg.Options{Dir: dir, Backend: b.backend, CacheDir: b.cache}); err != nil {
			return nil, err
		}
		m.version = fmt.Sprintf("%s %.8s", filepath.Base(dir), m.p.Model.Digest())
		queries, err := result.ReadQueries(os.DirFS(dir), result.QueriesFile)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		for _, q := range queries {
			m.trained[q.ID] = q.Class
		}
		ranked, err := b.rank(dir)
		if err != nil {
			b.log("%s: images are ordered by how sure the model is alone: %w", dir, err)
		}
		wanted = ranked
	} else {
		b.ledger.View(func(s *labels.State) {
			for _, v := range s.OpenImages(-1) {
				wanted = append(wanted, v.ID)
			}
		})
	}
	for i, id := range wanted {
		m.place[id] = 0.5 * float64(i) / float64(len(wanted))
	}
	return m, nil
}

// rank returns images without a class, what ledg query would ask first before the others,
// by a query strategy and the run's networks.
func (b *studioBackend) rank(dir string) ([]string, error) {
	e, err := ceg.Embed(b.ctx, ceg.Options{Dir: dir, Backend: b.backend, CacheDir: b.cache})
	if err != nil {
		return nil, err
	}
	c := &active.Candidates{}
	var free, given []int
	b.ledger.View(func(s *labels.State) {
		for i, id := range e.IDs {
			v := s.Image(id)
			class := e.Classes[i]
			for k, name := range e.ClassNames {
				if v.Class == name {
					class = k
				}
			}
			switch {
			case class != datasets.Unknown:
				given = append(given, i)
				c.LabelledClasses, c.LabelledDomains = append(c.LabelledClasses, class), append(c.LabelledDomains, e.Domains[i])
			case v.Status != labels.IsBad:
				free = append(free, i)
				c.IDs, c.Domains = append(c.IDs, id), append(c.Domains, e.Domains[i])
			}
		}
	})
	pick := cluster.SelectRows
	c.Features, c.ClassProbs, c.DomainProbs = pick(e.Features, free), pick(e.ClassProbs, free), pick(e.DomainProbs, free)
	c.LabelledFeatures, c.LabelledClassProbs = pick(e.Features, given), pick(e.ClassProbs, given)
	conf, _, _, err := ceg.OpenData(ceg.Options{Dir: dir, CacheDir: b.cache})
	if err != nil {
		return nil, err
	}
	x := &conf.Exploration
	if x.Strategy = cmp.Or(b.strategy, x.Strategy); x.Strategy == "uniform" && b.strategy == "" {
		x.Strategy = orderOfUniform
	}
	strategy, err := x.QueryStrategy(conf.Seed, len(e.ClassNames))
	if err != nil {
		return nil, err
	}
	picks, err := strategy.Query(c, min(mostRanked, len(free)), seed.New(conf.Seed, "query"))
	return active.IDs(picks), err
}

// Version implements [studio.Model].
func (m *studioModel) Version() string { return m.version }

// Predict implements [studio.Model].
func (m *studioModel) Predict(ctx context.Context, images []studio.Image) ([]studio.Prediction, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]studio.Prediction, len(images))
	var at, examples []int
	for i, v := range images {
		if k, ok := m.index(v.ID); ok {
			at, examples = append(at, i), append(examples, k)
		} else if m.p != nil {
			list[i] = m.elsewhere(ctx, v)
		}
	}
	if m.p != nil && len(at) > 0 {
		part, err := m.p.Part(ctx, examples)
		if err != nil {
			return nil, err
		}
		for k, i := range at {
			row := part.Logits.Data[k*part.Logits.Stride:][:part.Logits.Cols]
			best := judge.ArgMax(row)
			list[i].Class, list[i].Probability = m.p.Model.Data.Classes[best], calibration.Softmax(row, m.p.Temperature)[best]
		}
	}
	m.b.ledger.View(func(s *labels.State) {
		for i, v := range images {
			place, wanted := m.place[v.ID]
			switch {
			case v.ID != "" && s.Image(v.ID).Class != "":
				list[i].Score = 1
			case wanted:
				list[i].Score = place
			default:
				list[i].Score = 0.5 + 0.5*list[i].Probability
			}
		}
	})
	return list, nil
}

// index returns the number of an image of the model's data set.
func (m *studioModel) index(id string) (int, bool) {
	if m.p == nil || id == "" {
		return 0, false
	}
	return m.p.Model.Data.Index(id)
}

// elsewhere says what is in an image that the model's data set does not have.
func (m *studioModel) elsewhere(ctx context.Context, v studio.Image) (p studio.Prediction) {
	if v.Data == nil {
		p.Failed = fmt.Errorf("%s is no image of the model any more", v.ID)
		return p
	}
	image, err := rgb.DecodeContext(ctx, v.Data)
	if err == nil {
		var list []predict.Prediction
		if list, err = m.p.Images(image.ToImage()); err == nil {
			p.Class, p.Probability = list[0].Class, float64(list[0].Probability)
		}
	}
	p.Failed = err
	return p
}

// close frees what the model holds, once nobody uses it.
func (m *studioModel) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.p != nil {
		m.p.Close()
		m.p = nil
	}
}
