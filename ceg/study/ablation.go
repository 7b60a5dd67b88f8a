package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/result"
)

// Variant is a named change of a method's settings: an ablation, for instance.
type Variant struct {
	// Name is the variant's in tables, such as "w/o S_u". It is appended to the
	// config's Method, unless Apply changes that to a method's name.
	Name string `yaml:"name"`
	// Set holds settings as [Set] takes them.
	Set map[string]any `yaml:"set,omitempty"`
	// Apply changes the config, before Set; nil changes nothing.
	Apply func(*ceg.Config) `yaml:"-"`
}

// Ablations returns the ten rows of the ablation table of Yuan et al. 2022, in
// its order, as changes of CEG. A study refers to them by name, so adding one
// here is all that a new ablation takes.
//
// The paper does not say what becomes of the other MixUp term's weight when one
// is left out; here it stays 0.5.
func Ablations() []Variant {
	return []Variant{
		{Name: "w/ Uniform", Apply: func(c *ceg.Config) { c.Method, c.Exploration.Strategy = "uniform", "uniform" }},
		{Name: "w/o S_u", Apply: func(c *ceg.Config) { c.Exploration.WeightU = 0 }},
		{Name: "w/o S_r", Apply: func(c *ceg.Config) { c.Exploration.Gamma1 = 0 }},
		{Name: "w/o S_d", Apply: func(c *ceg.Config) { c.Exploration.Gamma2 = 0 }},
		{Name: "w/o L_ac w/o L_eg", Apply: func(c *ceg.Config) {
			c.Method, c.Generalization.Consistency, c.Generalization.Delta = "ceg-ce", objective.Nothing, 0
			c.Generalization.Objective = "erm"
		}},
		{Name: "w/o L_ac", Apply: func(c *ceg.Config) { c.Generalization.Consistency = objective.Nothing }},
		{Name: "w/o L_eg", Apply: func(c *ceg.Config) { c.Generalization.Delta = 0 }},
		{Name: "w/o L_eg (M_intra)", Apply: func(c *ceg.Config) { c.Generalization.IntraWeight = 0 }},
		{Name: "w/o L_eg (M_inter)", Apply: func(c *ceg.Config) { c.Generalization.InterWeight = 0 }},
		{Name: "w/ static T", Apply: func(c *ceg.Config) { c.Generalization.ThresholdStart = c.Generalization.ThresholdEnd }},
	}
}

// allAblations stands for every name in a Block's Ablations.
const allAblations = "all"

// ablations returns the variants with the given names.
func ablations(names []string) ([]Variant, error) {
	all := Ablations()
	if slices.Equal(names, []string{allAblations}) {
		return all, nil
	}
	var list []Variant
	for _, name := range names {
		i := slices.IndexFunc(all, func(v Variant) bool { return v.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("no ablation %q; there are %s, and %s for all of them", name, quotedNames(all), allAblations)
		}
		list = append(list, all[i])
	}
	return list, nil
}

func quotedNames(list []Variant) string {
	names := make([]string, len(list))
	for i, v := range list {
		names[i] = fmt.Sprintf("%q", v.Name)
	}
	return strings.Join(names, ", ")
}

// Parameter is a number of the method under its name in the paper.
type Parameter struct {
	// Name is its key in a sweep.
	Name string
	// Apply sets it, Value reads it.
	Apply func(c *ceg.Config, v float64)
	Value func(c ceg.Config) float64
}

// Parameters returns the parameters that the paper's sensitivity figure sweeps,
// and tau. A sweep can name any other numeric setting by its dotted name too.
func Parameters() []Parameter {
	return []Parameter{
		{"delta", func(c *ceg.Config, v float64) { c.Generalization.Delta = v },
			func(c ceg.Config) float64 { return c.Generalization.Delta }},
		// The published code begins with half of T.
		{"T", func(c *ceg.Config, v float64) {
			c.Generalization.ThresholdStart, c.Generalization.ThresholdEnd = v/2, v
		}, func(c ceg.Config) float64 { return c.Generalization.ThresholdEnd }},
		{"gamma1", func(c *ceg.Config, v float64) { c.Exploration.Gamma1 = v },
			func(c ceg.Config) float64 { return c.Exploration.Gamma1 }},
		{"gamma2", func(c *ceg.Config, v float64) { c.Exploration.Gamma2 = v },
			func(c ceg.Config) float64 { return c.Exploration.Gamma2 }},
		{"tau", func(c *ceg.Config, v float64) { c.Generalization.Tau = v },
			func(c ceg.Config) float64 { return c.Generalization.Tau }},
	}
}

// Usual returns the value that the preset of a run has for one of [Parameters]; ok
// is false for others.
func Usual(r result.PlannedRun, parameter string) (value float64, ok bool) {
	c, err := ceg.NewConfig(r.Dataset, r.Target, r.Method, ceg.Preset(r.Preset))
	if err != nil {
		return 0, false
	}
	for _, p := range Parameters() {
		if p.Name == parameter {
			return p.Value(c), true
		}
	}
	return 0, false
}
