package main

import (
	"cmp"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/datasets"
)

// addCompletions adds the values of flags to the shell completion of all commands: those of the
// settings, whichever command has their flags.
func addCompletions(cmd *cobra.Command) {
	for _, s := range config.Settings() {
		complete := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return words(s), cobra.ShellCompDirectiveNoFileComp
		}
		switch {
		case cmd.Flags().Lookup(s.Flag) == nil:
			continue
		case s.Flag == "target":
			complete = completeTargets
		case s.Flag == "method":
			s.Words = config.Methods
		case s.Words == nil:
			continue
		}
		cmd.RegisterFlagCompletionFunc(s.Flag, complete)
	}
	for _, sub := range cmd.Commands() {
		addCompletions(sub)
	}
}

// words lists the valid texts of a setting.
func words(s config.Setting) []string {
	list := s.Words()
	if s.Zero != "" && !slices.Contains(list, s.Zero) {
		list = append([]string{s.Zero}, list...)
	}
	return list
}

// completeTargets lists the domains of the data set that the flags name.
func completeTargets(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	name, _ := cmd.Flags().GetString("dataset")
	info, ok := datasets.Lookup(cmp.Or(name, datasets.Drawn))
	if !ok {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	targets := append([]string{config.NoTarget}, info.Domains...)
	if root, _ := cmd.Flags().GetString("root"); info.Yours && !info.Vectors && root != "" {
		entries, _ := os.ReadDir(root)
		for _, e := range entries {
			if e.IsDir() {
				targets = append(targets, e.Name())
			}
		}
	}
	return targets, cobra.ShellCompDirectiveNoFileComp
}
