package main

import (
	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// newAskedCommand returns the command that counts the labels that runs asked for.
func newAskedCommand() *cobra.Command {
	format := cli.TableFormat(result.Text)
	cmd := &cobra.Command{
		Use:   "asked DIR...",
		Short: "Count the labels that runs asked for, by domain and class",
		Long: `Count the labels that runs asked for, by source domain and class, from their
queries.csv: the initial ones and those asked for later. DIR is a run or a folder of
several. Of a single run it also prints a table of classes by domains. "same
S_r" is how many have a score of representativeness that another one has too.`,
		Example: `  ledg asked runs/glyphs
  ledg asked runs/pacs-sketch-ceg-authors-seed1-0a1b2c3d --format markdown`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			runs, err := result.OpenAll(args...)
			if err != nil {
				return err
			}
			tables, err := report.AskedTables(runs)
			if err != nil {
				return err
			}
			return writeTables(cmd, tables, result.TableFormat(format), "\n")
		},
	}
	cmd.Flags().Var(&format, "format", "text, markdown, csv or latex")
	return cmd
}
