package cli

import (
	"runtime"
	"runtime/debug"
)

// Version is that of a part of the program.
type Version struct{ Name, Version string }

// Versions lists ledg, Go and the engine's modules, in this order, from the
// build information; "unknown" stands where the build did not record one.
func Versions() []Version {
	list := []Version{
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
	list[0].Version = info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && (list[0].Version == "" || list[0].Version == "(devel)") {
			list[0].Version = s.Value
		}
	}
	for _, dep := range info.Deps {
		switch dep.Path {
		case "github.com/gomlx/gomlx":
			list[2].Version = dep.Version
		case "github.com/gomlx/compute":
			list[3].Version = dep.Version
		case "github.com/gomlx/go-xla":
			list[4].Version = dep.Version
		}
	}
	return list
}
