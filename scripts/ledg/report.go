package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/learner/checkpoint"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/report/page"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
	"github.com/ledg-go/ledg/ceg/rundir/shell"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

func newReportCommand() *cobra.Command {
	var o page.Options
	var w ceg.Options
	var out string
	cmd := &cobra.Command{
		Use:        "report {RUN... | STUDY} --out FILE.html",
		SuggestFor: []string{"html", "dashboard"},
		Short:      "Write runs or a study as one HTML page",
		Long: `Write runs as one HTML page: accuracies, curves, queried images with scores, calibration,
confusion matrix, settings and versions. The page loads nothing and has no script.
Nothing is written into the runs: the calibration of a run without one is
computed for the page alone.`,
		Example: `  ledg report runs/mine --out mine.html
  ledg report runs/demo/ledg runs/demo/ceg --out demo.html`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if ext := filepath.Ext(out); ext != ".html" {
				return usagef("--out %s: want a name that ends in .html", out)
			}
			var err error
			if o.Figures.Roots, err = withEnvironment(o.Figures.Roots); err != nil {
				return err
			}
			var folders []*report.Folder
			for _, dir := range args {
				f, err := openForReport(dir)
				if err != nil {
					return err
				}
				folders = append(folders, f)
			}
			if err = calibrations(cmd, folders, &o, w); err != nil {
				return err
			}
			err = regular.WriteFile(out, func(w io.Writer) error {
				return page.Write(cmd.Context(), w, "ledg: "+strings.Join(args, ", "), folders, o)
			})
			if err != nil {
				return err
			}
			info, err := os.Stat(out)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s  %d kB\n", out, (info.Size()+999)/1000)
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&out, "out", "", "page to write, .html (required)")
	flags.IntVar(&o.Runs, "runs", 0, "number of runs shown one by one (default 8)")
	flags.IntVar(&o.Pictures, "pictures", 0, "number of images of each kind (default 48)")
	bound(flags, "[0, 100000]", "runs", "pictures")
	rootsFlag(cmd, &o.Figures.Roots, &o.Figures.SplitsDir)
	flags.StringVar(&w.Backend, "backend", "", "backend that computes; see ledg backend --help (default auto)")
	cmd.MarkFlagRequired("out")
	return cmd
}

// openForReport opens a run or a study's folder.
func openForReport(dir string) (*report.Folder, error) {
	if site.Is(dir) {
		return nil, usagef("%s is a site; ledg site writes its page, %s", dir, filepath.Join(dir, site.PageFile))
	}
	fsys, err := result.FS(dir)
	if err != nil {
		return nil, err
	}
	if _, err := fs.Stat(fsys, result.ConfigFile); err == nil {
		if !result.Finished(fsys) {
			return nil, fmt.Errorf("%s is unfinished, so there is nothing to report: %s continues it", dir, shell.Line("ledg", "train", "--resume", "--out", dir))
		}
		return report.OpenRun(dir)
	}
	return report.Open(dir)
}

// calibrations computes, for the page alone, the calibrations of the runs that will be shown and have
// none of their weights.
func calibrations(cmd *cobra.Command, folders []*report.Folder, o *page.Options, w ceg.Options) error {
	dirs, err := page.Shown(folders, *o)
	if err != nil {
		return err
	}
	o.Stale, o.Calibrations = map[string]string{}, map[string]*calibration.Calibration{}
	for _, dir := range dirs {
		if !checkpoint.Exists(dir) {
			continue // records alone
		}
		w.Dir, w.Root, w.SplitsDir = dir, o.Figures.Roots[datasetOf(folders, dir)], o.Figures.SplitsDir
		stale := predict.CheckCalibration(w)
		if stale == nil {
			continue
		}
		note := "The run is not calibrated, so its predictions are at temperature 1"
		if !errors.Is(stale, fs.ErrNotExist) {
			note = cli.OneLine(stale)
			o.Stale[dir] = note
		}
		var c *calibration.Calibration
		p, err := predict.OpenUncalibrated(w)
		if err == nil {
			c, err = p.Calibration(cmd.Context())
			p.Close()
		}
		if err != nil { // the page has the rest
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: not calibrated: %s\n", dir, strings.TrimPrefix(cli.OneLine(err), dir+": "))
			continue
		}
		o.Calibrations[dir] = c
		o.Stale[dir] = fmt.Sprintf("%s. The calibration below was computed for this page alone; %s stores it.", note, shell.Line("ledg", "calibrate", dir))
	}
	return nil
}

// datasetOf returns the data set of the run in a directory.
func datasetOf(folders []*report.Folder, dir string) string {
	for _, f := range folders {
		for _, r := range f.Runs {
			if filepath.Join(f.Path, r.Dir) == dir {
				return r.Dataset
			}
		}
	}
	return ""
}
