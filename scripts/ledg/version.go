package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/engine"
)

// newVersionCommand prints what this program was built from.
func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of ledg, Go and the engine",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, v := range versions() {
				fmt.Fprintf(cmd.OutOrStdout(), "%-8s %s\n", v.name, v.version)
			}
			if slow := engine.SlowBuild(); slow != "" {
				fmt.Fprintln(cmd.OutOrStdout(), slow)
			}
			return nil
		},
	}
}

type namedVersion struct{ name, version string }

// versions lists ledg, Go and the engine's modules, in this order, from the
// build information; "unknown" stands where the build did not record one.
func versions() []namedVersion {
	list := []namedVersion{
		{"ledg", "unknown"},
		{"go", runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH},
		{"gomlx", "unknown"},
		{"compute", "unknown"},
		{"go-xla", "unknown"},
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return list
	}
	list[0].version = info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && (list[0].version == "" || list[0].version == "(devel)") {
			list[0].version = s.Value
		}
	}
	for _, dep := range info.Deps {
		switch dep.Path {
		case "github.com/gomlx/gomlx":
			list[2].version = dep.Version
		case "github.com/gomlx/compute":
			list[3].version = dep.Version
		case "github.com/gomlx/go-xla":
			list[4].version = dep.Version
		}
	}
	return list
}

// engineVersion names the version of what computes.
func engineVersion(s engine.Settings) string {
	if s.PluginAPI != "" {
		return "PJRT " + s.PluginAPI
	}
	for _, v := range versions() {
		if v.name == "compute" {
			return "compute " + v.version
		}
	}
	return ""
}
