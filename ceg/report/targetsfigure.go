package report

import (
	"slices"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/plots"
)

// Targets returns the accuracy of every seed, by target and method, for [plots.Dots]. It shows the
// runs with the options' budget, and without Methods the first maxCurves of them. Runs that sweep a
// setting are left out.
func (f *Folder) Targets(o FigureOptions) (d plots.DotsData, err error) {
	if o, err = o.withDefaults(f); err != nil {
		return d, err
	}
	runs, err := f.choose(o, func(r result.PlannedRun) bool { return r.Sweep == nil && r.Budget == o.Budget && o.wants(r) })
	if err != nil {
		return d, err
	}
	labels := labelsOf(runs)
	if len(o.Methods) > 0 {
		labels = o.Methods
	} else {
		labels = labels[:min(len(labels), maxCurves)]
	}
	value := accuracy(o.Rule)
	if o.SourceVal {
		d.ValueLabel, value = "Accuracy on source validation (%)", func(out *result.Run) (float64, error) {
			c, err := choiceBy(out, o.Rule)
			if err != nil {
				return 0, err
			}
			v, err := TableOptions{Measure: measures[0].name, SourceVal: true}.measure(out, c)
			return 100 * v, err
		}
	}
	d.Title = f.titleOf(o.Dataset) + ", " + o.Budget
	for _, target := range targetsOf(runs) {
		g := plots.Target{Name: target}
		for _, label := range labels {
			own := slices.DeleteFunc(withLabel(runs, label), func(r result.PlannedRun) bool { return r.Target != target })
			values, err := f.perSeed(own, []string{target}, value)
			if err != nil {
				return d, err
			}
			if len(values) > 0 {
				g.Curves = append(g.Curves, plots.Curve{Name: label, Title: f.ArmName(own[0]), Points: []plots.Point{{Values: values}}})
			}
		}
		if len(g.Curves) > 0 {
			d.Groups = append(d.Groups, g)
		}
	}
	if c := f.chance(runs); c != nil {
		d.References = append(d.References, *c)
	}
	if len(d.Groups) == 0 {
		return d, errNoSeed
	}
	return d, nil
}
