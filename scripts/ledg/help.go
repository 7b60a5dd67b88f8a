package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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

// helpTemplate is the text of a command's help.
const helpTemplate = `{{or .Long .Short | trimTrailingWhitespaces}}

Usage:
  {{if or (not .HasParent) (and .HasSubCommands (not .Runnable))}}{{.CommandPath}} COMMAND [flags]{{else}}{{.UseLine}}{{end}}
{{- with .Example}}

Examples:
{{.}}{{end}}
{{- $all := .Commands}}{{range $g := .Groups}}

{{.Title}}:{{range $all}}{{if and .IsAvailableCommand (eq .GroupID $g.ID)}}
  {{rpad .Name .NamePadding}}  {{.Short}}{{end}}{{end}}{{end}}
{{- if and .HasAvailableSubCommands (not .Groups)}}

Commands:{{range $all}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}}  {{.Short}}{{end}}{{end}}{{end}}
{{- $flags := flagSets .}}{{range $flags.Shown}}

{{.Title}}:
{{.Usages}}{{end}}
{{- if or $flags.More .HasAvailableSubCommands .Annotations}}
{{with $flags.More}}
{{$.CommandPath}} --help-all shows {{.}} more flags.{{end}}
{{- if .HasAvailableSubCommands}}
{{.CommandPath}} COMMAND --help describes a command.{{end}}
{{- range $key, $page := .Annotations}}{{if eq $key "guide"}}
Guide: ` + guidesURL + `{{$page}}{{end}}{{end}}{{end}}
`

// addHelp gives every command below root grouped help, and suggestions for mistyped flags
// and commands.
func addHelp(root *cobra.Command) {
	cobra.AddTemplateFunc("flagSets", flagSets)
	root.SetHelpTemplate(helpTemplate)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
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
			cmd.Flags().BoolFunc(helpAllFlag, "show all flags", func(string) error { return cmd.Flags().Set("help", "true") })
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
	if close := names.SuggestionsFor(name); len(close) > 0 {
		return close[0]
	}
	return ""
}

// helpFlags are the flags that a help text shows, and how many more there are.
type helpFlags struct {
	Shown []flagSet
	More  int
}

type flagSet struct{ Title, Usages string }

// flagSets lists the flags of a command by the groups of its annotation. Flags in none come last:
// always without groups, else with --help-all.
func flagSets(cmd *cobra.Command) (h helpFlags) {
	width := 100
	if terminal := terminalWidth(cmd.OutOrStdout()); terminal != nil {
		width = min(width, terminal())
	}
	add := func(title string, flags *pflag.FlagSet) {
		if flags.HasAvailableFlags() {
			h.Shown = append(h.Shown, flagSet{title, strings.TrimRight(flags.FlagUsagesWrapped(width), "\n")})
		}
	}
	groups, title := cmd.Annotations[flagGroups], "Flags"
	placed := strings.Fields(groups)
	for line := range strings.Lines(groups) {
		name, list, _ := strings.Cut(strings.TrimSpace(line), ":")
		flags := pflag.NewFlagSet(name, pflag.ContinueOnError)
		flags.SortFlags = false
		for name := range strings.FieldsSeq(list) {
			flags.AddFlag(cmd.Flags().Lookup(name))
		}
		add(name, flags)
		title = "Other flags"
	}
	rest := pflag.NewFlagSet(title, pflag.ContinueOnError)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && !slices.Contains(placed, f.Name) {
			rest.AddFlag(f)
			h.More++
		}
	})
	if groups == "" || cmd.Flags().Changed(helpAllFlag) {
		add(title, rest)
		h.More = 0
	}
	return h
}
