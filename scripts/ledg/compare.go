package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// newCompareCommand returns the command that puts finished runs side by side.
func newCompareCommand() *cobra.Command {
	var o report.CompareOptions
	format := cli.TableFormat(result.Text)
	cmd := &cobra.Command{
		Use:   "compare DIR...",
		Short: "Put finished runs side by side",
		Long: `Put finished runs, or all runs of a folder, side by side: one row per run with its
accuracy on the target domain by the three rules. When a method has several runs, a
second table gives mean, standard deviation and 95% Student-t interval over seeds per
method, on each target and on their average, and with --baseline the differences to
another method, paired by seed, with the p-values of ledg table. The average is its, too:
of each seed that has all targets, the mean over them.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
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
	cmd.Flags().StringVar(&o.Baseline, "baseline", "", "method that the others are compared with")
	cmd.Flags().StringVar(&o.Rule, "rule", "last_epoch", "rule of the second table: last_epoch, best_source_val or best_target")
	cmd.Flags().Var(&format, "format", "tables as text, markdown, csv or latex")
	return cmd
}
