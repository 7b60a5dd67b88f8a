package nb

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/study"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/plots"
)

// IsQuick reports whether the environment variable LEDG_QUICK is set. Notebooks then execute
// tiny runs, for tests: all code runs, and nothing is learned.
func IsQuick() bool { return os.Getenv("LEDG_QUICK") != "" }

// quick are the settings of a run of a second: few and large steps, small enough
// not to kill the network, and pseudo-labels that count as confident.
var quick = map[string]any{
	"schedule.epochs":         3,
	"schedule.per_domain":     64,
	"network.width":           4,
	"data.image_size":         16,
	"optimizer.backbone_rate": 0.001,
	"generalization.tau":      0.1,
}

// quickly returns settings with those of quick.
func quickly(set map[string]any) map[string]any {
	all := map[string]any{}
	maps.Copy(all, set)
	maps.Copy(all, quick)
	return all
}

// Config returns the config of a run, a tiny one in quick mode.
func Config(s config.Spec) config.Config {
	if IsQuick() {
		s.Epochs, s.Set = 0, quickly(s.Set)
		if s.Dataset == datasets.FeaturesFile { // which are small by themselves
			for _, path := range []string{"data.image_size", "network.width", "schedule.per_domain"} {
				delete(s.Set, path)
			}
		}
	}
	c := Must(config.Resolve(s))
	if idle := s.Idle(c); idle != "" {
		fmt.Println("Note: " + idle + ".")
	}
	return c
}

// Study returns a study; in quick mode a tiny one with one target (photo if possible), seed 1
// and tiny runs.
func Study(s study.Study, err error) study.Study {
	Check(err)
	if !IsQuick() {
		return s
	}
	s.Targets, s.Seeds = s.Targets[:1], []uint64{1}
	if s.Dataset == "glyphs" {
		s.Targets = []string{"photo"} // the same in all studies, so that they share runs
	}
	s.Set = quickly(s.Set)
	return s
}

// checkout is the environment variable, set by the kernel, of the repository's folder.
const checkout = "LEDG_CHECKOUT"

// committed returns the path of a file of the repository, given from the folder of its notebooks:
// for a notebook elsewhere, in the kernel's checkout.
func committed(parts ...string) string {
	path := filepath.Join(parts...)
	root := os.Getenv(checkout)
	if inRepository() || root == "" {
		return path
	}
	return filepath.Join(root, "notebooks", path)
}

// PaperRecords returns the committed records of the named studies in scripts/studies, such as
// "announced/paper", as far as they exist; all are in the folder of the first. The notebook can be
// in any folder. In quick mode it executes tiny versions of studies on images and returns their
// records.
func PaperRecords(names ...string) *report.Folder {
	var stored []string
	var plans []*result.Plan
	for _, name := range names {
		stored = append(stored, filepath.Base(name))
		s := Must(study.Load(committed("..", "scripts", "studies", name+".yaml")))
		if IsQuick() && s.Dataset != datasets.FeaturesFile {
			p := Must(Study(s, nil).Plan())
			MustFinish(p.Run(context.Background(), study.Options{Dir: Dir("studies")}))
			plans = append(plans, p.File())
		}
	}
	if plans != nil {
		return report.NewFolder(Dir("studies"), plans...)
	}
	list := Must(filepath.Glob(committed("results", "*", stored[0]+".study.json.zst")))
	if len(list) == 0 {
		Check(fmt.Errorf("the study %s has no records", names[0]))
	}
	return Must(report.Open(filepath.Dir(list[0]), stored...))
}

// MustFinish returns a study's report, and shows the runs that failed. It ends the cell if none is finished; see
// Check.
func MustFinish(r study.Report, err error) study.Report {
	Check(err)
	if len(r.Failed) > 0 && len(r.Finished) == 0 {
		Check(fmt.Errorf("%s: %w", r.Failed[0].Run.Dir, r.Failed[0].Err))
	}
	for _, f := range r.Failed {
		failures = append(failures, failure{f.Run.Config.Method, f.Run.Config.Data.Target, f.Run.Dir, f.Run.Config.Seed, located(f.Err)})
	}
	showFailures()
	return r
}

// Options returns the options of figures, with a function that computes t-SNE coordinates and
// scores that records lack.
func Options(o report.FigureOptions) report.FigureOptions {
	o.Keep = study.Keeper(o.Roots, ceg.Options{SplitsDir: o.SplitsDir})
	return o
}

// Figure shows a figure of a folder; [Save] writes it to a file.
func Figure(f *report.Folder, name string, o report.FigureOptions) Fig {
	return showFig(func(t plots.Theme) (*plots.Grid, error) { return f.Figure(context.Background(), name, t, Options(o)) })
}
