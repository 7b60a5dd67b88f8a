package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// newTableCommand returns the command that makes the table of speed.
func newTableCommand() *cobra.Command {
	format := cli.TableFormat(result.Text)
	cmd := &cobra.Command{
		Use:   "table FILE",
		Short: "Make a table of the measurements that scripts/bench.sh has kept",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			all, err := readSpeed(f)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return speedTable(all).Write(cmd.OutOrStdout(), result.TableFormat(format))
		},
	}
	cmd.Flags().Var(&format, "format", "table as text, markdown, latex or csv")
	return cmd
}
