package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/labels/exchange"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// labelFiles are the common flags of ledg label export and import, and the data they name.
type labelFiles struct {
	data   dataFlags
	ledger string
	format string
	cache  string
	// columns are those of the file to import.
	columns datasets.ColumnNames
	// reads reports that files are imported.
	reads bool

	run     string // folder of a run, empty for a data set
	dataset *datasets.Dataset
	truth   datasets.Truth
	root    string
	form    exchange.Format
	notes   []string // on how files were read
	// noImages says why there are no files of images.
	noImages error
}

func (f *labelFiles) add(cmd *cobra.Command) {
	f.data.add(cmd)
	f.data.addOwn(cmd)
	var names []string
	for _, form := range exchange.Formats() {
		if f.reads || form.Written() {
			names = append(names, string(form))
		}
	}
	cmd.Flags().StringVar(&f.ledger, "ledger", "", "folder of labels.jsonl (default RUN, or --root)")
	cmd.Flags().StringVar(&f.format, "format", "", "the tool: "+strings.Join(names, ", ")+" (required)")
	cmd.Flags().StringVar(&f.cache, "cache", "", "folder of decoded images and features (default the user's cache folder)")
}

// open checks the flags and opens the data set. The first argument is a run's folder,
// unless flags name a data set; the others are returned.
func (f *labelFiles) open(cmd *cobra.Command, args []string) (rest []string, err error) {
	if f.format == "" {
		return nil, usagef("--format is missing: want %s", cmd.Flags().Lookup("format").Usage[len("the tool: "):])
	}
	if f.form, err = exchange.ParseFormat(f.format); err != nil {
		return nil, usagef("--format: %w", err)
	}
	if !f.reads && !f.form.Written() {
		return nil, usagef("--format %s is only imported", f.form)
	}
	if f.reads { // the file to import, not the one of --labels
		f.columns, f.data.columns = f.data.columns, datasets.ColumnNames{}
	}
	if cmd.Flags().Changed("dataset") {
		f.data.say = func(format string, args ...any) { fmt.Fprintf(cmd.ErrOrStderr(), format, args...) }
		if f.dataset, f.truth, err = f.data.openDataset(); err != nil {
			return nil, err
		}
		if f.data.notes != "" {
			f.data.say("%s\n", f.data.notes)
		}
		f.root, f.noImages = f.dataset.Folder(f.data.root)
		f.ledger = cmp.Or(f.ledger, f.root)
		if len(f.dataset.Classes) == 0 {
			return nil, usagef("--classes is missing: no folder of %s names a class", f.root)
		}
	} else {
		if len(args) == 0 {
			return nil, usagef("no input: give a run's folder, or --dataset folder --root DIR")
		}
		f.run, args = args[0], args[1:]
		for _, name := range []string{"split-seed", "classes", "labels"} {
			if cmd.Flags().Changed(name) {
				return nil, usagef("--%s does not apply: the run %s has its own", name, f.run)
			}
		}
		f.ledger = cmp.Or(f.ledger, f.run)
		o := ceg.Options{Dir: f.run, Root: f.data.root, SplitsDir: f.data.splits, FollowLinks: f.data.followLinks}
		c, data, truth, err := run.OpenData(o)
		if err != nil {
			return nil, err
		}
		at, err := result.Locate(f.run, c.Data.Dataset, result.Place{Root: f.data.root})
		if err != nil {
			return nil, err
		}
		f.dataset, f.truth = data, truth
		f.root, f.noImages = f.dataset.Folder(at.Root)
	}
	if f.ledger == "" {
		return nil, usagef("--ledger is missing: %s has no folder with labels", f.data.dataset)
	}
	if info, err := os.Stat(f.ledger); err != nil || !info.IsDir() {
		return nil, usagef("--ledger %s: there is no such folder", f.ledger)
	}
	return args, nil
}

func newLabelExportCommand() *cobra.Command {
	var f labelFiles
	var out, which, imageURL, imageFolder string
	cmd := &cobra.Command{
		Use:         "export {RUN | --dataset folder --root DIR --classes LIST} --format FORMAT --out PATH",
		Annotations: map[string]string{guide: "labelling.md"},
		Short:       "Export images to label, or labels, to other tools",
		Long: `Export images for another labelling tool. By default, these are the open queries of RUN, or
all images of a folder without a class. --which labelled or all exports others.

  csv          id, label, annotator, seconds, flag, at, domain, round, sha256, prediction;
               fill in label, or flag (skipped, unsure, bad), and import the file
  labelstudio  config.xml and tasks-*.json with predictions, up to 50,000 tasks a file
  cvat         images.zip and labels.json for a task, annotations.zip with labels
  folder       site/class/image; without a class, site/_unlabeled/image

Nothing is overwritten. csv and labelstudio name images; the other formats copy them.`,
		Example: `  ledg label export runs/mine --format labelstudio --out tasks
  ledg label export --dataset folder --root photos --classes cat,dog --format csv --out questions.csv
  ledg label export runs/mine --format folder --which labelled --out labelled`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usagef("--out is missing: the file or folder to write")
			}
			w := exchange.Which(which)
			if !slices.Contains([]exchange.Which{exchange.Open, exchange.Labelled, exchange.All}, w) {
				return usagef("--which %q: want open, labelled or all", which)
			}
			if _, err := f.open(cmd, args); err != nil {
				return err
			}
			s, err := f.state(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if f.noImages != nil && f.form != exchange.CSV && (f.form != exchange.LabelStudio || imageURL == "") {
				return fmt.Errorf("--format %s: %w", f.form, f.noImages)
			}
			o := exchange.Options{Data: f.dataset, Classes: f.dataset.Classes, ImageURL: imageURL, ImageFolder: imageFolder}
			if f.root != "" {
				o.Files = os.DirFS(f.root)
				if o.ImageFolder == "" {
					abs, err := filepath.Abs(f.root)
					if err != nil {
						return err
					}
					o.ImageFolder = filepath.Base(abs)
				}
			} else if f.form == exchange.LabelStudio && imageURL == "" {
				return usagef("--image-url is missing: data set %s has no files that Label Studio could show", f.dataset.Name)
			}
			items, left := exchange.Writable(f.form, exchange.Items(f.dataset, f.truth, s, w, f.run == ""))
			sayLeft(cmd.ErrOrStderr(), "left out", "image", left)
			notes, err := exchange.Write(cmd.Context(), f.form, out, items, o)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", out, countItems(items))
			for _, note := range notes {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s\n", note)
			}
			return nil
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&out, "out", "", "file (csv) or folder to write (required)")
	cmd.Flags().StringVar(&which, "which", string(exchange.Open), "images to export: open, labelled or all")
	cmd.Flags().StringVar(&imageURL, "image-url", "", "address of the images for Label Studio (default its local files)")
	cmd.Flags().StringVar(&imageFolder, "image-folder", "", "path of --root below Label Studio's local files (default its name)")
	return cmd
}

// state reads the ledger; a folder without one has no labels.
func (f *labelFiles) state(stderr io.Writer) (*labels.State, error) {
	path := filepath.Join(f.ledger, labels.File)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && f.run != "" {
		return nil, fmt.Errorf("%s: the run has no %s: it does not query people (--oracle ask)", f.run, labels.File)
	}
	s, note, err := labels.Read(os.DirFS(f.ledger), labels.File, f.dataset.Classes, labels.Options{Domain: labels.DomainIn(f.dataset)})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.ledger, err)
	}
	if note != "" {
		fmt.Fprintln(stderr, note)
	}
	return s, nil
}

// countItems describes the numbers of images and of labelled images.
func countItems(items []exchange.Item) string {
	labelled := 0
	for _, v := range items {
		if v.Class != "" {
			labelled++
		}
	}
	return fmt.Sprintf("%d images, %d of them with a label", len(items), labelled)
}

func newLabelImportCommand() *cobra.Command {
	f := labelFiles{reads: true}
	var o exchange.ReadOptions
	var rule string
	cmd := &cobra.Command{
		Use:         "import {RUN | --dataset folder --root DIR --classes LIST} --format FORMAT FILE...",
		Annotations: map[string]string{guide: "labelling.md"},
		Short:       "Import labels from other tools",
		Long: `Import labels that another tool has exported:

  csv          a table with id (or path, filename) and label (or class); optional
               annotator, seconds, flag, at, sha256; Hugging Face's metadata.csv
  labelstudio  a project's export as JSON
  cvat         ImageNet 1.0, Ultralytics YOLO Classification, or CVAT for images 1.1
  folder       class folders, as torchvision, FiftyOne and Roboflow write them
  coco         a .json file with images, annotations and categories, or an archive of it

Images are matched by SHA-256, ledg's id or path. Folders of a path have to agree with the
image's. Unknown images, unknown classes and several classes of one image are left out and
listed; with --strict they are an error, and nothing is imported.
A second import of a file changes nothing. The newest label of an annotator counts;
--disagreement decides where annotators differ. The command also prints the agreement of
annotators (Cohen's kappa).`,
		Example: `  ledg label import runs/mine --format labelstudio project-1-at-2026-01-01.json
  ledg label import --dataset folder --root photos --classes cat,dog --format csv ann.csv bob.csv --disagreement majority`,
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := f.open(cmd, args)
			if err != nil {
				return err
			}
			if len(files) == 0 {
				return usagef("no file to import")
			}
			if err := checkAnnotator(o.By); err != nil {
				return err
			}
			settle, err := labels.ParseRule(cmp.Or(rule, labels.Newest.String()))
			if err != nil {
				return usagef("--disagreement: %w", err)
			}
			o.Strict = f.data.strict
			o.Columns = f.columns
			events, left, err := f.read(cmd.Context(), files, o)
			if err != nil {
				return err
			}
			events, line, err := f.withinBudget(events)
			if err != nil {
				return err
			}
			if line != "" {
				fmt.Fprintln(cmd.ErrOrStderr(), line)
			}
			for _, note := range f.notes {
				fmt.Fprintln(cmd.ErrOrStderr(), cli.OneLine(errors.New(note)))
			}
			if err := f.take(cmd.OutOrStdout(), events, settle, rule != "", o.By); err != nil {
				return err
			}
			sayLeft(cmd.ErrOrStderr(), "left out (--strict stops instead)", "label", left)
			return nil
		},
	}
	f.add(cmd)
	cmd.Flags().Lookup("strict").Usage = "stop at labels that cannot be taken instead of leaving them out"
	cmd.Flags().StringVar(&o.Question, "question", "", "name of Label Studio's question (default the one with the classes)")
	cmd.Flags().StringVar(&o.By, "by", "", "annotator of labels that name none (default the tool)")
	cmd.Flags().StringVar(&rule, "disagreement", "", "which label counts where annotators differ: newest, majority or ask (default newest)")
	return cmd
}

// read reads the files and finds their images. left says what is left out.
func (f *labelFiles) read(ctx context.Context, files []string, o exchange.ReadOptions) (events []labels.Event, left []error, err error) {
	m := exchange.NewMatcher(f.dataset, func() ([]string, error) { return datasets.Digests(ctx, f.dataset, f.cache) })
	o.Classes, o.By = f.dataset.Classes, cmp.Or(o.By, string(f.form))
	for _, name := range files {
		im, err := exchange.Read(ctx, f.form, name, o)
		if err != nil {
			return nil, nil, err
		}
		more, err := im.Events(m)
		f.notes = append(f.notes, im.Notes...)
		if err != nil {
			return nil, nil, err
		}
		events, left = append(events, more...), append(left, im.Left...)
	}
	if len(events) == 0 {
		return nil, nil, fmt.Errorf("no label can be taken; %d left out, first %w", len(left), left[0])
	}
	return events, left, nil
}

// sayLeft lists what an import or an export has left out.
func sayLeft(w io.Writer, how, what string, left []error) {
	if len(left) == 0 {
		return
	}
	fmt.Fprintf(w, "%s: %s\n", how, count(len(left), what))
	const most = 50
	for _, err := range left[:min(len(left), most)] {
		fmt.Fprintf(w, "  %s\n", cli.OneLine(err))
	}
	if len(left) > most {
		fmt.Fprintf(w, "  and %d more\n", len(left)-most)
	}
}

// take imports events and reports on them.
func (f *labelFiles) take(w io.Writer, events []labels.Event, rule labels.Rule, setRule bool, by string) error {
	l, err := labels.Open(f.ledger, f.dataset.Classes, labels.Options{Domain: labels.DomainIn(f.dataset)})
	if err != nil {
		return err
	}
	defer l.Close()
	done, err := l.Import(events)
	if err != nil {
		return err
	}
	if setRule {
		if err := l.SetRule(rule, cmp.Or(by, userName()), "ledg label import"); err != nil {
			return err
		}
	}
	kinds := map[labels.Kind]int{}
	for _, e := range done.New {
		kinds[e.Kind]++
	}
	fmt.Fprintf(w, "%d labels read, %d of them new", len(events), len(done.New))
	for _, kind := range []labels.Kind{labels.Skipped, labels.Unsure, labels.Bad, labels.Corrected} {
		if n := kinds[kind]; n > 0 {
			fmt.Fprintf(w, ", %d %s", n, kind)
		}
	}
	fmt.Fprintf(w, "; %d known already, %d older than their annotators' newest labels\n", done.Known, done.Older)
	l.View(func(s *labels.State) { reportAgreement(w, s) })
	return nil
}
