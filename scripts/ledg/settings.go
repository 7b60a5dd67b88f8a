package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

func newSettingsCommand() *cobra.Command {
	s := config.Spec{Target: config.NoTarget}
	var preset string
	var asJSON bool
	cmd := &cobra.Command{
		Use:        "settings [NAME]",
		SuggestFor: []string{"config", "options"},
		Short:      "List the settings of a run, with values and defaults",
		Long: `List the settings of a run by path, with the flag, the value under a preset, and where the
value comes from. Study files (set:), ledg train --set and config.json use these paths.
NAME is a setting, a group (schedule), a flag, or a parameter of the paper (delta, T,
gamma1, gamma2, tau). The command then prints its details.`,
		Example: `  ledg settings --dataset pacs --preset paper
  ledg settings schedule
  ledg settings gamma1`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.Preset = config.Preset(preset)
			c, err := config.Resolve(s)
			if err != nil {
				return settingError(err)
			}
			list, err := namedSettings(args)
			if err != nil {
				return err
			}
			if asJSON {
				e := json.NewEncoder(cli.Raw(cmd.OutOrStdout()))
				for _, row := range list {
					line := map[string]any{"path": row.Path, "flag": row.Flag, "value": row.Of(c), "default": row.Default, "valid": row.Valid(), "help": row.Help, "more": row.More}
					if err := e.Encode(line); err != nil {
						return err
					}
				}
				return nil
			}
			if len(args) > 0 && !strings.HasPrefix(list[0].Path, args[0]+".") { // no group
				return describe(cmd, list, c)
			}
			t := &result.Table{Columns: []result.Column{{Name: "setting"}, {Name: "flag"}, {Name: "value"}, {Name: "source"}},
				Notes: []string{fmt.Sprintf("Data set %s, method %s, preset %s. ledg settings NAME shows the details.", c.Data.Dataset, c.Method, c.Preset)}}
			for _, row := range list {
				t.AddRow(row.Path, flagText(row), row.Text(c), row.Default)
			}
			return t.Write(cmd.OutOrStdout(), result.Text)
		},
	}
	f := cmd.Flags()
	f.StringVar(&s.Dataset, "dataset", "", "data set: "+strings.Join(datasets.Names(), ", ")+" (default "+datasets.Drawn+")")
	f.StringVar(&s.Method, "method", "", "method; see ledg methods (default ceg; preset ledg: fixmatch)")
	f.StringVar(&preset, "preset", "", "preset: paper, authors or ledg (default authors)")
	f.BoolVar(&asJSON, "json", false, "print one JSON object per setting")
	return cmd
}

// namedSettings lists the settings that an argument names, all without one, in the order of their
// paths.
func namedSettings(args []string) ([]config.Setting, error) {
	list := config.Settings()
	slices.SortFunc(list, func(a, b config.Setting) int { return strings.Compare(a.Path, b.Path) })
	if len(args) == 0 {
		return list, nil
	}
	name := args[0]
	ofParameter := map[string]any{}
	if p, ok := config.LookupParameter(name); ok {
		ofParameter = p.Set(0)
	}
	list = slices.DeleteFunc(list, func(s config.Setting) bool {
		return ofParameter[s.Path] == nil && !strings.HasPrefix(s.Path+".", name+".") && (s.Flag == "" || s.Flag != strings.TrimPrefix(name, "--"))
	})
	if len(list) == 0 {
		_, err := config.Lookup(name)
		return nil, settingError(err)
	}
	return list, nil
}

func flagText(s config.Setting) string {
	if s.Flag == "" {
		return ""
	}
	return "--" + s.Flag
}

// describe prints everything about settings.
func describe(cmd *cobra.Command, list []config.Setting, c config.Config) error {
	for _, s := range list {
		lines := [][2]string{{"what it is", s.Help}, {"details", s.More}, {"valid", s.Valid()}, {"value", fmt.Sprintf("%s (data set %s, method %s, preset %s)", s.Text(c), c.Data.Dataset, c.Method, c.Preset)},
			{"comes from", s.Default}, {"flag", flagText(s)}}
		fmt.Fprintln(cmd.OutOrStdout(), s.Path)
		for _, l := range lines {
			if l[1] != "" {
				fmt.Fprintf(cmd.OutOrStdout(), "  %-12s%s\n", l[0], l[1])
			}
		}
	}
	return nil
}
