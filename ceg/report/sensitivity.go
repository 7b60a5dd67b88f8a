package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/plots"
)

// Sensitivity returns the sweeps of the folder's studies: a panel per swept parameter, a heat
// map per pair of parameters and method, and as references the means of other methods with the
// same budget. Values are averages over targets, one per seed.
func (f *Folder) Sensitivity(o FigureOptions) (plots.SensitivityData, error) {
	var d plots.SensitivityData
	o, err := o.withDefaults(f)
	if err != nil {
		return d, err
	}
	runs, err := f.choose(o, func(r result.PlannedRun) bool { return r.Budget == o.Budget && r.Sweep != nil })
	if err != nil {
		return d, err
	}
	if len(runs) == 0 {
		return d, fmt.Errorf("no study here sweeps a parameter with %s labels", o.Budget)
	}
	targets := targetsOf(runs)
	refs, err := f.references(o, runs, targets)
	if err != nil {
		return d, err
	}
	comparable := true
	for _, swept := range distinct(runs, func(r result.PlannedRun) string { return strings.Join(r.Swept(), " ") }) {
		names := strings.Fields(swept)
		points, err := f.sweepPoints(o, names, runs, targets)
		if err != nil {
			return d, err
		}
		if len(points) == 0 {
			continue // not begun
		}
		if len(names) > 2 {
			return d, fmt.Errorf("a sweep of %s: a figure shows one or two parameters", swept)
		}
		s := plots.Sweep{Title: onTargets(f.titleOf(o.Dataset), targets), XLabel: ParameterLabel(names[0]), References: refs, Chosen: points[0].usual(o, targets, names[0])}
		for _, m := range distinct(points, func(p sweepPoint) string { return p.method }) {
			own := only(points, func(p sweepPoint) bool { return p.method == m })
			if len(names) == 2 {
				surface := surface(o, names, own, targets, f.titleOf(o.Dataset), refs)
				comparable = comparable && surface.Chosen != nil && samePoints(own, surface.Chosen[:]...)
				d.Surfaces = append(d.Surfaces, surface)
				continue
			}
			c := plots.Curve{Name: m, Title: own[0].title}
			for _, p := range own {
				c.Points = append(c.Points, plots.Point{X: p.at[0], Values: p.values})
			}
			s.Curves = append(s.Curves, c)
			comparable = comparable && s.Chosen != nil && samePoints(own, *s.Chosen)
		}
		if len(names) == 1 {
			s.Published = publishedSweep(names[0], s.Chosen)
			d.Sweeps = append(d.Sweeps, s)
		}
	}
	if len(d.Sweeps)+len(d.Surfaces) == 0 {
		return d, errNoSeed
	}
	d.Changes = comparable
	if c := f.chance(runs); c != nil && !d.Changes { // a heat map has numbers
		for i, s := range d.Sweeps {
			d.Sweeps[i].References = append(slices.Clone(s.References), c...)
		}
	}
	return d, nil
}

// publishedSweep returns the paper's numbers for a parameter, with its default value.
func publishedSweep(name string, usual *float64) (list []plots.Published) {
	pacs, office := plots.Published{Name: "paper, PACS"}, plots.Published{Name: "paper, Office-Home"}
	for _, p := range PaperSensitivity() {
		x, ok := p.At[name]
		switch {
		case p.At == nil && usual != nil:
			x = *usual
		case !ok || len(p.At) != 1:
			continue
		}
		pacs.Points = append(pacs.Points, plots.PublishedPoint{X: x, Y: p.PACS})
		office.Points = append(office.Points, plots.PublishedPoint{X: x, Y: p.OfficeHome})
	}
	if len(pacs.Points) < 2 { // no number but the default's
		return nil
	}
	return []plots.Published{pacs, office}
}

// samePoints reports whether a method has the usual value, and the same finished seeds there as
// at its other points, so that changes from it are paired.
func samePoints(points []sweepPoint, usual ...float64) bool {
	i := slices.IndexFunc(points, func(q sweepPoint) bool { return slices.Equal(q.at, usual) })
	return i >= 0 && !slices.ContainsFunc(points, func(p sweepPoint) bool {
		return len(p.values) != len(p.seeds) || !slices.Equal(p.seeds, points[i].seeds)
	})
}

// surface makes a heat map of one method's points.
func surface(o FigureOptions, names []string, points []sweepPoint, targets []string, dataset string, refs []plots.Reference) plots.Surface {
	s := plots.Surface{
		Title: plots.Symbols(points[0].title) + ", " + onTargets(dataset, targets), XLabel: ParameterLabel(names[0]), YLabel: ParameterLabel(names[1]), References: refs,
	}
	x, y := points[0].usual(o, targets, names[0]), points[0].usual(o, targets, names[1])
	for _, p := range points {
		s.Cells = append(s.Cells, plots.Cell{X: p.at[0], Y: p.at[1], Values: p.values})
		if x != nil && y != nil && p.at[0] == *x && p.at[1] == *y {
			s.Chosen = &[2]float64{*x, *y}
		}
	}
	return s
}

// sweepPoint is what the seeds gave a method at one point of a sweep.
type sweepPoint struct {
	method, title string
	at            []float64 // in the order of the sweep's names
	values        []float64 // by seed, of those finished on all targets
	seeds         []uint64  // planned
}

// sweepPoints collects the points of one sweep, sorted by method and place.
func (f *Folder) sweepPoints(o FigureOptions, names []string, runs []result.PlannedRun, targets []string) ([]sweepPoint, error) {
	var points []sweepPoint
	runs = only(runs, func(r result.PlannedRun) bool { return slices.Equal(r.Swept(), names) })
	for _, label := range labelsOf(runs) {
		own := withLabel(runs, label)
		values, err := f.perSeed(own, targets, o.Rule)
		if err != nil {
			return nil, err
		}
		if len(values) > 0 {
			p := sweepPoint{method: own[0].Method, values: values, seeds: slices.Sorted(slices.Values(distinct(own, func(r result.PlannedRun) uint64 { return r.Seed })))}
			for _, n := range names {
				p.at = append(p.at, own[0].Sweep[n])
			}
			r := own[0]
			p.title = f.ArmName(result.PlannedRun{Dataset: r.Dataset, Preset: r.Preset, Target: r.Target, Method: r.Method})
			points = append(points, p)
		}
	}
	slices.SortFunc(points, func(a, b sweepPoint) int {
		return cmp.Or(cmp.Compare(a.method, b.method), slices.Compare(a.at, b.at))
	})
	return points, nil
}

// usual returns the value that the preset has for the parameter, nil if it has none.
func (p sweepPoint) usual(o FigureOptions, targets []string, name string) *float64 {
	parameter, ok := config.LookupParameter(name)
	if !ok {
		return nil
	}
	c, err := config.Resolve(config.Spec{Dataset: o.Dataset, Preset: config.Preset(o.Preset), Target: targets[0], Method: p.method})
	if err != nil {
		return nil
	}
	v := parameter.Of(c)
	return &v
}

// parameterLabels are what figures call the swept parameters of the paper, and tau.
var parameterLabels = map[string]string{
	"delta":  "weight δ of L_eg",
	"T":      "threshold T",
	"gamma1": "gamma1 (representativeness)",
	"gamma2": "gamma2 (diversity)",
	"tau":    "confidence threshold τ",
	"lr":     "learning rate",
}

// ParameterLabel returns the label of a swept setting in figures: in words for the paper's, else
// its path.
func ParameterLabel(name string) string { return cmp.Or(parameterLabels[name], name) }

// references returns the means of the methods that are there besides the swept
// ones, or of those that the options name.
func (f *Folder) references(o FigureOptions, swept []result.PlannedRun, targets []string) ([]plots.Reference, error) {
	runs, err := f.choose(o, func(r result.PlannedRun) bool { return r.Budget == o.Budget && r.Sweep == nil && o.wants(r) })
	if err != nil {
		return nil, err
	}
	var refs []plots.Reference
	for _, label := range labelsOf(runs) {
		own := withLabel(runs, label)
		if len(o.Methods) == 0 && slices.ContainsFunc(swept, func(r result.PlannedRun) bool { return r.Method == own[0].Method }) {
			continue // the swept method, or a variant of it
		}
		values, err := f.perSeed(own, targets, o.Rule)
		if err != nil {
			return nil, err
		}
		if len(values) > 0 {
			refs = append(refs, plots.Reference{Name: fmt.Sprintf("%s (n = %d)", f.ArmName(own[0]), len(values)), Y: stat.Mean(values, nil)})
		}
	}
	return refs, nil
}

// wants reports whether the options name the run's label, or no labels at all.
func (o FigureOptions) wants(r result.PlannedRun) bool {
	return len(o.Methods) == 0 || slices.Contains(o.Methods, r.Label())
}
