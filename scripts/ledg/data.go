package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/foreign"
	"github.com/ledg-go/ledg/datasets/rgb"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

func newDataCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "data",
		SuggestFor:  []string{"dataset", "datasets"},
		Annotations: map[string]string{guide: "photos.md"},
		Short:       "List and check data sets, find near-duplicates, write example photos",
		RunE:        func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newDataListCommand(), newDataCheckCommand(), newDataGroupsCommand(), newDataExampleCommand())
	return cmd
}

func newDataListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the data sets",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			t := &result.Table{Columns: []result.Column{{Name: "data set"}, {Name: "needs"}, {Name: "what it is"}}}
			for _, info := range datasets.All() {
				needs := "nothing"
				if info.Files {
					needs = "--root DIR"
				}
				if info.Vectors {
					needs = "--root FILE"
				}
				t.AddRow(info.Name, needs, info.About)
			}
			return t.Write(cmd.OutOrStdout(), result.Text)
		},
	}
}

func newDataCheckCommand() *cobra.Command {
	var source dataFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check every image or feature vector of a data set",
		Long: `Read every image, or feature vector, of a data set. Print labelled and unlabelled counts per
site (domain) and class, unreadable files, byte-identical images, missing classes, and
differences from the published data set. The exit status is 1 if an image is unreadable.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			source.say = func(format string, args ...any) { fmt.Fprintf(cmd.ErrOrStderr(), format, args...) }
			d, truth, err := source.openDataset()
			if err != nil {
				return err
			}
			report, err := datasets.Check(cmd.Context(), d, truth, nil)
			if err != nil {
				return err
			}
			if asJSON {
				err = json.NewEncoder(cli.Raw(cmd.OutOrStdout())).Encode(report)
			} else {
				out := cmd.OutOrStdout()
				sayRead(out, &source)
				_, err = report.WriteTo(out)
			}
			if err != nil {
				return err
			}
			if n := len(report.Unreadable); n > 0 {
				what := "images cannot be decoded"
				if report.Dim > 0 {
					what = "vectors cannot be trained on"
				}
				then := ""
				if d.Name == photoDataset {
					then = "; ledg train leaves them out"
				}
				return fmt.Errorf("%s: %d %s, first %s: %s%s",
					d.Name, n, what, report.Unreadable[0].ID, report.Unreadable[0].Reason, then)
			}
			return nil
		},
	}
	source.add(cmd)
	source.addOwn(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object instead of text")
	return cmd
}

// dataFlags are the flags that name a data set.
type dataFlags struct {
	dataset, root, splits string
	splitSeed             uint64
	classes, labels       string
	columns               datasets.ColumnNames
	box                   boxFlags
	events                time.Duration
	// gap is that of the events in labels, once they are there, with what was said of them.
	gap        time.Duration
	eventNotes string
	group      string
	decode     string
	// usual is the rule that decodes photos without --decode; empty for rgb.Photo.
	usual        rgb.Decoding
	layout, site string
	// read has lines on how the folder and the labels were read, once they are open, and notes
	// those on the labels alone.
	read, notes string
	// noClasses is true if folders in folders are no classes since a table names others.
	noClasses   bool
	exclude     []string
	strict      bool
	followLinks bool
	// say reports progress while a large folder is listed; it may be nil.
	say func(format string, args ...any)
}

func (f *dataFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.dataset, "dataset", datasets.Drawn, "data set: "+strings.Join(datasets.Names(), ", "))
	cmd.Flags().StringVar(&f.root, "root", "", "folder of the images, or file of the feature vectors")
	splitsFlag(cmd, &f.splits)
	cmd.Flags().Uint64Var(&f.splitSeed, "split-seed", 0, "seed of the train/validation split where none is official")
	cmd.Flags().StringVar(&f.group, "group", "", "groups that no split divides: a regular expression over paths (default none)")
	for path, value := range map[string]*string{"data.decode": &f.decode, "data.layout": &f.layout, "data.site": &f.site} {
		if s, err := config.Lookup(path); err == nil {
			cmd.Flags().StringVar(value, s.Flag, "", s.Help+defaultText(s))
		}
	}
}

// addOwn adds the flags about the user's own images.
func (f *dataFlags) addOwn(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.classes, "classes", "", "class names, as a,b,c or a file with one a line")
	cmd.Flags().StringVar(&f.labels, "labels", "", "file of labels, sites or groups: .csv, .tsv, .jsonl, or a labels.jsonl")
	columnFlags(cmd.Flags(), &f.columns)
	cmd.Flags().StringArrayVar(&f.exclude, "exclude", nil, "leave out files and folders, such as 'thumb_*'; repeatable (default none)")
	cmd.Flags().BoolVar(&f.strict, "strict", false, "stop at images that cannot be read instead of leaving them out")
	cmd.Flags().BoolVar(&f.followLinks, "follow-links", false, "use images behind links that lead out of --root")
	cmd.Flags().DurationVar(&f.events, "events", 0, "gap that ends an event of a folder's photos, such as 60s")
	f.box.add(cmd.Flags())
	cmd.Flags().BoolVar(&f.box.Labels, "box-labels", false, "classes of boxes are labels, as in COCO and CVAT")
}

// columnFlags adds the flags that choose the columns of a table.
func columnFlags(flags *pflag.FlagSet, c *datasets.ColumnNames) {
	for what, name := range map[string]*string{"id": &c.ID, "class": &c.Class, "site": &c.Site, "group": &c.Group} {
		flags.StringVar(name, what+"-column", "", fmt.Sprintf("column of the table that has the %s (default by its names)", what))
	}
}

func splitsFlag(cmd *cobra.Command, splits *string) {
	cmd.Flags().StringVar(splits, "splits", "", "folder of the PACS split lists (default in or beside --root)")
}

// check validates the flags before anything is read.
func (f *dataFlags) check() error {
	info, ok := datasets.Lookup(f.dataset)
	if !ok {
		return usagef("--dataset %q: want one of %s", f.dataset, strings.Join(datasets.Names(), ", "))
	}
	for _, own := range []struct{ flag, value string }{{"--classes", f.classes}, {"--labels", f.labels}} {
		if own.value != "" && !info.Yours {
			return usagef("%s %s: %s has its own classes; --dataset folder takes your own images", own.flag, own.value, info.Name)
		}
	}
	if _, err := datasets.ParseGroup(f.group); err != nil {
		return usagef("--group: %w", err)
	}
	if _, err := f.decoding(); err != nil {
		return err
	}
	if f.layout+f.site != "" && f.dataset != photoDataset {
		return usagef("--layout, --site: --dataset %s takes your own images, which have a layout", photoDataset)
	}
	if err := datasets.CheckLayout(f.layout, f.site); err != nil {
		return usagef("--layout: %w", err)
	}
	if err := datasets.CheckPatterns(f.exclude); err != nil {
		return usagef("--exclude: %w", err)
	}
	if b, err := f.box.boxes(); err != nil || b != nil && f.dataset != photoDataset {
		return cmp.Or(err, usagef("--boxes %s: --dataset %s does not support it: boxes are in a folder of your own images, and features are of what they were computed from", f.box.File, photoDataset))
	}
	if len(f.exclude) > 0 && f.dataset != photoDataset {
		return usagef("--exclude %s: --dataset %s does not support it: only files of your own images can be left out", f.exclude[0], photoDataset)
	}
	if !info.Files {
		if f.root != "" && info.Name != datasets.Drawn {
			return usagef("--root %s: %s is embedded in ledg, not read; --dataset folder takes your own images", f.root, info.Name)
		}
		if f.root != "" {
			return usagef("--root %s: %s is drawn, not read; --dataset folder takes your own images", f.root, info.Name)
		}
		return nil
	}
	if f.root == "" {
		if info.Vectors {
			return usagef("--root is missing: the .npz, .safetensors or .parquet file of the features")
		}
		return usagef("--root is missing: the folder of the images of %s", f.dataset)
	}
	if info.Vectors {
		if info, err := os.Stat(f.root); err != nil {
			return usagef("--root %s: %w", f.root, errors.Unwrap(err))
		} else if info.IsDir() {
			return usagef("--root %s: a folder, want the file of the features", f.root)
		}
		return nil
	}
	for _, dir := range []struct{ flag, path string }{{"--root", f.root}, {"--splits", f.splits}} {
		if dir.path == "" {
			continue
		}
		if info, err := os.Stat(dir.path); err != nil {
			return usagef("%s %s: %w", dir.flag, dir.path, errors.Unwrap(err))
		} else if !info.IsDir() {
			if err := foreign.Check(dir.path); err != nil {
				return usagef("%s %w", dir.flag, err)
			}
			return usagef("%s %s: not a folder", dir.flag, dir.path)
		}
	}
	return nil
}

func (f *dataFlags) openDataset() (*datasets.Dataset, datasets.Truth, error) {
	o, err := f.layoutOptions()
	if err != nil {
		return nil, datasets.Truth{}, err
	}
	d, truth, err := datasets.Open(f.dataset, f.root, o)
	if err != nil {
		return d, truth, err
	}
	lines := d.Notes
	if f.notes != "" {
		lines = slices.Insert(slices.Clone(lines), 0, f.notes)
	}
	if f.notes = strings.Join(lines, "\n"); f.dataset == photoDataset {
		lines = append([]string{d.DescribeLayout(f.layout, cmp.Or(datasets.SitesBy(o.Labels), f.site), truth)}, lines...)
		if o.Classes == nil { // those of --classes are intended
			lines = append(lines, d.NearClasses()...)
		}
		if f.noClasses {
			lines = append(lines, fmt.Sprintf("folders in folders are not classes: no class in %s has the name of one", f.labels))
		}
	}
	f.read = strings.Join(append(lines, d.DescribeSplits(truth)...), "\n")
	return d, truth, nil
}

// sayRead says how a folder was read, if one was.
func sayRead(w io.Writer, f *dataFlags) {
	if f.read != "" {
		fmt.Fprintln(w, f.read)
	}
}

// layoutOptions validates the flags, reads what they name, and finds the layout.
func (f *dataFlags) layoutOptions() (o datasets.Options, err error) {
	if err := f.check(); err != nil {
		return o, err
	}
	if o, err = f.options(); err != nil {
		return o, err
	}
	return o, f.recognise(&o)
}

// recognise finds the layout of a folder of images where no flag names one, for options of which the
// classes and labels are known. With a rule for groups, folders in folders are frames.
func (f *dataFlags) recognise(o *datasets.Options) error {
	if f.dataset != photoDataset || f.layout+f.site+f.group != "" {
		return nil
	}
	var err error
	given := o.Labels
	if f.gap > 0 { // without those that only have an event
		given = slices.DeleteFunc(slices.Clone(given), func(l datasets.Label) bool { return l.Class+l.Site+l.Split == "" })
	}
	f.layout, err = datasets.Recognise(os.DirFS(f.root), f.exclude, o.Classes, given)
	var unclear *datasets.UnclearError
	switch {
	case !errors.As(err, &unclear):
		f.noClasses = f.layout == datasets.WithoutClasses && o.Classes == nil && len(given) > 0
	case !term.IsTerminal(int(os.Stdin.Fd())):
		return usagef("--root %s: %w", f.root, err)
	case allowed(os.Stdin, os.Stderr, fmt.Sprintf("Are the folders of the sites, such as %s, classes?", unclear.Example)):
		f.layout, err = datasets.WithClasses, nil
	default:
		f.layout, err = datasets.WithoutClasses, nil
	}
	o.Layout = f.layout
	return err
}

// decoding says which pixels files of images stand for.
func (f *dataFlags) decoding() (rgb.Decoding, error) { return f.decodingOr(cmp.Or(f.usual, rgb.Photo)) }

// decodingOr is decoding with the rule that is usual for photos.
func (f *dataFlags) decodingOr(usual rgb.Decoding) (rgb.Decoding, error) {
	d, err := f.wholeOr(usual)
	if f.box.File != "" && err == nil {
		d = d.OfBoxes()
	}
	return d, err
}

func (f *dataFlags) wholeOr(usual rgb.Decoding) (rgb.Decoding, error) {
	own := f.dataset == photoDataset
	switch {
	case f.decode == "" && own:
		return usual, nil
	case f.decode == "":
		return rgb.Stored, nil
	case !own:
		return "", usagef("--decode %s: --dataset %s has its own decoding; --dataset %s takes your own images", f.decode, f.dataset, photoDataset)
	}
	d, err := rgb.ParseDecoding(f.decode)
	if err != nil {
		return "", usagef("--decode: %w", err)
	}
	return d, nil
}

// origin adds where the images are to the origin of their features.
func (f *dataFlags) origin(o datasets.Origin) (datasets.Origin, error) {
	info, _ := datasets.Lookup(f.dataset)
	o.Dataset, o.Exclude, o.Layout, o.SiteRule = f.dataset, f.exclude, f.layout, f.site
	o.FollowLinks = f.followLinks || !info.Yours // other data sets always follow links
	var err error
	if o.Decoding, err = f.decoding(); err != nil {
		return o, err
	}
	if f.root != "" {
		o.Root, err = filepath.Abs(f.root)
	}
	return o, err
}

// options reads what the flags name.
func (f *dataFlags) options() (o datasets.Options, err error) {
	o = datasets.Options{Strict: f.strict, Seed: f.splitSeed, SplitsDir: f.splits, FollowLinks: f.followLinks, Group: f.group, Patterns: f.exclude, Layout: f.layout, SiteRule: f.site}
	if o.Decoding, err = f.decoding(); err != nil {
		return o, err
	}
	if o.Boxes, err = f.box.boxes(); err != nil {
		return o, err
	}
	if f.say != nil {
		o.Looked = looking(f.root, f.say)
	}
	if f.classes != "" {
		if o.Classes, err = datasets.ReadClasses(f.classes); err != nil {
			return o, usagef("--classes: %w", err)
		}
	}
	if f.labels != "" {
		t, err := labels.ReadTable(f.labels, f.columns)
		if err != nil {
			return o, usagef("--labels: %w", err)
		}
		o.Labels, f.notes = t.Labels, t.Note
	}
	if err := f.withEvents(&o); err != nil {
		return o, err
	}
	if f.eventNotes != "" {
		f.notes = strings.TrimPrefix(f.notes+"\n"+f.eventNotes, "\n")
	}
	return o, nil
}

// looking says every few seconds how many files of a folder were looked into.
func looking(root string, say func(format string, args ...any)) func(files int) {
	var next time.Time
	return func(files int) {
		switch now := time.Now(); {
		case next.IsZero():
			next = now.Add(2 * time.Second)
		case now.After(next):
			next = now.Add(5 * time.Second)
			say("reading the files of %s: %d so far\n", root, files)
		}
	}
}
