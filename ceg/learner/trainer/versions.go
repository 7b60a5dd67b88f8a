package trainer

import (
	"runtime/debug"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/result"
)

// Versions returns the versions of ledg, its engine and its libraries, for the record.
func Versions(b engine.Backend) result.Versions {
	v := result.Versions{Backend: b.Name}
	v.Commit, v.Dirty = result.Build()
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Go, v.Ledg = info.GoVersion, info.Main.Version
	for _, d := range info.Deps {
		switch d.Path {
		case "github.com/gomlx/gomlx":
			v.GoMLX = d.Version
		case "github.com/gomlx/compute":
			v.Compute = d.Version
		}
	}
	return v
}
