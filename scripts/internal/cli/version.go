package cli

import (
	"cmp"
	"runtime"
	"runtime/debug"

	"github.com/ledg-go/ledg/ceg/result"
)

// Version is the version of a part of the program.
type Version struct{ Name, Version string }

// Versions lists ledg, Go, the engine's modules and the commit that ledg was built from, in
// this order, from the build information; "unknown" stands where the build did not record
// one. A commit whose files were changed has a mark.
func Versions() []Version {
	list := []Version{
		{"ledg", "unknown"},
		{"go", runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH},
		{"gomlx", "unknown"},
		{"compute", "unknown"},
		{"go-xla", "unknown"},
		{"commit", cmp.Or(result.Revision(result.Build()), "unknown")},
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return list
	}
	list[0].Version = info.Main.Version
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
