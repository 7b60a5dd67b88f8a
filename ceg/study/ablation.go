package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/config"
)

// Variant is a named change of a method's settings, such as an ablation.
type Variant struct {
	// Name is the variant's name in tables, such as "w/o S_u". It follows the method's name,
	// unless the variant has a Method.
	Name string `yaml:"name"`
	// Method replaces the block's method; empty keeps it.
	Method string `yaml:"method,omitempty"`
	// Set holds settings by path, as in [config.Spec].
	Set map[string]any `yaml:"set,omitempty"`
	// Apply changes the resulting config; it may be nil.
	Apply func(*config.Config) `yaml:"-"`
}

// Ablations returns the ten rows of the ablation table of Yuan et al. 2022 (Table 3), in its
// order, as variants of CEG. Studies refer to them by name.
//
// The paper does not state the weight of the remaining MixUp term when the other is left out;
// here it stays 0.5.
func Ablations() []Variant {
	set := func(path string, v any) map[string]any { return map[string]any{path: v} }
	return []Variant{
		{Name: "w/ Uniform", Method: "uniform"},
		{Name: "w/o S_u", Set: set("exploration.weight_u", 0)},
		{Name: "w/o S_r", Set: set("exploration.gamma1", 0)},
		{Name: "w/o S_d", Set: set("exploration.gamma2", 0)},
		{Name: "w/o L_ac w/o L_eg", Method: "ceg-ce"},
		{Name: "w/o L_ac", Set: set("generalization.consistency", config.Nothing)},
		{Name: "w/o L_eg", Set: set("generalization.delta", 0)},
		{Name: "w/o L_eg (M_intra)", Set: set("generalization.intra_weight", 0)},
		{Name: "w/o L_eg (M_inter)", Set: set("generalization.inter_weight", 0)},
		{Name: "w/ static T", Apply: func(c *config.Config) { c.Generalization.ThresholdStart = c.Generalization.ThresholdEnd }},
	}
}

// allAblations stands for every name in a Block's Ablations.
const allAblations = "all"

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
