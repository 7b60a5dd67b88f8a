package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/report/page"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
	"github.com/ledg-go/ledg/ceg/rundir/shell"
	"github.com/ledg-go/ledg/ceg/study"
	"github.com/ledg-go/ledg/plots"
)

func newFigureCommand() *cobra.Command {
	o := report.FigureOptions{}
	var weights ceg.Options // of runs whose weights are needed
	var dir, runDir, out, title string
	var seed uint64
	var plans []string
	var names map[string]string
	theme, band := "print", string(plots.CI)
	cmd := &cobra.Command{
		Use:         "figure NAME {--dir DIR | --run DIR} --out FILE",
		Aliases:     []string{"plot"},
		Annotations: map[string]string{flagGroups: figureGroups},
		Short:       "Draw a figure from the records of a study or run",
		Long: `Draw a figure as SVG, PDF or PNG, by the extension of --out. tsne can also be an
.html page that shows the image under the pointer and loads nothing:

  sensitivity  accuracy over the swept parameters
  budget       accuracy over the budget, per target and on average
  targets      accuracy on every target, a dot per seed
  epochs       accuracy over the epochs, with the query rounds
  queried      queried images of a run with their scores
  tsne         map of a run's features by class and domain, with queried images
  scores       scores of the last query, against those of all candidates
  reliability  confidence against accuracy, before and after ledg calibrate

Curves are means over seeds, with 95% Student-t intervals or another --band. The last four show one run:
select it with --run, or with --method, --target and --seed. tsne and scores need the
run's weights (checkpoint.safetensors) once, and save what they compute in the run's folder.

Texts in .svg and .pdf can be selected and searched; in .pdf without titles and Greek letters.`,
		Example: `  ledg figure budget --dir runs/glyphs --out budget.svg
  ledg figure queried --dir runs/glyphs --target sketch --out queried.png
  ledg figure queried --run runs/mine --out queried.png
  ledg figure tsne --dir runs/glyphs --target sketch --seed 2 --out tsne.pdf
  ledg figure tsne --run runs/mine --out tsne.html`,
		ValidArgs: append(report.FigureNames(), "reliability"),
		Args:      cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("figure", args[0], append(report.FigureNames(), "reliability")); err != nil {
				return err
			}
			formats := []string{".svg", ".pdf", ".png"}
			if args[0] == "tsne" {
				formats = append(formats, ".html")
			}
			if err := oneOf("format of figures", strings.ToLower(filepath.Ext(out)), formats); err != nil {
				return usagef("--out %s: %w", out, err)
			}
			t, err := plots.NamedTheme(theme)
			if err != nil {
				return usagef("--theme: %w", err)
			}
			t.Text, t.Names = true, names
			if o.Band, err = plots.ParseBand(band); err != nil {
				return usagef("--band: %w", err)
			}
			if args[0] == "reliability" {
				if runDir == "" {
					return usagef("reliability is a figure of one run: choose it with --run")
				}
				return reliabilityFigure(runDir, out, t)
			}
			if o.Roots, err = withEnvironment(o.Roots); err != nil {
				return err
			}
			weights.SplitsDir = o.SplitsDir
			if cmd.Flags().Changed("seed") {
				o.Seed = &seed
			}
			o.Keep = study.Keeper(o.Roots, weights)
			var f *report.Folder
			if runDir != "" {
				if err := oneOf("figure of one run", args[0], []string{"epochs", "queried", "tsne", "scores", "reliability"}); err != nil {
					return err
				}
				if f, err = report.OpenRun(runDir); err == nil {
					if out, outErr := f.Outcome(f.Runs[0]); outErr == nil && out == nil {
						err = fmt.Errorf("%s: the run is not finished", runDir)
					}
				}
			} else {
				f, err = report.Open(dir, plans...)
			}
			if err != nil {
				return err
			}
			if strings.ToLower(filepath.Ext(out)) == ".html" {
				return interactiveFigure(cmd.Context(), f, out, t, o)
			}
			g, err := f.Figure(cmd.Context(), args[0], t, o)
			if err != nil {
				return err
			}
			g.Title = cmp.Or(plots.Symbols(title), g.Title)
			if g.Aside != "" {
				fmt.Fprintln(cmd.OutOrStdout(), g.Aside)
			}
			return g.Save(out)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&dir, "dir", "", "folder of a study's runs")
	flags.StringVar(&runDir, "run", "", "folder of one run, instead of --dir")
	flags.StringVar(&band, "band", band, "band of curves: ci (95% interval), sd, se or none")
	flags.StringVar(&out, "out", "", "file to write: .svg, .pdf, .png, or .html (required)")
	plansFlag(cmd, &plans)
	flags.StringVar(&theme, "theme", theme, "colours: "+strings.Join(plots.ThemeNames(), ", "))
	flags.StringVar(&o.Dataset, "dataset", "", "data set (default the only one)")
	flags.StringVar(&o.Preset, "preset", "", "preset (default the only one)")
	flags.StringVar(&title, "title", "", "title above all panels, such as the message")
	flags.StringToStringVar(&names, "rename", nil, "OLD=NEW, a text of the figure shown otherwise; repeatable")
	flags.StringVar(&o.Baseline, "baseline", "", "row whose accuracy budget and targets subtract")
	flags.StringVar(&o.Budget, "budget", "", "budget of the runs (default 5%)")
	flags.StringVar(&o.Rule, "rule", "last_epoch", "model selection: last_epoch, best_source_val or best_target")
	flags.BoolVar(&o.SourceVal, "source-val", false, "show source validation accuracy, in the figure targets")
	flags.StringSliceVar(&o.Targets, "target", nil, "target domain; repeatable (default all)")
	flags.StringSliceVar(&o.Methods, "method", nil, "method, as tables name it; repeatable (default the paper's)")
	flags.Uint64Var(&seed, "seed", 0, "seed, in figures of one run (default the first finished)")
	flags.IntVar(&o.Count, "count", 0, "number of images in the figure queried (default 24)")
	bound(flags, "[0, 100000]", "count")
	rootsFlag(cmd, &o.Roots, &o.SplitsDir)
	flags.StringVar(&weights.Backend, "backend", "", "backend that computes; see ledg backend --help (default auto)")
	flags.StringVar(&weights.CacheDir, "cache", "", "folder of decoded images and features (default the user's cache folder)")
	cmd.MarkFlagsOneRequired("dir", "run")
	cmd.MarkFlagsMutuallyExclusive("dir", "run")
	cmd.MarkFlagRequired("out")
	return cmd
}

// interactiveFigure writes the map as a page.
func interactiveFigure(ctx context.Context, f *report.Folder, out string, t plots.Theme, o report.FigureOptions) error {
	fig, still, err := f.Map(ctx, t, o)
	if err != nil {
		return err
	}
	page, err := fig.Page(ctx, still)
	if err != nil {
		return err
	}
	return os.WriteFile(out, []byte(page), 0o644)
}

// reliabilityFigure draws the calibration of a run.
func reliabilityFigure(dir, out string, t plots.Theme) error {
	run, err := result.OpenRun(dir)
	if err != nil {
		return err
	}
	c, err := calibration.Of(run)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is not calibrated: run %s", dir, shell.Line("ledg", "calibrate", dir))
	}
	if err != nil {
		return err
	}
	g, err := plots.Reliability(t, page.Reliability(c))
	if err != nil {
		return err
	}
	return g.Save(out)
}
