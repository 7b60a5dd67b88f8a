package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ledg-go/ledg/plots"
)

const differenceLabel = "Difference in accuracy (pp)"

// minus is [minus] of panels of the selection. It is an error if a curve has other seeds than the baseline.
func (s selection) minus(panels []plots.Target, baseline string) (zero []plots.Reference, err error) {
	if zero, err = minus(panels, baseline); err != nil {
		return nil, err
	}
	cell := func(r *RecordedRun) string { return r.Config.Data.Target + " with " + r.budget() }
	seeds := map[string]map[string][]uint64{} // by method and cell
	for _, a := range s.methods {
		seeds[a.name] = map[string][]uint64{}
		for _, c := range methodsBy(a.runs, cell) {
			for _, r := range c.runs {
				seeds[a.name][c.name] = append(seeds[a.name][c.name], r.Config.Seed)
			}
			slices.Sort(seeds[a.name][c.name])
		}
	}
	for _, p := range panels {
		for _, c := range p.Curves {
			for at, own := range seeds[c.Name] {
				if base := seeds[baseline][at]; !slices.Equal(own, base) {
					return nil, fmt.Errorf("%s on %s has the seeds %v, %s has %v: want the same", c.Name, at, own, baseline, base)
				}
			}
		}
	}
	return zero, nil
}

// minus replaces the values of panels by their differences to the curve of that name, paired by place, and
// returns the line at zero that stands for it.
func minus(panels []plots.Target, baseline string) (zero []plots.Reference, err error) {
	for i, t := range panels {
		at := slices.IndexFunc(t.Curves, func(c plots.Curve) bool { return c.Name == baseline })
		if at < 0 {
			return nil, fmt.Errorf("%s has no row %q to subtract, name it as a method, too", t.Name, baseline)
		}
		base := t.Curves[at]
		zero = []plots.Reference{{Name: cmp.Or(base.Title, base.Name)}}
		panels[i].Curves = slices.Delete(t.Curves, at, at+1)
		for _, c := range panels[i].Curves {
			for _, p := range c.Points {
				k := slices.IndexFunc(base.Points, func(b plots.Point) bool { return b.X == p.X })
				if k < 0 || len(base.Points[k].Values) != len(p.Values) {
					return nil, fmt.Errorf("%s on %s has other seeds than %s", c.Name, t.Name, baseline)
				}
				for s, v := range base.Points[k].Values {
					p.Values[s] -= v
				}
			}
		}
	}
	return zero, nil
}
