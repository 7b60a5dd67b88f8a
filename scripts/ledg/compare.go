package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

func newCompareCommand() *cobra.Command {
	var o report.CompareOptions
	format := cli.TableFormat(result.Text)
	cmd := &cobra.Command{
		Use:   "compare DIR...",
		Short: "Compare finished runs",
		Long: `Compare finished runs: one row per run with its accuracy on the target domain. If a method
has several runs, a second table has one row per method and target, and one for the
average over targets: mean, standard deviation and 95% Student-t interval over seeds.
--baseline adds differences to one method, paired by seed, with p-values. The average
needs seeds that have all targets.

--format csv writes tidy rows in full precision instead: run, method, preset, dataset,
target, seed, budget, labels, epoch, domain, split, metric, value, and the settings that
are not at their defaults.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if result.TableFormat(format) == result.CSV {
				if o.Baseline != "" || cmd.Flags().Changed("rule") {
					return usagef("--baseline and --rule do not apply to --format csv, which has the values of runs")
				}
				f, err := report.CompareFrame(args...)
				if err != nil {
					return err
				}
				return f.Write(cli.Raw(cmd.OutOrStdout()), result.CSV)
			}
			tables, err := report.Compare(args, o)
			if bad := (*report.OptionError)(nil); errors.As(err, &bad) {
				return usagef("--%w", err)
			}
			if err != nil {
				return err
			}
			return writeTables(cmd, tables, result.TableFormat(format), "\n")
		},
	}
	cmd.Flags().StringVar(&o.Baseline, "baseline", "", "method to compare the others with")
	cmd.Flags().StringVar(&o.Rule, "rule", "last_epoch", "model selection: last_epoch, best_source_val or best_target")
	cmd.Flags().Var(&format, "format", "table format: text, markdown, html, csv or latex")
	return cmd
}
