package report

import "github.com/ledg-go/ledg/ceg/config"

// Looks lists the arms that look the same in every figure, for plots.Theme.Arms.
func Looks() (names []string) {
	add := func(initial, strategy, objective string, schedule config.Timing, presets ...config.Preset) {
		a := config.Arm{Initial: initial, Strategy: strategy, Objective: objective, Schedule: schedule}
		if len(presets) > 0 {
			a.Preset, a.Changed = presets[0], objective == config.CEG
		}
		names = append(names, a.Name())
	}
	published := func(strategy, objective string) { add("uniform", strategy, objective, config.Published) }
	upfront := func(initial, objective string, preset ...config.Preset) {
		add(initial, "", objective, config.Once, preset...)
	}
	published("ceg", config.CEG)
	published("uniform", config.CEG)
	upfront("uniform", config.FixMatch)
	upfront("maxherding", config.FixMatch, config.Ledg)
	upfront("maxherding", config.CEG)
	upfront("uniform", config.CEG)
	published("uniform", config.ERM)
	upfront("maxherding", config.FixMatch)
	upfront("uniform", config.ERM)
	for _, s := range []string{"entropy", "badge", "ceg", "bvsb"} {
		published(s, config.ERM)
	}
	upfront("typiclust", config.FixMatch)
	add("maxherding", "ceg", config.CEG, config.Published)
	published("confidence", config.ERM)
	published("coreset", config.ERM)
	upfront("typiclust", config.CEG)
	upfront("maxherding", config.CEG, config.Ledg)
	for _, o := range []string{"mixmatch", "meanteacher", "ddaig", "jigen", "fact"} {
		upfront("uniform", o)
	}
	upfront("uniform", config.FixMatch, config.Ledg)
	for _, o := range []string{"rsc", "crossgrad", "dael"} {
		upfront("uniform", o)
	}
	add("uniform", "ceg", config.CEG, config.Early)
	upfront("maxherding", "logistic")
	upfront("maxherding", config.ERM)
	upfront("typiclust", config.ERM)
	upfront("uniform", "stylematch")
	add("uniform", "uniform", config.CEG, config.Early)
	upfront("uniform", "logistic")
	return names
}
