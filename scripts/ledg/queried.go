package main

import (
	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// newQueriedCommand returns the command that counts the queried labels of runs.
func newQueriedCommand() *cobra.Command {
	format := cli.TableFormat(result.Text)
	cmd := &cobra.Command{
		Use:   "queried DIR...",
		Short: "Count queried labels by domain and class",
		Long: `Count the labels that runs queried, by source domain and class, from their queries.csv.
DIR is a run or a folder of runs. One run also gets a table of classes by domains.`,
		Example: `  ledg queried runs/glyphs
  ledg queried runs/pacs-sketch-ceg-authors-seed1-0a1b2c3d --format markdown`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			runs, err := result.OpenAll(args...)
			if err != nil {
				return err
			}
			tables, err := report.QueriedTables(runs)
			if err != nil {
				return err
			}
			return writeTables(cmd, tables, result.TableFormat(format), "\n")
		},
	}
	cmd.Flags().Var(&format, "format", "table format: text, markdown, html, csv or latex")
	return cmd
}
