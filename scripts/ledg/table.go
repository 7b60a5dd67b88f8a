package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

func newTableCommand() *cobra.Command {
	var o report.TableOptions
	var dir, baselineDir string
	var plans []string
	format := cli.TableFormat(result.Text)
	cmd := &cobra.Command{
		Use:         "table NAME --dir DIR",
		Annotations: map[string]string{flagGroups: tableGroups},
		Short:       "Make a table of the paper from the records of a study",
		Long: `Make a table from the records of a study:

  table1 to table4  the paper's layout, with its numbers beside ours
  methods           one row per method
  budgets           averages over targets, one column per budget
  targets           differences to --baseline, or to the same methods in --baseline-dir, on
                    each target and over targets
  findings          a row per question of findings.yaml in --dir, a folder of studies

Cells are the mean and standard deviation over seeds, with their number n. --baseline adds
differences to one row, paired by seed, with 95% intervals and p-values: Student's t, exact
sign-flip tests up to n = 20, and Holm's correction over the table. CSV has one row per value.`,
		Example: `  ledg table table4 --dir runs/glyphs --baseline CEG
  ledg table methods --dir runs/glyphs --rule best_source_val --format markdown
  ledg table budgets --dir notebooks/results/paper --baseline uniform`,
		ValidArgs: append(report.TableNames(), "findings"),
		Args:      cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("table", args[0], append(report.TableNames(), "findings")); err != nil {
				return err
			}
			if args[0] == "findings" {
				var err error
				cmd.Flags().Visit(func(f *pflag.Flag) {
					if f.Name != "dir" && f.Name != "format" {
						err = usagef("--%s does not apply to the table findings", f.Name)
					}
				})
				if err != nil {
					return err
				}
				t, err := report.Findings(dir)
				if err != nil {
					return err
				}
				return writeTables(cmd, []*result.Table{t}, result.TableFormat(format), "")
			}
			f, err := report.Open(dir, plans...)
			if err != nil {
				return err
			}
			if baselineDir != "" {
				if o.BaselineFolder, err = report.Open(baselineDir); err != nil {
					return err
				}
			}
			o.Long = result.TableFormat(format) == result.CSV
			tables, err := f.Table(args[0], o)
			if err != nil {
				return err
			}
			between := "\n"
			if o.Long {
				between = ""
			}
			return writeTables(cmd, tables, result.TableFormat(format), between)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&dir, "dir", "", "folder of the study's runs (required)")
	plansFlag(cmd, &plans)
	flags.StringVar(&o.Dataset, "dataset", "", "data set (default a table for each)")
	flags.StringVar(&o.Preset, "preset", "", "preset (default a table for each)")
	flags.StringVar(&o.Budget, "budget", "", "budget of the runs (default 5%, or the only one)")
	flags.StringVar(&o.Rule, "rule", "last_epoch", "model selection: last_epoch, best_source_val or best_target")
	flags.BoolVar(&o.SourceVal, "source-val", false, "show source validation accuracy instead of target accuracy")
	flags.BoolVar(&o.Chosen, "chosen", false, "add a row selected per target by source validation accuracy")
	flags.StringVar(&o.Measure, "measure", report.MeasureNames()[0], "metric: "+strings.Join(report.MeasureNames(), ", "))
	flags.StringArrayVar(&o.Methods, "method", nil, "row to show, by its name or label; repeatable (default all)")
	flags.StringSliceVar(&o.Targets, "target", nil, "target domain; repeatable (default all)")
	flags.BoolVar(&o.Sweeps, "sweeps", false, "also show each setting of a sweep as a row")
	flags.StringVar(&o.Baseline, "baseline", "", "row to compare the others with, by its name or label")
	flags.StringVar(&baselineDir, "baseline-dir", "", "folder with the same methods to compare with (table targets)")
	flags.Var(&format, "format", "table format: text, markdown, html, csv or latex")
	cmd.MarkFlagRequired("dir")
	return cmd
}

// oneOf is an error of usage for an argument that is none of the names.
func oneOf(what, got string, names []string) error {
	for _, n := range names {
		if n == got {
			return nil
		}
	}
	return usagef("there is no %s %q; there are %s", what, got, strings.Join(names, ", "))
}

// writeTables prints tables one after the other with a text between them.
func writeTables(cmd *cobra.Command, tables []*result.Table, format result.TableFormat, between string) error {
	out := tableOutput(cmd, format)
	for i, t := range tables {
		if i > 0 {
			fmt.Fprint(out, between)
		}
		if err := t.Write(out, format); err != nil {
			return err
		}
	}
	return nil
}

// tableOutput returns stdout for tables of a format: raw for CSV, which programs read.
func tableOutput(cmd *cobra.Command, format result.TableFormat) io.Writer {
	if format == result.CSV {
		return cli.Raw(cmd.OutOrStdout())
	}
	return cmd.OutOrStdout()
}
