package report

import (
	"fmt"
	"slices"

	"github.com/ledg-go/ledg/plots"
)

// DotsOver returns the accuracy on the target at the last epoch of finished runs, by target and
// method; each argument is a run or a folder of runs. With several targets there is a group for
// their average, over the seeds that have all of them.
func DotsOver(dirs ...string) (d plots.DotsData, err error) {
	runs, targets, _, err := readSame(dirs)
	if err != nil {
		return d, err
	}
	for _, run := range runs {
		if run.Result == nil {
			return d, fmt.Errorf("%s: the run is unfinished: %d epochs are recorded", run.Path, len(run.Records))
		}
	}
	list, err := groupRuns(runs, "last_epoch")
	if err != nil {
		return d, err
	}
	d.Note = newNaming(runs).note(runs)
	d.Title = TitleOfRun(runs[0].Run, targets...)
	if c := Chance(runs[0].Config.Data.Dataset, runs[0].Run); c != nil {
		d.References = append(d.References, *c)
	}
	for _, s := range list {
		i := slices.IndexFunc(d.Groups, func(g plots.Target) bool { return g.Name == s.target })
		if i < 0 {
			i = len(d.Groups)
			d.Groups = append(d.Groups, plots.Target{Name: s.target})
		}
		c := plots.Curve{Name: s.method, Title: s.name, Points: []plots.Point{{}}}
		for _, t := range s.trials {
			c.Points[0].Values = append(c.Points[0].Values, 100*t.Value)
		}
		d.Groups[i].Curves = append(d.Groups[i].Curves, c)
	}
	return d, nil
}
