package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/visit"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

func newEvalCommand() *cobra.Command {
	var asJSON bool
	var o run.Options
	var by, images string
	var capture captureFlags
	format := cli.TableFormat(result.Text)
	cmd := &cobra.Command{
		Use:     "eval DIR",
		Aliases: []string{"evaluate"},
		Short:   "Recompute the accuracies of a run from its records",
		Long: `Recompute a run's accuracies from its records for the three kinds of model selection, and
check the reported result. An unfinished run is shown up to its last recorded epoch.

--by month predicts the images of the target and those held out at the sources, and reports
each camera (a folder) and month: classes, label-free estimate, accuracy and advice, as ledg
site does. One labelled image of each group, such as an event, counts as audited.`,
		Example: `  ledg eval runs/mine
  ledg eval runs/mine --by month --images card`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch by {
			case "":
				for _, name := range []string{"images", "times", "root", "backend"} {
					if cmd.Flags().Changed(name) {
						return usagef("--%s is for --by month", name)
					}
				}
			case "month":
				if images == "" {
					return usagef("--by month: give the folder of the run's photos as --images, for their times")
				}
				c, err := capture.capture()
				if err != nil {
					return err
				}
				o.Dir = args[0]
				r, err := visit.Evaluate(cmd.Context(), o, images, c)
				if err != nil {
					return err
				}
				if asJSON {
					return json.NewEncoder(cli.Raw(cmd.OutOrStdout())).Encode(r.Months)
				}
				return r.MonthsTable().Write(tableOutput(cmd, result.TableFormat(format)), result.TableFormat(format))
			default:
				return usagef("--by %s: want month", by)
			}
			records, err := report.ReadRun(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cli.Raw(cmd.OutOrStdout())).Encode(records.Evaluation())
			}
			return records.Table().Write(tableOutput(cmd, result.TableFormat(format)), result.TableFormat(format))
		},
	}
	cmd.Flags().StringVar(&by, "by", "", "month: report each camera and month, with advice")
	cmd.Flags().StringVar(&images, "images", "", "with --by month, folder of the run's photos")
	cmd.Flags().StringVar(&capture.Table, "times", "", "with --by month, table of the photos' times, or Camtrap DP package")
	cmd.Flags().StringVar(&o.Root, "root", "", "with --by month, folder or features of the training images")
	cmd.Flags().StringVar(&o.Backend, "backend", "", "backend that computes; see ledg backend --help (default auto)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object instead of a table")
	cmd.Flags().Var(&format, "format", "table format: text, markdown, html, csv or latex")
	return cmd
}
