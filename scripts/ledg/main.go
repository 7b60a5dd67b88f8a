// Command ledg trains classifiers that generalize to unseen domains from few labels, and
// selects the labels to query (CEG, Yuan et al. 2022). The packages under ceg, datasets and
// plots do the work; this one has the commands.
package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/scripts/internal/cli"
)

func main() {
	cli.Main(newRootCommand())
}

func newRootCommand() *cobra.Command {
	cobra.EnableCommandSorting = false // groups list commands in the order of their use
	root := &cobra.Command{
		Use:         "ledg",
		Short:       "Label-efficient domain generalization: query few labels, generalize to unseen domains.",
		Version:     cli.Versions()[0].Version,
		Annotations: map[string]string{guide: ""},
		RunE:        func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		// Nothing that ledg keeps is replaced by an output.
		PersistentPreRunE: checkOutputs,
	}
	root.AddGroup(commandGroups...)
	for _, g := range []struct {
		id       string
		commands []*cobra.Command
	}{
		{"start", []*cobra.Command{newDataCommand(), newTrainCommand(), newLabelCommand(os.Args[1:]), newPredictCommand(), newReportCommand()}},
		{"research", []*cobra.Command{newStudyCommand(), newCompareCommand(), newTableCommand(), newFigureCommand(), newMethodsCommand(), newSettingsCommand(), newEvalCommand()}},
		{"own", []*cobra.Command{newEmbedCommand(), newQueryCommand(), newProbeCommand()}},
		{"deploy", []*cobra.Command{newExportCommand(), newCalibrateCommand(), newExtendCommand(), newSiteCommand()}},
		{"setup", []*cobra.Command{newBackendCommand(), newMergeCommand(), newVersionCommand()}},
	} {
		for _, cmd := range g.commands {
			cmd.GroupID = g.id
		}
		root.AddCommand(g.commands...)
	}
	root.SetHelpCommandGroupID("setup")
	root.SetCompletionCommandGroupID("setup")
	addHelp(root)
	addCompletions(root)
	return root
}

// usagef is [cli.Usagef].
func usagef(format string, args ...any) error { return cli.Usagef(format, args...) }
