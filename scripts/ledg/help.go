package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// guidesURL is the address of the guides, to which help texts link.
const guidesURL = "https://github.com/ledg-go/ledg/blob/main/notebooks/guides/"

// Keys of a command's annotations.
const (
	flagGroups = "flags" // lines "Title: name name ..."; flags in none are shown by --help-all
	guide      = "guide" // name of a guide
)

const helpAllFlag = "help-all"

// commandGroups are the groups of commands in the help, in order.
var commandGroups = []*cobra.Group{
	{ID: "start", Title: "Start"},
	{ID: "research", Title: "Research"},
	{ID: "own", Title: "Your own model"},
	{ID: "deploy", Title: "Deploy"},
	{ID: "setup", Title: "Set-up"},
}

// helpAll is the value of --help-all: setting it asks for help with all flags.
type helpAll struct {
	cmd *cobra.Command
	set bool
}

func (v *helpAll) String() string   { return "" }
func (v *helpAll) Type() string     { return "bool" }
func (v *helpAll) IsBoolFlag() bool { return true }
func (v *helpAll) Set(string) error {
	v.set = true
	return v.cmd.Flags().Set("help", "true")
}

// addHelp gives every command below root grouped help, and suggestions for mistyped flags
// and commands.
func addHelp(root *cobra.Command) {
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		out := cmd.OutOrStdout()
		width := 100
		if terminal := terminalWidth(out); terminal != nil {
			width = min(width, terminal())
		}
		all := false
		if f := cmd.Flags().Lookup(helpAllFlag); f != nil {
			all = f.Value.(*helpAll).set
		}
		fmt.Fprint(out, helpText(cmd, width, all))
	})
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var invalid *pflag.InvalidValueError
		var outside boundsError
		if errors.As(err, &outside) && errors.As(err, &invalid) {
			name := "--" + invalid.GetFlag().Name
			if short := invalid.GetFlag().Shorthand; short != "" {
				name = "-" + short
			}
			return usagef("%s %s: %w", name, invalid.GetValue(), outside)
		}
		var unknown *pflag.NotExistError
		if !errors.As(err, &unknown) {
			return err
		}
		if close := closeFlag(cmd, unknown.GetSpecifiedName()); close != "" {
			return usagef("%w; did you mean --%s?", err, close)
		}
		return err
	})
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Annotations[flagGroups] != "" {
			f := cmd.Flags().VarPF(&helpAll{cmd: cmd}, helpAllFlag, "", "show all flags")
			f.NoOptDefVal = "true"
		}
		if cmd.HasSubCommands() && (cmd.Args == nil || cmd == root) {
			cmd.Args = subcommandArgs
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root)
}

// subcommandArgs refuses arguments, which are mistyped commands.
func subcommandArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	if close := cmd.SuggestionsFor(args[0]); len(close) > 0 {
		return usagef("unknown command %q for %q; did you mean %s?", args[0], cmd.CommandPath(), strings.Join(close, " or "))
	}
	return usagef("unknown command %q for %q", args[0], cmd.CommandPath())
}

// closeFlag returns the flag of a command that a mistyped name is closest to, or "".
func closeFlag(cmd *cobra.Command, name string) string {
	names := &cobra.Command{SuggestionsMinimumDistance: 2}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	close := names.SuggestionsFor(name)
	if len(close) == 0 {
		return ""
	}
	return slices.MinFunc(close, func(a, b string) int { return cmp.Compare(distance(a, name), distance(b, name)) })
}

// distance is how much two names differ in length.
func distance(a, b string) int { return max(len(a)-len(b), len(b)-len(a)) }

// helpText returns the help of a command for a terminal of a width, with all flags or only
// those of its groups.
func helpText(cmd *cobra.Command, width int, all bool) string {
	var b strings.Builder
	use := cmd.UseLine()
	if cmd.HasSubCommands() && !cmd.Runnable() || !cmd.HasParent() {
		use = cmd.CommandPath() + " COMMAND [flags]"
	}
	fmt.Fprintf(&b, "%s\n\nUsage:\n  %s\n", strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short)), use)
	if cmd.Example != "" {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	writeCommands(&b, cmd)
	sets, hidden := flagSets(cmd, all)
	for _, s := range sets {
		if s.flags.HasAvailableFlags() {
			fmt.Fprintf(&b, "\n%s:\n%s", s.title, s.flags.FlagUsagesWrapped(width))
		}
	}
	var last []string
	if hidden > 0 {
		last = append(last, fmt.Sprintf("%s --%s shows %d more flags.", cmd.CommandPath(), helpAllFlag, hidden))
	}
	if cmd.HasAvailableSubCommands() {
		last = append(last, fmt.Sprintf("%s COMMAND --help describes a command.", cmd.CommandPath()))
	}
	if name, ok := cmd.Annotations[guide]; ok {
		last = append(last, "Guide: "+guidesURL+name)
	}
	if len(last) > 0 {
		fmt.Fprintf(&b, "\n%s\n", strings.Join(last, "\n"))
	}
	return b.String()
}

// writeCommands lists the commands below cmd, by group where they have one.
func writeCommands(b *strings.Builder, cmd *cobra.Command) {
	list := func(title, id string) {
		first := true
		for _, sub := range cmd.Commands() {
			if sub.GroupID != id || !sub.IsAvailableCommand() {
				continue
			}
			if first {
				fmt.Fprintf(b, "\n%s:\n", title)
			}
			first = false
			fmt.Fprintf(b, "  %-*s  %s\n", sub.NamePadding(), sub.Name(), sub.Short)
		}
	}
	for _, g := range cmd.Groups() {
		list(g.Title, g.ID)
	}
	list("Commands", "")
}

// titledFlags are flags under one title of a help text.
type titledFlags struct {
	title string
	flags *pflag.FlagSet
}

// flagSets groups the flags of a command, and counts those that are left out unless all are
// wanted.
func flagSets(cmd *cobra.Command, all bool) (sets []titledFlags, hidden int) {
	cmd.InitDefaultHelpFlag()
	placed := map[string]bool{}
	for line := range strings.Lines(cmd.Annotations[flagGroups]) {
		title, names, _ := strings.Cut(strings.TrimSpace(line), ":")
		s := titledFlags{title, pflag.NewFlagSet(title, pflag.ContinueOnError)}
		s.flags.SortFlags = false
		for name := range strings.FieldsSeq(names) {
			if f := cmd.Flags().Lookup(name); f != nil {
				s.flags.AddFlag(f)
				placed[f.Name] = true
			}
		}
		sets = append(sets, s)
	}
	title := "Flags"
	if len(sets) > 0 {
		title = "Other flags"
	}
	rest := titledFlags{title, pflag.NewFlagSet(title, pflag.ContinueOnError)}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		switch {
		case placed[f.Name] || f.Hidden || len(sets) > 0 && (f.Name == "help" || f.Name == helpAllFlag):
		case len(sets) > 0 && !all:
			hidden++
		default:
			rest.flags.AddFlag(f)
		}
	})
	return append(sets, rest), hidden
}

// versionText is what --version prints.
func versionText() string { return "ledg " + cli.Versions()[0].Version + "\n" }
