package main

import (
	_ "embed"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// notice has the licences of what is linked.
//
//go:embed NOTICE
var notice string

func newVersionCommand() *cobra.Command {
	licences := false
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of ledg, Go and the backend",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if licences {
				_, err := io.WriteString(cmd.OutOrStdout(), notice)
				return err
			}
			for _, v := range cli.Versions() {
				fmt.Fprintf(cmd.OutOrStdout(), "%-8s %s\n", v.Name, v.Version)
			}
			if slow := engine.SlowBuild(); slow != "" {
				fmt.Fprintln(cmd.OutOrStdout(), slow)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&licences, "licences", false, "print the licences of ledg and its dependencies")
	return cmd
}
