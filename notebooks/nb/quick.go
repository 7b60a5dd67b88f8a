package nb

import (
	"context"
	"maps"
	"os"
	"path/filepath"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/experiment"
)

// IsQuick reports whether the environment variable LEDG_QUICK is set. Then the
// notebooks' runs are so small that a test can execute them all: they pass through
// everything, and learn nothing.
func IsQuick() bool { return os.Getenv("LEDG_QUICK") != "" }

// quick are the settings of a run of a second: few and large steps.
var quick = map[string]any{
	"schedule.epochs":     3,
	"schedule.per_domain": 64,
	"network.width":       4,
	"data.image_size":     16,
}

// Config returns the config of a run, in quick mode a small one.
func Config(c ceg.Config, err error) ceg.Config {
	Check(err)
	if IsQuick() {
		for name, v := range quick {
			Check(experiment.Set(&c, name, v))
		}
	}
	return c
}

// Study returns a study, in quick mode a small one: a target, a seed and small
// runs.
func Study(s experiment.Study, err error) experiment.Study {
	Check(err)
	if !IsQuick() {
		return s
	}
	s.Targets, s.Seeds = s.Targets[len(s.Targets)-1:], []uint64{1}
	s.Set = maps.Clone(s.Set)
	if s.Set == nil {
		s.Set = map[string]any{}
	}
	maps.Copy(s.Set, quick)
	return s
}

// Folder returns the committed records of the studies in scripts/studies that have
// these names, as far as they are there. In quick mode it runs the studies, small,
// and returns the records of that.
func Folder(names ...string) *experiment.Folder {
	dir := filepath.Join("results", "glyphs")
	if IsQuick() {
		dir = Dir("studies")
	}
	var plans []*experiment.Plan
	for _, name := range names {
		p := Must(Study(experiment.Load(filepath.Join("..", "scripts", "studies", name+".yaml"))).Plan())
		if IsQuick() {
			Finished(p.Run(context.Background(), experiment.Options{Dir: dir, Observe: StudyProgress()}))
		}
		plans = append(plans, p)
	}
	return experiment.NewFolder(dir, plans...)
}

// Finished returns a study's report, and panics if a run of it has failed.
func Finished(r experiment.Report, err error) experiment.Report {
	Check(err)
	if len(r.Failed) > 0 {
		panic(r.Failed[0].Err)
	}
	return r
}
