package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

func newEvalCommand() *cobra.Command {
	var asJSON bool
	format := cli.TableFormat(result.Text)
	cmd := &cobra.Command{
		Use:     "eval DIR",
		Aliases: []string{"evaluate"},
		Short:   "Recompute the accuracies of a run from its records",
		Long: `Recompute a run's accuracies from its records for the three kinds of model selection, and
check the reported result. An unfinished run is shown up to its last recorded epoch.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			run, err := report.ReadRun(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cli.Raw(cmd.OutOrStdout())).Encode(run.Evaluation())
			}
			return run.Table().Write(tableOutput(cmd, result.TableFormat(format)), result.TableFormat(format))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object instead of a table")
	cmd.Flags().Var(&format, "format", "table format: text, markdown, html, csv or latex")
	return cmd
}
