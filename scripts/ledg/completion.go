package main

import (
	"cmp"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/datasets"
)

// newCompletionCommand returns the command that prints shell completion scripts.
func newCompletionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion {bash | zsh | fish | powershell}",
		Short: "Print a shell completion script",
		Long: `Print a script that completes commands, flags, presets, strategies, objectives,
data sets and target domains in your shell. Install it with one of these lines:

  bash        echo 'source <(ledg completion bash)' >> ~/.bashrc
  zsh         echo 'source <(ledg completion zsh)' >> ~/.zshrc
  fish        ledg completion fish > ~/.config/fish/completions/ledg.fish
  powershell  ledg completion powershell >> $PROFILE

bash needs the package bash-completion; zsh needs compinit.`,
		Example:   "  source <(ledg completion bash)",
		ValidArgs: shells,
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			default:
				return root.GenPowerShellCompletionWithDesc(out)
			}
		},
	}
}

// addCompletions adds the values of flags to the shell completion of all commands.
func addCompletions(cmd *cobra.Command) {
	values := map[string]func() []string{
		"dataset": datasets.Names,
		"preset": func() []string {
			var names []string
			for _, p := range config.Presets() {
				names = append(names, string(p))
			}
			return names
		},
		"strategy": active.Names,
		"initial":  active.ColdNames,
		"method":   config.Methods,
		"objective": func() []string {
			var names []string
			for _, o := range config.Objectives() {
				names = append(names, o.Name)
			}
			return names
		},
		"net": func() []string { return append(config.NetworkNames(false), config.NetworkNames(true)...) },
	}
	for name, list := range values {
		if cmd.Flags().Lookup(name) != nil {
			cmd.RegisterFlagCompletionFunc(name, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
				return list(), cobra.ShellCompDirectiveNoFileComp
			})
		}
	}
	if cmd.Flags().Lookup("target") != nil {
		cmd.RegisterFlagCompletionFunc("target", completeTargets)
	}
	for _, s := range config.Settings() { // such as --timing
		if s.Flag != "" && s.Words != nil && values[s.Flag] == nil && cmd.Flags().Lookup(s.Flag) != nil {
			cmd.RegisterFlagCompletionFunc(s.Flag, cobra.FixedCompletions(words(s), cobra.ShellCompDirectiveNoFileComp))
		}
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
