// Command ledg trains a classifier that generalizes to a domain it has never
// seen, from few labels, and chooses which labels to ask for (CEG, Yuan et al.
// 2022). `ledg train --target sketch` is one whole run; `ledg help` lists the
// rest. This file only wires the commands together: the work is done by the
// packages under ceg, datasets and plots.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the default handling is back: a second one kills.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run executes one command line and returns the exit status. Results go to
// stdout; everything else, and exactly one line for an error, goes to stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	started := markStarted(root)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	if !*started { // the command line itself was refused
		err = usagef("%w (see %s --help)", err, cmd.CommandPath())
	}
	fmt.Fprintf(stderr, "ledg: %s\n", oneLine(err))
	return exitStatus(err)
}

// newRootCommand returns the command tree.
func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:               "ledg",
		Short:             "Label-efficient domain generalization: ask for few labels, generalize to unseen domains",
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.SetHelpCommand(newHelpCommand(root))
	root.AddCommand(newTrainCommand(), newMethodsCommand(), newQueryCommand(), newProbeCommand(), newAskedCommand(), newDataCommand(), newEmbedCommand(), newEvalCommand(), newCompareCommand(), newStudyCommand(), newTableCommand(), newFigureCommand(), newExportCommand(), newPredictCommand(), newCalibrateCommand(), newReportCommand(), newLabelCommand(), newBenchCommand(), newBackendCommand(), newVersionCommand())
	return root
}

// newHelpCommand is cobra's help command, but for a topic that there is not,
// which is an error of usage.
func newHelpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Help about any command",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return usagef("there is no command %q to help with", strings.Join(args, " "))
			}
			return cmd.Help()
		},
	}
}

// markStarted wraps every RunE below cmd so that the returned flag becomes true
// once one is entered: an error before that is one of usage, whoever found it.
func markStarted(cmd *cobra.Command) *bool {
	started := new(bool)
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if runE := c.RunE; runE != nil {
			c.RunE = func(cmd *cobra.Command, args []string) error {
				*started = true
				return runE(cmd, args)
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(cmd)
	return started
}
