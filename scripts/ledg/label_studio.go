package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/labels/page"
	"github.com/ledg-go/ledg/ceg/labels/studio"
	"github.com/ledg-go/ledg/datasets"
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

Set LABEL_STUDIO_URL to the address of Label Studio, and LABEL_STUDIO_API_KEY to a token of its
API (legacy or personal). ledg then reads uploaded images and missed annotations. Without
the key, it uses the token that Label Studio sends, if legacy tokens are enabled. The token
goes to that address alone. Images elsewhere need --allow-host; addresses in private networks
need their IP address or network there, too. Larger images than 64 MB or 64 megapixels are
not fetched.

Set BASIC_AUTH_USER and BASIC_AUTH_PASS to require basic authentication, and enter both in
the model's settings in Label Studio. Add the header "Authorization: Basic ..." to the
project's webhook, too: Label Studio does not add it there.

Tasks with several images, or several choices of one image, are not supported.`,
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
			if err := b.options().Check(); err != nil {
				return usagef("%w", err)
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
	flags.StringArrayVar(&b.allow, "allow-host", nil, "fetch task images from HOST, HOST:PORT, an IP address or a network too (repeatable)")
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
	allow          []string
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

// options returns what does not depend on the data set.
func (b *studioBackend) options() studio.Options {
	return studio.Options{Model: func() studio.Model { b.mu.Lock(); defer b.mu.Unlock(); return b.model }, Train: b.train, Changed: b.changed, Log: b.log,
		Address: os.Getenv("LABEL_STUDIO_URL"), Key: os.Getenv("LABEL_STUDIO_API_KEY"), Allow: b.allow,
		User: os.Getenv("BASIC_AUTH_USER"), Password: os.Getenv("BASIC_AUTH_PASS")}
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
	o := b.options()
	o.Data, o.Classes, o.Ledger, o.Digests, o.Token = d, d.Classes, b.ledger, digests, strings.Trim(u.Path, "/")
	s, err := studio.New(ctx, o)
	if err != nil {
		return err
	}
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
