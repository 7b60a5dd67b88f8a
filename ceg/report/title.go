package report

import (
	"cmp"
	"slices"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
)

// TitleOfRun is what a reader calls the data set of a run and others with these targets, such as
// "features of emoji". Where data sets share domains, the run's classes tell their features apart.
func TitleOfRun(run *result.Run, targets ...string) string {
	if run.Result != nil {
		for _, d := range datasets.All() {
			if slices.Equal(d.Classes, run.Result.Classes) && len(d.Classes) > 0 {
				targets = append(slices.Clone(targets), d.Domains...)
			}
		}
	}
	return datasetTitle(run.Config.Data.Dataset, targets...)
}

// datasetTitle is what a reader calls a data set. Features are called after the one data set that
// has all of the targets, if there is one.
func datasetTitle(name string, targets ...string) string {
	info, _ := datasets.Lookup(name)
	title := cmp.Or(info.Title, name)
	if !info.Vectors || len(targets) == 0 {
		return title
	}
	var of []string
	for _, d := range datasets.All() {
		foreign := func(target string) bool { return !slices.Contains(d.Domains, target) }
		if !slices.ContainsFunc(targets, foreign) {
			of = append(of, d.Title)
		}
	}
	if len(of) != 1 {
		return title
	}
	return title + " of " + of[0]
}

// titleOf is what a reader calls a data set of the folder.
func (f *Folder) titleOf(dataset string) string {
	var targets []string
	for _, r := range f.Runs {
		if r.Dataset == dataset {
			targets = append(targets, r.Target)
		}
	}
	return datasetTitle(dataset, targets...)
}
