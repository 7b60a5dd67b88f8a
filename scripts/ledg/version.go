package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// newVersionCommand prints what this program was built from.
func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of ledg, Go and the engine",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, v := range cli.Versions() {
				fmt.Fprintf(cmd.OutOrStdout(), "%-8s %s\n", v.Name, v.Version)
			}
			if slow := engine.SlowBuild(); slow != "" {
				fmt.Fprintln(cmd.OutOrStdout(), slow)
			}
			return nil
		},
	}
}
