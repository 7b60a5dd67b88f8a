package main

import (
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

// newStudyCommand returns the commands about studies.
func newStudyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "study",
		Short: "Run many runs from a file, or see how they stand",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newStudyRunCommand(), newStudyStatusCommand(), newStudyCollectCommand())
	return cmd
}

// rootsFlag adds --root, the folders of the data sets, and --splits.
func rootsFlag(cmd *cobra.Command, roots *map[string]string, splits *string) {
	splitsFlag(cmd, splits)
	cmd.Flags().StringToStringVar(roots, "root", nil, "folder of a data set, as DATASET=DIR, or features=FILE; may be repeated (default: $"+dataEnv+"/DATASET)")
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
			return nil, usagef("--root %s=%s: there is no data set %q; there are %s", name, dir, name, strings.Join(datasets.Names(), ", "))
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
	var shard string
	var dryRun, quiet, blind bool
	cmd := &cobra.Command{
		Use:   "run FILE",
		Short: "Do what is missing of a study",
		Long: `Do what is missing of the study in FILE: finished runs are never repeated,
interrupted ones go on where they were, failed ones are tried again, and a run that
fails does not stop the others. Any number of processes and machines can work on
one folder; each takes runs that no other is working on, and waits for the last of
the others. With --steal it does not wait: it does its --shard first, then what
nobody is working on of the rest, and ends when others have all that is left in
hand. Where locks do not reach from one machine to another, give each its own
--shard, without --steal. All must be built from one commit, unless --mix-commits
says otherwise.

The file is explained in scripts/studies/README.md.`,
		Example: `  ledg study run scripts/studies/table3-glyphs.yaml --dir runs/glyphs
  ledg study run table3.yaml --root pacs=/data/pacs --root officehome=/data/oh --shard 0/4`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Jobs < 1 {
				return usagef("--jobs %d: want 1 or more", o.Jobs)
			}
			var err error
			if shard != "" {
				if o.Shard, err = study.ParseShard(shard); err != nil {
					return usagef("--shard: %w", err)
				}
			}
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
			if o.Dir == "" {
				o.Dir = filepath.Join("runs", plan.Name)
			}
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
					return fmt.Errorf("interrupted with %d runs finished and %d left; the same command goes on", len(done.Finished), len(done.Left))
				}
				return err
			}
			if err := printStatus(cmd, folder); err != nil {
				return err
			}
			if n := len(done.Elsewhere); n > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "other processes are working on what is left: %d runs\n", n)
			}
			if n := len(done.Failed); n > 0 {
				return fmt.Errorf("%d of %d runs failed; %s says why, and the same command tries them again", n, n+len(done.Finished), shell.Line("ledg", "study", "status", o.Dir))
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Dir, "dir", "", "folder of the runs; several studies can share one (default: runs/NAME of the study)")
	flags.IntVar(&o.Jobs, "jobs", 1, "number of runs at a time; they share the GPUs of the machine")
	flags.StringVar(&shard, "shard", "", "do only part I of N parts, as I/N with I from 0 to N-1")
	flags.BoolVar(&o.Steal, "steal", false, "after the shard, take what nobody is working on of the others")
	rootsFlag(cmd, &o.Roots, &o.SplitsDir)
	flags.StringVar(&o.Backend, "backend", "", "what computes; see ledg backend --help (default: auto)")
	flags.StringVar(&o.CacheDir, "cache", "", "folder of decoded images (default: the user's cache folder)")
	flags.BoolVar(&o.MixCommits, "mix-commits", false, "go on where another commit of ledg has made runs; tables then say which")
	flags.BoolVar(&dryRun, "dry-run", false, "only count the runs and how they stand")
	flags.BoolVar(&quiet, "quiet", false, "no progress on stderr")
	flags.BoolVar(&blind, "blind", false, "no accuracies in the progress: of a study that is announced nobody looks at any before it has ended")
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
	var noQueries bool
	cmd := &cobra.Command{
		Use:   "collect DIR --to DIR",
		Short: "Collect the records of finished runs, without weights, to keep or to send them",
		Long: `Collect the plans and the records of the finished runs in a folder into another one:
the runs of a study in one file, about 3 kB each, beside its plan; those of no plan in
` + result.CollectedFile("") + `, unless --plan chooses plans. What was collected there before
stays, but for runs of the same name. Tables, figures and pages are made from it as from
the original, and DIR/RUN names a run as before; ledg study run does not repeat it.
Weights stay behind.`,
		Example: "  ledg study collect runs/glyphs --to notebooks/results/glyphs",
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
			var leaveOut []string
			if noQueries {
				leaveOut = []string{result.QueriesFile}
			}
			n, err := f.Collect(to, leaveOut...)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d runs are in %s\n", n, to)
			return nil
		},
	}
	plansFlag(cmd, &plans)
	cmd.Flags().StringVar(&to, "to", "", "folder to collect in (required)")
	cmd.Flags().BoolVar(&noQueries, "no-queries", false, "leave out what was asked for, which ledg asked and the figures asked, tsne and scores need")
	cmd.MarkFlagRequired("to")
	return cmd
}

func newStudyStatusCommand() *cobra.Command {
	var plans []string
	cmd := &cobra.Command{
		Use:   "status DIR",
		Short: "Show how the runs of a study's folder stand, and why some failed",
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
	cmd.Flags().StringSliceVar(plans, "plan", nil, "name of a study in the folder; may be repeated (default: all)")
}
