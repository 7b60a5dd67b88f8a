package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/config"
)

// settingFlags are the flags of the settings of a run, and --set for settings without one.
type settingFlags struct{ set []string }

// settingText is the unparsed value of a flag.
type settingText struct{ text, kind string }

func (v *settingText) String() string { return v.text }
func (v *settingText) Type() string   { return v.kind }
func (v *settingText) Set(text string) error {
	v.text = text
	return nil
}

// add adds a flag for every setting that has one and is not there yet.
func (f *settingFlags) add(cmd *cobra.Command) {
	for _, s := range config.Settings() {
		if s.Flag == "" || cmd.Flags().Lookup(s.Flag) != nil {
			continue
		}
		cmd.Flags().Var(&settingText{kind: s.Kind()}, s.Flag, s.Help+valuesText(s)+defaultText(s))
	}
	cmd.Flags().StringArrayVar(&f.set, "set", nil, "set any setting, as `PATH=VALUE`; see ledg settings; repeatable")
}

// maxHelp is the most words of a flag's help, without its default.
const maxHelp = 12

// valuesText lists the values of a setting behind its help, where they fit.
func valuesText(s config.Setting) string {
	if s.Words == nil || !slices.ContainsFunc(words(s), func(w string) bool { return !strings.Contains(s.Help, w) }) {
		return ""
	}
	text := ": " + strings.Join(words(s), ", ")
	if len(strings.Fields(s.Help+text)) > maxHelp {
		return ""
	}
	return text
}

// defaultText is the default of a setting behind its help.
func defaultText(s config.Setting) string {
	switch {
	case s.Default == "required":
		return " (required)"
	case len(strings.Fields(s.Default)) > 6:
		return " (default: see ledg settings " + s.Flag + ")"
	}
	return " (default " + s.Default + ")"
}

// specified returns the settings that the flags specify, by path.
func (f *settingFlags) specified(cmd *cobra.Command) (map[string]any, error) {
	specified := map[string]any{}
	say := func(path, text string) error {
		s, err := config.Lookup(path)
		if err != nil {
			return settingError(err)
		}
		v, err := s.Parse(text)
		if err != nil {
			return settingError(err)
		}
		if _, twice := specified[s.Path]; twice {
			return usagef("%s is given twice", s.Path)
		}
		specified[s.Path] = v
		return nil
	}
	for _, s := range config.Settings() {
		if flag := cmd.Flags().Lookup(s.Flag); s.Flag != "" && flag != nil && flag.Changed && s.Path != "data.classes" {
			if err := say(s.Path, flag.Value.String()); err != nil {
				return nil, err
			}
		}
	}
	for _, text := range f.set {
		path, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, usagef("--set %s: want PATH=VALUE, such as exploration.gamma1=2", text)
		}
		if p, ok := config.LookupParameter(path); ok {
			var v float64
			if _, err := fmt.Sscan(value, &v); err != nil {
				return nil, usagef("--set %s: want a number", text)
			}
			for path, v := range p.Set(v) {
				if err := say(path, fmt.Sprint(v)); err != nil {
					return nil, err
				}
			}
			continue
		}
		if err := say(path, value); err != nil {
			return nil, err
		}
	}
	return specified, nil
}

// flagOf names a setting as the command line does.
func flagOf(path string) string {
	if s, err := config.Lookup(path); err == nil && s.Flag != "" {
		return "--" + s.Flag
	}
	if path == "data.labels" || path == "data.exclude" {
		return "--" + strings.TrimPrefix(path, "data.")
	}
	return path
}

// settingError returns an error about settings as one of usage, with the names of flags.
func settingError(err error) error {
	var one *config.Error
	var two *config.Conflict
	switch {
	case errors.As(err, &one):
		return usagef("%s: %w", flagOf(one.Path), one.Err)
	case errors.As(err, &two):
		return usagef("%s %s and %s %s contradict each other: %s", flagOf(two.Paths[0]), two.Values[0], flagOf(two.Paths[1]), two.Values[1], two.Why)
	}
	return err
}
