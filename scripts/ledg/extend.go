package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/rundir/shell"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/rgb"
)

func newExtendCommand() *cobra.Command {
	var x ceg.Extension
	var f trainFlags
	var words model.WeightArgs
	classes := ""
	cmd := &cobra.Command{
		Use:         "extend RUN [--budget N] [--classes +NAME] [--root DIR] [--epochs N]",
		Annotations: map[string]string{flagGroups: extendGroups},
		Short:       "Train anew with the labels of a run, and more of them",
		Long: `Begin a new run with all labels of RUN and train anew. The flags say what changes: more
labels, a new class, images of another site (domain), corrected labels, or more epochs.
Everything else stays as in RUN, which is not modified and may be unfinished.

The new run continues like any other: ledg train --resume --out NEW. Labels of images that
are no longer there, or no longer trained on, are dropped and listed.`,
		Example: `  ledg extend runs/mine --budget 90
  ledg extend runs/mine --classes +cat --budget 90 --out runs/cats
  ledg extend runs/mine --root photos-with-another-site
  ledg extend runs/mine --labels corrected.csv --epochs 40`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			x.Of = args[0]
			if classes != "" {
				x.Classes = strings.Split(classes, ",")
				if !strings.Contains(classes, "+") {
					var err error
					if x.Classes, err = datasets.ReadClasses(classes); err != nil {
						return usagef("--classes: %w", err)
					}
				}
			}
			return extend(cmd, x, &f, words)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&x.Budget, "budget", "", "labels in total, those of RUN included (default RUN's)")
	flags.StringVar(&classes, "classes", "", "+NAME for a new class, or all classes (default RUN's)")
	flags.StringVar(&x.Root, "root", "", "folder of the images, or file of the features (default RUN's)")
	flags.StringArrayVar(&x.Exclude, "exclude", nil, "leave out files and folders, such as 'thumb_*'; repeatable (default RUN's)")
	flags.StringVar(&x.Labels, "labels", "", "file of labels that replaces RUN's")
	columnFlags(flags, &x.Columns)
	flags.StringVar(&x.Target, "target", "", "held-out target domain, or none (default RUN's)")
	flags.IntVar(&x.Epochs, "epochs", 0, "number of epochs (default RUN's)")
	bound(flags, "[1, 1000000]", "epochs")
	flags.StringVar(&words.Weights, "weights", "", "initial weights of RUN's network, if they have moved")
	flags.StringVar(&words.Style, "style-weights", "", "AdaIN weights of RUN, if they have moved")
	splitsFlag(cmd, &x.SplitsDir)
	flags.BoolVar(&x.FollowLinks, "follow-links", false, "use images behind links that lead out of --root")
	f.data.box.add(flags)
	f.addRunning(cmd, "folder of the new run (default RUN and a number)")
	return cmd
}

// extend makes the folder of the new run, says what it takes, and runs it.
func extend(cmd *cobra.Command, x ceg.Extension, f *trainFlags, words model.WeightArgs) error {
	x.CacheDir = f.cache
	if err := datasets.CheckPatterns(x.Exclude); err != nil {
		return usagef("--exclude: %w", err)
	}
	if err := checkRoot(x); err != nil {
		return err
	}
	if x.Budget != "" { // before new photos are embedded
		if _, err := active.ParseBudget(x.Budget); err != nil {
			return usagef("--budget: %w", err)
		}
	}
	if f.out = cmp.Or(f.out, nextTo(x.Of)); exists(filepath.Join(f.out, "config.json")) {
		return usagef("--out %s: the run exists: %s continues it, another --out begins a new one", f.out, shell.Line("ledg", "train", "--resume", "--out", f.out))
	}
	embedded, err := extendPhotos(cmd, &x, f)
	if err != nil {
		return err
	}
	e, err := ceg.Extend(x)
	if err != nil {
		return settingError(err)
	}
	f.backend, f.cache = cmp.Or(f.backend, e.Place.Backend), cmp.Or(f.cache, e.Place.CacheDir)
	e.Place.Backend, e.Place.CacheDir = f.backend, f.cache
	words = found(words, e.Place)
	options := ceg.Options{Dir: f.out, Resume: true, Backend: f.backend, CacheDir: f.cache, NoEstimate: f.noEstimate, Wait: f.wait || f.page}
	if embedded {
		options.Root, options.KeepFeatures = x.Root, true
	}
	if err := f.mayWait(e.Config); err != nil {
		return err
	}
	say := func(line string) { fmt.Fprintln(cmd.ErrOrStderr(), line) }
	if options.Weights, options.Style, err = model.OpenWeights(cmd.Context(), &e.Config, words, false, say); err != nil {
		return settingError(err)
	}
	if err := e.Write(f.out); err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	for _, line := range taken(x.Of, f.out, e) {
		fmt.Fprintln(w, line)
	}
	return f.train(cmd, e.Config, options)
}

// checkRoot returns an error if the folder of images has none of the run's.
func checkRoot(x ceg.Extension) error {
	info, err := os.Stat(x.Root)
	if x.Root == "" || err == nil && !info.IsDir() {
		return nil
	}
	if err != nil {
		return usagef("--root %s: %w", x.Root, errors.Unwrap(err))
	}
	_, d, _, err := run.OpenData(ceg.Options{Dir: x.Of})
	if err != nil || d.Len() == 0 {
		return nil // Extend says what is wrong
	}
	for _, e := range d.Examples {
		if exists(filepath.Join(x.Root, filepath.FromSlash(rgb.FilePath(e.ID)))) {
			return nil
		}
	}
	return usagef("--root %s has none of the images of %s, such as %s: put the new images into a folder beside those, and name the folder that has all of them", x.Root, x.Of, d.Examples[0].ID)
}

// taken says in a few lines what a run takes from another.
func taken(of, out string, e *ceg.Extended) (lines []string) {
	unfinished := ""
	if e.Unfinished {
		unfinished = ", which is unfinished"
	}
	var by []string
	for _, name := range slices.Sorted(maps.Keys(e.By)) {
		by = append(by, fmt.Sprintf("%s %d", name, e.By[name]))
	}
	lines = append(lines, fmt.Sprintf("%s begins with %s of %s%s (%s); %d of the budget of %s are left to query",
		out, count(e.Taken, "label"), of, unfinished, strings.Join(by, ", "), e.ToQuery, e.Config.Exploration.Budget))
	if n := len(e.Again); n > 0 {
		lines = append(lines, fmt.Sprintf("%s of none of the old classes: queried again", count(n, "image")))
	}
	if e.Corrected > 0 {
		lines = append(lines, fmt.Sprintf("%s corrected by the data set", count(e.Corrected, "label")))
	}
	for _, left := range []struct {
		ids []string
		why string
	}{{e.Gone, "images that no longer exist"}, {e.Aside, "images of the target or the validation split"}} {
		if n := len(left.ids); n > 0 {
			some, more := left.ids[:min(n, 5)], ""
			if n > len(some) {
				more = fmt.Sprintf(" and %d more", n-len(some))
			}
			lines = append(lines, fmt.Sprintf("%s dropped, of %s: %s%s", count(n, "label"), left.why, strings.Join(some, ", "), more))
		}
	}
	return lines
}

// count is a number of things.
func count(n int, what string) string { return english.Plural(n, what, "") }

var numbered = regexp.MustCompile(`-[0-9]{1,2}$`)

// nextTo names a folder beside a run's that is not there: RUN-2, RUN-3 and so on.
func nextTo(run string) string {
	run = filepath.Clean(run)
	stem := numbered.ReplaceAllString(run, "")
	for i := 2; ; i++ {
		if dir := fmt.Sprint(stem, "-", i); dir != run {
			if _, err := os.Lstat(dir); err != nil {
				return dir
			}
		}
	}
}
