package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/labels/page"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/shell"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/datasets"
)

// labelFlags are the flags of ledg label.
type labelFlags struct {
	data             dataFlags
	ledger           string
	annotators       string
	by               []string
	rule             string
	predictions      string
	listen, host     string
	port             int
	cert, key        string
	encrypt          *tls.Config // nil without them
	seed             uint64
	again, blind     bool
	unaided          bool
	detach, stop     bool
	parent           int      // the process that it ends with, 0 for none
	dir              string   // of the run, empty for a folder
	args             []string // of the program, which --detach starts again
	stdout, progress func(format string, args ...any)
}

// newLabelCommand returns the command that lets people label in a browser; args are the program's
// arguments.
func newLabelCommand(args []string) *cobra.Command {
	f := labelFlags{args: args}
	cmd := &cobra.Command{
		Use:         "label {RUN | --dataset folder --root DIR --classes LIST}",
		Aliases:     []string{"annotate"},
		Annotations: map[string]string{guide: "labelling.md", flagGroups: labelGroups},
		Short:       "Label images in a browser, for a run or a folder",
		Long: `Serve a labelling page on this machine, under a secret address. It shows the images that
RUN queries, or all images of a folder, in turn from each site. Keys 1 to 9, q, w, ...
give the class, 0 none of them; ? lists all keys. If images form groups (--group, or a
column group in --labels), A applies the next label to all open images of a group.

Every label is appended to labels.jsonl on disk before the next image appears. The file is in
the run's folder or the folder of images; --ledger chooses another. After an interruption,
the same command continues. Undo and redo have no limit.

Label together with --by ann,ben --listen ADDRESS: each annotator gets a link of their own.
Without --tls-cert and --tls-key, others on the network can read these links.

Predictions of the run, or in --predictions, appear on the page; a key accepts one. Before the
run's first label they are by class names (ledg embed --names). Labels record whether one was
shown. A second page confirms up to 30 at a time. --blind queries what others have labelled
without showing their labels, for ledg label agreement. Images appear as the network sees
them, photos upright. From another machine: ssh -L 8000:127.0.0.1:PORT HOST, with --port PORT.`,
		Example: `  ledg label runs/mine
  ledg label --dataset folder --root photos --classes cat,dog,horse
  ledg label --dataset folder --root photos --classes classes.txt --predictions predictions.csv
  ledg label runs/mine --by bob --blind
  ledg label runs/mine --by ann,ben --listen 0.0.0.0:8000`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				f.dir = args[0]
			}
			f.stdout = func(format string, args ...any) { fmt.Fprintf(cmd.OutOrStdout(), format, args...) }
			f.progress = func(format string, args ...any) { fmt.Fprintf(cmd.ErrOrStderr(), format, args...) }
			if err := f.check(cmd); err != nil {
				return err
			}
			return f.run(cmd)
		},
	}
	flags := cmd.Flags()
	f.data.add(cmd)
	f.data.addOwn(cmd)
	flags.StringVar(&f.ledger, "ledger", "", "folder of labels.jsonl (default RUN, or --root)")
	flags.StringVar(&f.annotators, "by", "", "annotator, or names as ann,ben with a link each (default yours)")
	flags.StringVar(&f.rule, "disagreement", "", "which label counts where annotators differ: newest, majority, ask (default newest; ask with --blind)")
	flags.StringVar(&f.predictions, "predictions", "", "table of ledg predict with predictions to show")
	flags.BoolVar(&f.unaided, "no-predictions", false, "show no predictions, which bias labels")
	flags.StringVar(&f.listen, "listen", "", "network address, HOST or HOST:PORT (default this machine only)")
	flags.IntVar(&f.port, "port", 0, "port (default the last one, or any)")
	bound(flags, "[0, 65535]", "port")
	flags.StringVar(&f.cert, "tls-cert", "", "file of the TLS certificate, PEM")
	flags.StringVar(&f.key, "tls-key", "", "file of the TLS key, PEM")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the order of a folder's images")
	flags.BoolVar(&f.again, "again", false, "also label images that are in class folders")
	flags.BoolVar(&f.blind, "blind", false, "label what others have labelled, without seeing their labels")
	flags.BoolVar(&f.detach, "detach", false, "serve in the background and print the address")
	flags.IntVar(&f.parent, "parent", 0, "stop when this parent process ends")
	_ = flags.MarkHidden("parent") // it exists
	flags.BoolVar(&f.stop, "stop", false, "stop the server of these labels")
	cmd.MarkFlagsMutuallyExclusive("detach", "stop")
	cmd.MarkFlagsMutuallyExclusive("predictions", "no-predictions")
	cmd.AddCommand(newLabelExportCommand(), newLabelImportCommand(), newLabelAgreementCommand(), newLabelStudioCommand())
	return cmd
}

// check validates the flags before files are read.
func (f *labelFlags) check(cmd *cobra.Command) error {
	if f.dir == "" {
		if f.data.root == "" && !cmd.Flags().Changed("dataset") {
			return usagef("nothing to label: give a run's folder, or --dataset folder --root DIR --classes LIST")
		}
		if err := f.data.check(); err != nil {
			return err
		}
		if f.ledger == "" && f.data.root == "" {
			return usagef("--ledger is missing: %s has no folder for labels", f.data.dataset)
		}
	} else {
		if info, err := os.Stat(f.dir); err != nil {
			return usagef("%s: %w", f.dir, errors.Unwrap(err))
		} else if !info.IsDir() {
			return usagef("%s is not a run's folder; to label images without a run, give --dataset folder --root DIR", f.dir)
		} else if _, err := os.Stat(filepath.Join(f.dir, result.ConfigFile)); errors.Is(err, fs.ErrNotExist) && !site.Is(f.dir) {
			return usagef("%s is not a run's folder; to label the images in it: %s", f.dir,
				shell.Line("ledg", "label", "--dataset", "folder", "--root", f.dir, "--classes", "CLASS,CLASS"))
		}
		for _, name := range []string{"dataset", "split-seed", "group", "classes", "labels", "seed", "again"} {
			if cmd.Flags().Changed(name) {
				return usagef("--%s does not apply: the run %s specifies what to label", name, f.dir)
			}
		}
	}
	if err := f.checkAddress(cmd); err != nil {
		return err
	}
	if _, err := labels.ParseRule(cmp.Or(f.rule, labels.Newest.String())); err != nil {
		return usagef("--disagreement: %w", err)
	}
	switch {
	case f.annotators == "" && f.blind:
		return usagef("--blind needs --by, the name of the annotator")
	case f.again && f.blind:
		return usagef("--blind shows images that others have labelled, --again all images: give one of them")
	case f.annotators == "":
		f.annotators = userName()
	}
	for name := range strings.SplitSeq(f.annotators, ",") {
		if err := checkAnnotator(name); err != nil {
			return err
		}
		if name = strings.TrimSpace(name); name == "" || slices.Contains(f.by, name) {
			return usagef("--by %s: want names with commas between them, each once", f.annotators)
		}
		f.by = append(f.by, name)
	}
	switch {
	case f.ledger != "":
	case f.dir != "":
		f.ledger = f.dir
	default:
		f.ledger = f.data.root
		if info, _ := datasets.Lookup(f.data.dataset); info.Vectors {
			return usagef("--ledger is missing: the folder for the labels")
		}
	}
	if info, err := os.Stat(f.ledger); err != nil || !info.IsDir() {
		return usagef("--ledger %s: there is no such folder", f.ledger)
	}
	return nil
}

// userName returns the name of the system's user.
func userName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	if name := os.Getenv("USER"); name != "" {
		return name
	}
	return "annotator"
}

func (f *labelFlags) run(cmd *cobra.Command) error {
	ctx := cmd.Context()
	path := filepath.Join(f.ledger, labels.File)
	name := path // of the server, for there is one more for each that is blind
	if f.blind {
		name += "#" + url.PathEscape(strings.Join(f.by, ","))
	}
	running, alive, release, err := f.claim(ctx, name)
	if err != nil {
		return err
	}
	defer release()
	switch {
	case f.stop && !alive:
		f.progress("no server runs for %s\n", path)
		if !f.blind {
			f.progress("to stop a server of blind labels, give the same --by and --blind\n")
		}
		return nil
	case f.stop:
		if err := page.Stop(ctx, name); err != nil {
			return err
		}
		f.progress("stopped the server of %s\n", path)
		return nil
	case alive && cmd.Flags().Changed("by") && !slices.Equal(running.By, f.by):
		return fmt.Errorf("process %d serves %s for %s: stop it with --stop before %s labels, or let %[4]s label without seeing other labels (--blind)", running.Process, path, strings.Join(running.By, ", "), strings.Join(f.by, ", "))
	case alive && cmd.Flags().Changed("listen") && running.Host != f.host:
		return fmt.Errorf("process %d serves %s at %s: stop it with --stop before you serve at another address", running.Process, path, cmp.Or(running.Host, "the loopback"))
	case alive && f.dir == "" && f.data.classes != "":
		if classes, err := datasets.ReadClasses(f.data.classes); err != nil {
			return usagef("--classes: %w", err)
		} else if !slices.Equal(classes, running.Classes) {
			return fmt.Errorf("process %d serves %s with the classes %s: stop it with --stop before you change the classes", running.Process, path, strings.Join(running.Classes, ", "))
		}
		fallthrough
	case alive:
		if err := f.setRule(); err != nil { // the server takes it up
			return err
		}
		f.already(running)
		return nil
	case f.detach:
		return f.background(ctx, name)
	}
	o, err := f.options()
	if err != nil {
		return err
	}
	defer o.Ledger.Close()
	if err := f.setRule(); err != nil {
		return err
	}
	o.Ledger.Noted(func(note string) { f.progress("%s\n", note) })
	l, running, err := f.open(name, o.Classes)
	if l == nil {
		return err
	}
	if err != nil {
		f.progress("%v\n", err)
	}
	defer l.Close()
	o.Running = running
	s, err := page.New(o)
	if err != nil {
		return err
	}
	defer s.Close()
	what := "open this address in a browser"
	if len(f.by) > 1 {
		what = "one link per annotator"
	}
	f.progress("labels of %s are saved in %s\n%s; Ctrl-C stops the server, and nothing is lost\n", strings.Join(f.by, ", "), path, what)
	f.links(running)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // a server in the background ends with the folder that it writes to, and that of a run with the run
		for tick := time.Tick(time.Second); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick:
				if _, err := os.Stat(f.ledger); errors.Is(err, fs.ErrNotExist) || f.parent != 0 && os.Getppid() != f.parent {
					cancel()
				}
			}
		}
	}()
	return s.Serve(ctx, l)
}

// maxAnnotator is the largest number of characters of an annotator's name.
const maxAnnotator = 100

// checkAnnotator refuses a name that does not fit a line of the labels' file or of a page.
func checkAnnotator(name string) error {
	if n := utf8.RuneCountInString(name); n > maxAnnotator {
		return usagef("--by: a name of %d characters, want at most %d", n, maxAnnotator)
	}
	if strings.ContainsFunc(name, unicode.IsControl) {
		return usagef("--by %q: a name with control characters, such as line breaks", name)
	}
	return nil
}
