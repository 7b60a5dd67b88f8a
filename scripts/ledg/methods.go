package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/config"
)

// newMethodsCommand lists what a method is made of.
func newMethodsCommand() *cobra.Command {
	return &cobra.Command{
		Use:        "methods",
		SuggestFor: []string{"strategies", "objectives"},
		Short:      "List query strategies and training objectives",
		Long: `List the query strategies, which select labels, and the training objectives, with their
sources. A method is one of each: ledg train --strategy NAME --objective NAME.

--method is the short form: a strategy (with objective ceg), STRATEGY-ce (objective erm),
STRATEGY+OBJECTIVE, or an objective, with random labels upfront. All objectives use CEG's
optimisation, as in the paper; --protocol original uses that of their published code.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "STRATEGY\tSELECTS\tSOURCE")
			for _, m := range active.Registry() {
				fmt.Fprintf(w, "%s\t%s\t%s\n", m.Name, m.Line, m.Citation)
			}
			fmt.Fprintln(w, "\t\t")
			fmt.Fprintln(w, "OBJECTIVE\tLOSS\tSOURCE")
			for _, m := range config.Objectives() {
				fmt.Fprintf(w, "%s\t%s\t%s\n", m.Name, m.Line, m.Citation)
			}
			return w.Flush()
		},
	}
}
