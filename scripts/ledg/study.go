package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/shell"
	"github.com/ledg-go/ledg/ceg/study"
	"github.com/ledg-go/ledg/datasets"
)

// dataEnv is the folder that holds the data sets' folders, by their names.
const dataEnv = "LEDG_DATA"

func newStudyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "study",
		SuggestFor:  []string{"sweep", "experiment"},
		Annotations: map[string]string{guide: "clusters.md"},
		Short:       "Run many runs from a file, and show their status",
		RunE:        func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newStudyRunCommand(), newStudyStatusCommand(), newStudyCollectCommand())
	return cmd
}

// rootsFlag adds --root, the folders of the data sets, and --splits.
func rootsFlag(cmd *cobra.Command, roots *map[string]string, splits *string) {
	splitsFlag(cmd, splits)
	cmd.Flags().Func("root", "folder of your images, `DIR`, or of a data set, DATASET=DIR; repeatable (default $"+dataEnv+"/DATASET)", func(text string) error {
		names, dir := []string{datasets.FolderName, datasets.FeaturesFile}, text
		if name, rest, ok := strings.Cut(text, "="); ok && !exists(text) {
			names, dir = []string{name}, rest
		}
		if *roots == nil {
			*roots = map[string]string{}
		}
		for _, name := range names {
			(*roots)[name] = dir
		}
		return nil
	})
}

// withEnvironment adds the data sets under $LEDG_DATA to the roots.
func withEnvironment(roots map[string]string) (map[string]string, error) {
	all := map[string]string{}
	if dir := os.Getenv(dataEnv); dir != "" {
		for _, name := range datasets.Names() {
			if path := filepath.Join(dir, name); isDir(path) {
				all[name] = path
			}
		}
	}
	for name, dir := range roots {
		if !slices.Contains(datasets.Names(), name) {
			return nil, usagef("--root %s=%s: no such folder, and there is no data set %q; there are %s", name, dir, name, strings.Join(datasets.Names(), ", "))
		}
		all[name] = dir
	}
	return all, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func newStudyRunCommand() *cobra.Command {
	var o study.Options
	var of shardValue
	var dryRun, quiet, blind bool
	cmd := &cobra.Command{
		Use:         "run FILE",
		Annotations: map[string]string{guide: "clusters.md"},
		Short:       "Run the missing runs of a study",
		Long: `Run the missing runs of the study in FILE. Finished runs are skipped, interrupted ones
continue, and failed ones are tried again. A failed run does not stop the others.

Several processes and machines can share one folder: each takes runs that no other is
working on, and waits for the others at the end. Where file locks do not reach other
machines, give each its own --shard.

All processes need the same commit of ledg, unless --mix-commits is given. The file format
is described in scripts/studies/README.md.`,
		Example: `  ledg study run scripts/studies/table3-glyphs.yaml --dir runs/glyphs
  ledg study run table3.yaml --root pacs=/data/pacs --root officehome=/data/oh --shard 0/4`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Shard = of.Shard
			var err error
			if o.Roots, err = withEnvironment(o.Roots); err != nil {
				return err
			}
			s, err := study.Load(args[0])
			if err != nil {
				return err
			}
			plan, err := s.Plan()
			if err != nil {
				return err
			}
			o.Dir = cmp.Or(o.Dir, filepath.Join("runs", plan.Name))
			folder := report.NewFolder(o.Dir, plan.File())
			if dryRun {
				return printStatus(cmd, folder)
			}
			stop := func() {}
			if !quiet {
				p := newStudyProgress(cmd.ErrOrStderr())
				p.blind = blind
				o.Observe, stop = p.observe, p.close
			}
			done, err := plan.Run(cmd.Context(), o)
			stop()
			if err != nil {
				if ctx := cmd.Context(); errors.Is(err, context.Cause(ctx)) && ctx.Err() != nil {
					return fmt.Errorf("interrupted with %d runs finished and %d left; the same command continues", len(done.Finished), len(done.Left))
				}
				return err
			}
			if err := printStatus(cmd, folder); err != nil {
				return err
			}
			for _, name := range done.Unchecked {
				fmt.Fprintf(cmd.ErrOrStderr(), "%[1]s: the data is not here (--root %[1]s=PATH), so its finished runs are not compared with it\n", name)
			}
			if n := len(done.Failed); n > 0 {
				return fmt.Errorf("%d of %d runs failed: %s shows why, and the same command tries again", n, n+len(done.Finished), shell.Line("ledg", "study", "status", o.Dir))
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Dir, "dir", "", "folder of the runs (default runs/NAME of the study)")
	flags.IntVar(&o.Jobs, "jobs", 1, "number of concurrent runs; they share the GPUs")
	bound(flags, "[1, 1024]", "jobs")
	flags.Var(&of, "shard", shardUsage)
	rootsFlag(cmd, &o.Roots, &o.SplitsDir)
	flags.StringArrayVar(&o.Labels, "labels", nil, "file of labels that data.labels names by digest; repeatable")
	flags.StringVar(&o.Backend, "backend", "", "backend that computes; see ledg backend --help (default auto)")
	flags.StringVar(&o.CacheDir, "cache", "", "folder of decoded images and features (default the user's cache folder)")
	flags.BoolVar(&o.MixCommits, "mix-commits", false, "continue runs of another commit; tables say which")
	flags.BoolVar(&dryRun, "dry-run", false, "print the status of the runs and exit")
	flags.BoolVar(&quiet, "quiet", false, "print no progress on stderr")
	flags.BoolVar(&blind, "hide-accuracy", false, "show no accuracies, for preregistered studies")
	return cmd
}

// printStatus prints how the runs of a folder stand, and why some failed.
func printStatus(cmd *cobra.Command, f *report.Folder) error {
	t, err := f.StatusTable()
	if err != nil {
		return err
	}
	list, err := f.Failures()
	if err != nil {
		return err
	}
	for _, x := range list {
		first, _, _ := strings.Cut(x.Err.Error(), "\n")
		t.Notes = append(t.Notes, fmt.Sprintf("failed: %s: %s", x.Run.Dir, first))
	}
	return t.Write(cmd.OutOrStdout(), result.Text)
}

func newStudyCollectCommand() *cobra.Command {
	var plans []string
	var to string
	var omit result.Omit
	cmd := &cobra.Command{
		Use:   "collect DIR --out DIR",
		Short: "Collect the records of finished runs, without weights",
		Long: `Copy the plans and records of finished runs in DIR to another folder, about 3 kB a run. Runs
without a plan go to ` + result.CollectedFile("") + `, unless --plan selects plans. Earlier
records stay, except for runs of the same name. Tables, figures and pages can be made from
the copy, and ledg study run does not repeat its runs. Weights are not copied.`,
		Example: "  ledg study collect runs/glyphs --out notebooks/results/glyphs",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := report.Open(args[0], plans...)
			if errors.Is(err, result.ErrNoPlans) {
				f, err = report.NewFolder(args[0]), nil
			}
			if err == nil && len(plans) == 0 {
				err = f.AddUnplanned()
			}
			if err != nil {
				return err
			}
			n, err := f.Collect(to, omit)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d runs are in %s\n", n, to)
			return nil
		},
	}
	plansFlag(cmd, &plans)
	cmd.Flags().StringVar(&to, "out", "", "folder to write (required)")
	cmd.Flags().BoolVar(&omit.Training, "no-training", false, "leave out what describes training: losses, learning rates, times, pseudo-labels")
	cmd.Flags().BoolVar(&omit.Queries, "no-queries", false, "leave out the queries, which some figures need")
	cmd.MarkFlagRequired("out")
	return cmd
}

func newStudyStatusCommand() *cobra.Command {
	var plans []string
	cmd := &cobra.Command{
		Use:   "status DIR",
		Short: "Show the status of a study, and why runs failed",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := report.Open(args[0], plans...)
			if err != nil {
				return err
			}
			return printStatus(cmd, f)
		},
	}
	plansFlag(cmd, &plans)
	return cmd
}

// plansFlag adds --plan, the studies to read in a folder.
func plansFlag(cmd *cobra.Command, plans *[]string) {
	cmd.Flags().StringSliceVar(plans, "plan", nil, "name of a study in the folder; repeatable (default all)")
}
