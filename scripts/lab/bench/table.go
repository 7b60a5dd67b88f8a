package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/plots"
	"github.com/ledg-go/ledg/scripts/internal/cli"
	"github.com/ledg-go/ledg/scripts/lab/bench/internal/speed"
)

// readSpeed reads a file of measurements.
func readSpeed(path string) ([]speed.Measurement, error) {
	f, err := regular.Open(path, 1<<30)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := speed.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return all, nil
}

// newTableCommand returns the command that makes the table of speed.
func newTableCommand() *cobra.Command {
	format := cli.TableFormat(result.Text)
	cmd := &cobra.Command{
		Use:   "table FILE",
		Short: "Make a table of the measurements that scripts/bench.sh has kept",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := readSpeed(args[0])
			if err != nil {
				return err
			}
			return speed.Table(all).Write(cmd.OutOrStdout(), result.TableFormat(format))
		},
	}
	cmd.Flags().Var(&format, "format", "table as text, markdown, latex or csv")
	return cmd
}

// newFigureCommand returns the command that draws how time grows.
func newFigureCommand() *cobra.Command {
	var out string
	theme := "print"
	cmd := &cobra.Command{
		Use:   "figure FILE --out FILE",
		Short: "Draw how a step's time grows with batch, size and width",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := plots.NamedTheme(theme)
			if err != nil {
				return cli.Usagef("--theme: %w", err)
			}
			all, err := readSpeed(args[0])
			if err != nil {
				return err
			}
			panels, err := speed.Growth(all)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			g, err := plots.Speed(t, panels)
			if err != nil {
				return err
			}
			return g.Save(out)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "file to write: .svg, .pdf or .png (required)")
	cmd.Flags().StringVar(&theme, "theme", theme, "print or dark")
	cmd.MarkFlagRequired("out")
	return cmd
}
