package config

import "slices"

// Parameter is a hyperparameter of the method under its name in the paper, which can be used in
// place of a setting's path.
type Parameter struct {
	Name string
	// Set returns the settings, by path, for a value of the hyperparameter.
	Set func(v float64) map[string]any
	// Of returns its value in a config.
	Of func(c Config) float64
}

// Parameters returns the hyperparameters of the paper's sensitivity figure, tau, and lr for all
// three learning rates.
func Parameters() []Parameter {
	one := func(name, path string, of func(c Config) float64) Parameter {
		return Parameter{name, func(v float64) map[string]any { return map[string]any{path: v} }, of}
	}
	return []Parameter{
		one("delta", "generalization.delta", func(c Config) float64 { return c.Generalization.Delta }),
		// The published code begins with half of T.
		{"T", func(v float64) map[string]any {
			return map[string]any{"generalization.threshold_start": v / 2, "generalization.threshold_end": v}
		}, func(c Config) float64 { return c.Generalization.ThresholdEnd }},
		one("gamma1", "exploration.gamma1", func(c Config) float64 { return c.Exploration.Gamma1 }),
		one("gamma2", "exploration.gamma2", func(c Config) float64 { return c.Exploration.Gamma2 }),
		one("tau", "generalization.tau", func(c Config) float64 { return c.Generalization.Tau }),
		{"lr", func(v float64) map[string]any {
			return map[string]any{"optimizer.backbone_rate": v, "optimizer.class_head_rate": v, "optimizer.domain_head_rate": v}
		}, func(c Config) float64 { return c.Optimizer.ClassHeadRate }},
	}
}

// LookupParameter returns the hyperparameter called name; ok is false if there is none.
func LookupParameter(name string) (p Parameter, ok bool) {
	list := Parameters()
	i := slices.IndexFunc(list, func(p Parameter) bool { return p.Name == name })
	if i < 0 {
		return Parameter{}, false
	}
	return list[i], true
}
