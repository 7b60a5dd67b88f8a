// Command ledg trains a classifier that generalizes to a domain it has never
// seen, from few labels, and chooses which labels to ask for (CEG, Yuan et al.
// 2022). `ledg train --target sketch` is one whole run; `ledg help` lists the
// rest. This file only wires the commands together: the work is done by the
// packages under ceg, datasets and plots.
package main

import (
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/engine/pypi"
	"github.com/ledg-go/ledg/scripts/internal/cli"
	_ "github.com/ledg-go/ledg/scripts/internal/pages" // XLA's large blocks
)

func main() {
	// Weights from the hub and CUDA's plugins come by clients without time limits.
	http.DefaultTransport = pypi.Stalls{Next: http.DefaultTransport, After: time.Minute}
	cli.Main(newRootCommand())
}

// newRootCommand returns the command tree.
func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "ledg",
		Short: "Label-efficient domain generalization: ask for few labels, generalize to unseen domains",
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(newTrainCommand(), newExtendCommand(), newSiteCommand(), newMethodsCommand(), newSettingsCommand(), newQueryCommand(), newProbeCommand(), newAskedCommand(), newDataCommand(), newEmbedCommand(), newMergeCommand(), newEvalCommand(), newCompareCommand(), newStudyCommand(), newTableCommand(), newFigureCommand(), newExportCommand(), newPredictCommand(), newCalibrateCommand(), newReportCommand(), newLabelCommand(os.Args[1:]), newLabelStudioCommand(), newBenchCommand(), newBackendCommand(), newVersionCommand())
	return root
}

// newBenchCommand says where the benchmarks are, which were a command once.
func newBenchCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "bench",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return usagef("benchmarks are a program of their own: go run ./scripts/bench, with the same flags")
		},
	}
}

// usagef is [cli.Usagef].
func usagef(format string, args ...any) error { return cli.Usagef(format, args...) }

// ExitStatus returns 3: the run waits for labels.
func (e *awaitingError) ExitStatus() int { return 3 }
