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
	"github.com/ledg-go/ledg/datasets"
)

// labelFiles are the common flags of ledg label export and import, and the data they name.
type labelFiles struct {
	data   dataFlags
	ledger string
	format string
	cache  string

	run     string // folder of a run, empty for a data set
	dataset *datasets.Dataset
	truth   datasets.Truth
	root    string
	form    exchange.Format
	// noImages says why there are no files of images.
	noImages error
}

func (f *labelFiles) add(cmd *cobra.Command) {
	f.data.add(cmd)
	f.data.addOwn(cmd)
	var names []string
	for _, form := range exchange.Formats() {
		names = append(names, string(form))
	}
	cmd.Flags().StringVar(&f.ledger, "ledger", "", "folder of labels.jsonl (default RUN, or --root)")
	cmd.Flags().StringVar(&f.format, "format", "", "the tool: "+strings.Join(names, ", ")+" (required)")
	cmd.Flags().StringVar(&f.cache, "cache", "", "folder of decoded images and features (default the user's cache folder)")
}

// open checks the flags and opens the data set. The first argument is a run's folder,
// unless flags name a data set; the others are returned.
func (f *labelFiles) open(cmd *cobra.Command, args []string) (rest []string, err error) {
	if f.format == "" {
		return nil, usagef("--format is missing: csv, labelstudio, cvat, fiftyone or folder")
	}
	if f.form, err = exchange.ParseFormat(f.format); err != nil {
		return nil, usagef("--format: %w", err)
	}
	if cmd.Flags().Changed("dataset") {
		f.data.say = func(format string, args ...any) { fmt.Fprintf(cmd.ErrOrStderr(), format, args...) }
		if f.dataset, f.truth, err = f.data.openDataset(); err != nil {
			return nil, err
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
		c, data, truth, err := ceg.OpenData(o)
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

// options are those of the ledger.
func (f *labelFiles) options() labels.Options {
	return labels.Options{Domain: func(id string) (string, bool) {
		i, ok := f.dataset.Index(id)
		if !ok {
			return "", false
		}
		return f.dataset.Domains[f.dataset.Examples[i].Domain], true
	}}
}

// newLabelExportCommand returns the command that exports queries and labels.
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
  fiftyone     data/ and labels.json (FiftyOneImageClassificationDataset)
  folder       domain/class/image; without a class, domain/_unlabeled/image

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
			items := exchange.Items(f.dataset, f.truth, s, w, f.run == "")
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
	oldFlags(cmd, "images", "which", "rule", "disagreement")
	return cmd
}

// state reads the ledger; a folder without one has no labels.
func (f *labelFiles) state(stderr io.Writer) (*labels.State, error) {
	path := filepath.Join(f.ledger, labels.File)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && f.run != "" {
		return nil, fmt.Errorf("%s: the run has no %s: it does not query people (--oracle ask)", f.run, labels.File)
	}
	s, note, err := labels.Read(os.DirFS(f.ledger), labels.File, f.dataset.Classes, f.options())
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

// newLabelImportCommand returns the command that imports labels.
func newLabelImportCommand() *cobra.Command {
	var f labelFiles
	var by, rule string
	cmd := &cobra.Command{
		Use:         "import {RUN | --dataset folder --root DIR --classes LIST} --format FORMAT FILE...",
		Annotations: map[string]string{guide: "labelling.md"},
		Short:       "Import labels from other tools",
		Long: `Import labels that another tool has exported:

  csv          id and label; optional annotator, seconds, flag, at, sha256
  labelstudio  JSON, JSON_MIN, CSV or TSV
  cvat         ImageNet 1.0, Ultralytics YOLO Classification, or CVAT for images 1.1
  fiftyone     a folder with labels.json and data/, or of class folders
  folder       a folder of class folders, as torchvision and Roboflow write them

Images are matched by ledg's id, else by SHA-256, else by path. An unknown image or class
is an error, and then nothing is imported. A second import of a file changes nothing. The
newest label of an annotator counts; --disagreement decides where annotators differ. The command
also prints the agreement of annotators (Cohen's kappa).`,
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
			if err := checkAnnotator(by); err != nil {
				return err
			}
			settle, err := labels.ParseRule(cmp.Or(rule, labels.Newest.String()))
			if err != nil {
				return usagef("--disagreement: %w", err)
			}
			events, err := f.read(cmd.Context(), files, by)
			if err != nil {
				return err
			}
			return f.take(cmd.OutOrStdout(), events, settle, rule != "", by)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&by, "by", "", "annotator of labels that name none (default the tool)")
	cmd.Flags().StringVar(&rule, "disagreement", "", "which label counts where annotators differ: newest, majority or ask (default newest)")
	oldFlags(cmd, "rule", "disagreement")
	return cmd
}

// read reads the files and finds their images.
func (f *labelFiles) read(ctx context.Context, files []string, by string) ([]labels.Event, error) {
	m := exchange.NewMatcher(f.dataset, func() ([]string, error) { return datasets.Digests(ctx, f.dataset, f.cache) })
	var events []labels.Event
	for _, name := range files {
		answers, err := exchange.Read(ctx, f.form, name)
		if err != nil {
			return nil, err
		}
		more, err := exchange.Events(answers, f.form, m, f.dataset.Classes, cmp.Or(by, string(f.form)))
		if err != nil {
			return nil, err
		}
		events = append(events, more...)
	}
	return events, nil
}

// take imports events and reports on them.
func (f *labelFiles) take(w io.Writer, events []labels.Event, rule labels.Rule, setRule bool, by string) error {
	l, err := labels.Open(f.ledger, f.dataset.Classes, f.options())
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
