package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/config"
)

// exampleArms show how an arm's name and short name come of its parts.
var exampleArms = []config.Arm{
	{Initial: "uniform", Objective: config.ERM, Schedule: config.Once},
	{Initial: "uniform", Objective: config.CEG, Schedule: config.Once},
	{Initial: "uniform", Strategy: config.CEG, Objective: config.CEG, Schedule: config.Published},
	{Initial: "maxherding", Objective: config.FixMatch, Schedule: config.Once, Preset: config.Ledg},
}

func newMethodsCommand() *cobra.Command {
	return &cobra.Command{
		Use:        "methods",
		SuggestFor: []string{"strategies", "objectives"},
		Short:      "List query strategies and training objectives",
		Long: `List the query strategies, which select labels, and the training objectives, with their
sources. A method is one of each: ledg train --strategy NAME --objective NAME.

--method is the short form: a strategy (with objective ceg), STRATEGY-ce (objective erm),
STRATEGY+OBJECTIVE, or an objective, with random labels upfront. All objectives use CEG's
optimisation, as in the paper; --protocol original follows their published code.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "STRATEGY\tNAME\tSHORT\tSELECTS\tSOURCE")
			for _, m := range active.Registry() {
				name, short := config.SelectionName(m.Name)
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", m.Name, name, short, m.Line, m.Citation)
			}
			fmt.Fprintln(w, "\t\t\t\t")
			fmt.Fprintln(w, "OBJECTIVE\tNAME\tSHORT\tLOSS\tSOURCE")
			for _, m := range config.Objectives() {
				name, short := config.TrainingName(m.Name)
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", m.Name, name, short, m.Line, m.Citation)
			}
			fmt.Fprintln(w, "\t\t\t\t")
			fmt.Fprintln(w, "SCHEDULE\tNAME\tSHORT\t\t")
			for _, t := range config.Schedules() {
				name, short := config.ScheduleName(t)
				fmt.Fprintf(w, "%s\t%s\t%s\t\t\n", t, name, short)
			}
			if err := w.Flush(); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout())
			w = tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "ARM, FOR EXAMPLE\tSHORT")
			for _, a := range exampleArms {
				fmt.Fprintf(w, "%s\t%s\n", a.Name(), a.Short())
			}
			return w.Flush()
		},
	}
}
