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
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

func newLabelStudioCommand() *cobra.Command {
	var b studioBackend
	var address labelFlags
	cmd := &cobra.Command{
		Use:         "studio RUN",
		Annotations: map[string]string{guide: "labelling.md"},
		Short:       "Serve a Label Studio project as its ML backend",
		Long: `Serve RUN as the machine learning backend of a Label Studio project. RUN needs --oracle ask
and may be untrained. Add the printed address to the project, under Settings, Model. The
project needs the run's classes as Choices on one Image; ledg label export makes one.

Each task gets a prediction, and a score by the query strategy; the smallest comes first.
Annotations are saved in RUN/labels.jsonl. "Start training", or --every N, trains a new
run RUN-studio-N on all labels, and predictions then come from it. RUN is not modified.
After an interruption, the same command continues.

Environment variables: LABEL_STUDIO_URL and LABEL_STUDIO_API_KEY let ledg read uploaded
images and missed annotations. The key is sent to that address only, and images of no
other address are read. The printed address is a secret: it is all that a backend needs.
Label Studio 1.23 reaches a backend in a private network only if it runs with
ML_BLOCK_LOCAL_IP=false and SSRF_PROTECTION_ENABLED=false.

Limits: one image of RUN and one choice per task; images up to 64 MB.`,
		Example: `  ledg label studio runs/mine
  ledg label studio runs/mine --every 20 --port 9090
  ledg label studio runs/mine --listen 0.0.0.0:9090`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			b.dir = filepath.Clean(args[0])
			if b.strategy != "" && !slices.Contains(active.Names(), b.strategy) {
				return usagef("--strategy %q: want one of %s", b.strategy, strings.Join(active.Names(), ", "))
			}
			if b.every < 0 {
				return usagef("--every %d: want a number of labels", b.every)
			}
			if err := b.options().Check(); err != nil {
				return usagef("%w", err)
			}
			for _, name := range []string{"BASIC_AUTH_USER", "BASIC_AUTH_PASS"} {
				if os.Getenv(name) != "" {
					return usagef("%s is set, and ledg asks for no password: the secret is in the address that it prints; unset %s, and keep the address to yourself", name, name)
				}
			}
			var saying sync.Mutex
			b.log = func(format string, args ...any) {
				saying.Lock()
				defer saying.Unlock()
				fmt.Fprintln(cmd.ErrOrStderr(), cli.OneLine(fmt.Errorf(format, args...)))
			}
			address.progress = func(format string, args ...any) { b.log(strings.TrimSpace(format), args...) }
			if err := address.checkAddress(cmd); err != nil {
				return err
			}
			return b.serve(cmd, &address)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&b.every, "every", 0, "train after this many new labels (default on request)")
	flags.StringVar(&b.strategy, "strategy", "", "query strategy that orders images; see ledg methods (default the run's)")
	flags.StringVar(&address.listen, "listen", "", "network address, HOST or HOST:PORT (default this machine only)")
	flags.IntVar(&address.port, "port", 0, "port (default the last one, or any)")
	bound(flags, "[0, 1000000000]", "every")
	bound(flags, "[0, 65535]", "port")
	flags.StringVar(&address.cert, "tls-cert", "", "file of the TLS certificate, PEM")
	flags.StringVar(&address.key, "tls-key", "", "file of the TLS key, PEM")
	flags.StringVar(&b.backend, "backend", "", "backend that computes; see ledg backend --help (default auto)")
	flags.StringVar(&b.cache, "cache", "", "folder of decoded images and features (default the user's cache folder)")
	return cmd
}

// studioBackend serves a run to Label Studio.
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

// options returns the server's options that do not depend on the data set.
func (b *studioBackend) options() studio.Options {
	return studio.Options{Model: func() studio.Model { b.mu.Lock(); defer b.mu.Unlock(); return b.model }, Train: b.train, Changed: b.changed, Log: b.log,
		Address: os.Getenv("LABEL_STUDIO_URL"), Key: os.Getenv("LABEL_STUDIO_API_KEY")}
}

func (b *studioBackend) serve(cmd *cobra.Command, f *labelFlags) error {
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	b.ctx = ctx
	c, d, truth, err := run.OpenData(ceg.Options{Dir: b.dir, CacheDir: b.cache})
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(b.dir, labels.File)); errors.Is(err, fs.ErrNotExist) || c.Exploration.Oracle != config.People {
		return fmt.Errorf("%s: the run does not query people; train one with --oracle %s", b.dir, config.People)
	}
	b.data, b.truth, b.target = d, truth, c.Data.Target
	if b.ledger, err = page.OpenLedger(b.dir, d, d.Classes, labels.Newest); err != nil {
		return err
	}
	defer b.ledger.Close()
	b.ledger.Noted(func(note string) { b.log("%s", note) })
	name := filepath.Join(b.dir, labels.File) + "#label-studio"
	release, ok, err := page.Claim(name)
	if err == nil && !ok {
		return fmt.Errorf("%s: another process serves it to Label Studio", b.dir)
	} else if ok {
		defer release()
	}
	newest, unfinished := b.newest()
	if b.model, err = b.open(newest); err != nil {
		return err
	}
	l, at, err := f.open(name, d.Classes)
	if l == nil {
		return err
	}
	if err != nil {
		b.log("%v", err)
	}
	defer l.Close()
	address := at.Link("label-studio")
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
	b.log("this is the address of the ML backend of %s (%s) for Label Studio; Ctrl-C stops it, and nothing is lost", b.dir, b.model.Version())
	if unfinished != "" {
		b.log("training continues in %s", unfinished)
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
