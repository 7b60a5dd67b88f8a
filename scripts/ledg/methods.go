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
		Use:   "methods",
		Short: "List the query strategies and the objectives that a method is made of",
		Long: `List the query strategies, which choose the labels to ask for, and the objectives,
which the networks are trained for, with one line and the source of each. A method is
one of each: ledg train --strategy NAME --objective NAME. --method is its short form:
a strategy's name (objective ceg), with -ce behind it (objective erm), or
STRATEGY+OBJECTIVE; an objective's name alone has all labels drawn at random before
training. All objectives share CEG's optimisation, as in the paper, unless --protocol
original takes that of their published code.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "STRATEGY\tASKS FOR\tSOURCE")
			for _, m := range active.Registry() {
				fmt.Fprintf(w, "%s\t%s\t%s\n", m.Name, m.Line, m.Citation)
			}
			fmt.Fprintln(w, "\t\t")
			fmt.Fprintln(w, "OBJECTIVE\tTRAINS FOR\tSOURCE")
			for _, m := range config.Objectives() {
				fmt.Fprintf(w, "%s\t%s\t%s\n", m.Name, m.Line, m.Citation)
			}
			return w.Flush()
		},
	}
}
