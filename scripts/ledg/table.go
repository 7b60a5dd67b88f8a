package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// newTableCommand returns the command that makes tables from a study's records.
func newTableCommand() *cobra.Command {
	var o report.TableOptions
	var dir string
	var plans []string
	format := cli.TableFormat(result.Text)
	cmd := &cobra.Command{
		Use:   "table NAME --study DIR",
		Short: "Make a table of the paper from a study's records",
		Long: `Make a table from the records of the runs in a study's folder: table1 to table4 in
the paper's layout with its numbers beside ours; methods, which has a row for
everything there but sweeps; budgets, which has their averages over targets, a
column for each budget; or confusion, which says what each method takes for what. Cells
are mean and standard deviation over seeds, with their number n; with --baseline the
table ends in differences to a row, paired by seed, with their 95% interval and p-values:
by Student's t, by all flips of their signs where there are fewer than ten, and corrected
by Holm for the whole table. CSV has one row per value.`,
		Example: `  ledg table table4 --study runs/glyphs --baseline CEG
  ledg table methods --study runs/glyphs --rule best_source_val --format markdown
  ledg table budgets --study notebooks/results/paper --baseline uniform`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("table", args[0], report.TableNames()); err != nil {
				return err
			}
			f, err := report.Open(dir, plans...)
			if err != nil {
				return err
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
	flags.StringVar(&dir, "study", "", "folder of the runs (required)")
	plansFlag(cmd, &plans)
	flags.StringVar(&o.Dataset, "dataset", "", "data set (default: a table for each)")
	flags.StringVar(&o.Preset, "preset", "", "preset (default: a table for each)")
	flags.StringVar(&o.Budget, "budget", "", "budget of the runs (default: 5%, or the only one)")
	flags.StringVar(&o.Rule, "rule", "last_epoch", "rule that chose the epochs: last_epoch, best_source_val or best_target")
	flags.BoolVar(&o.SourceVal, "source-val", false, "accuracy on the sources' validation images, by which settings may be chosen, instead of the target's")
	flags.BoolVar(&o.Chosen, "chosen", false, "add a row that has, target by target, the row with the highest mean on the validation images of that target's own sources")
	flags.StringVar(&o.Against, "against", "", "with --chosen: show what is chosen from all studies, and from this one alone, and their difference")
	flags.StringVar(&o.Measure, "measure", report.MeasureNames()[0], "what is shown: "+strings.Join(report.MeasureNames(), ", ")+"; all but accuracy need records that count by class")
	flags.StringArrayVar(&o.Methods, "method", nil, "method with its variant, and its preset where the row says it; may be repeated (default: all)")
	flags.StringSliceVar(&o.Targets, "target", nil, "target domain to show and to average over; may be repeated (default: all)")
	flags.StringVar(&o.Baseline, "baseline", "", "row that the others are compared with, by its name in the table or its method")
	flags.Var(&format, "format", "table as text, markdown, latex or csv")
	cmd.MarkFlagRequired("study")
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
	for i, t := range tables {
		if i > 0 {
			fmt.Fprint(cmd.OutOrStdout(), between)
		}
		if err := t.Write(cmd.OutOrStdout(), format); err != nil {
			return err
		}
	}
	return nil
}
