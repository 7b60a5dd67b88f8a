package site

import (
	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/active/head"
)

// Choose selects k images for the adaptation set by MaxHerding on their features, without labels
// or predictions. One image of a group, as named by group, precedes a second. The result is in
// selection order.
func Choose(ids []string, features head.Matrix, k int, group func(id string) string) ([]string, error) {
	c := &active.Candidates{IDs: ids, Domains: make([]int, len(ids)), Features: features,
		LabelledFeatures: head.Matrix{Cols: features.Cols, Stride: features.Cols}}
	var s active.Strategy = active.MaxHerding{}
	if numbers := map[string]int{}; group != nil {
		for _, id := range ids {
			name := group(id)
			if _, ok := numbers[name]; !ok {
				numbers[name] = len(numbers)
			}
			c.Groups = append(c.Groups, numbers[name])
		}
		if len(numbers) < len(ids) {
			s = active.Grouped{Strategy: s}
		}
	}
	picks, err := s.Query(c, k, nil)
	if err != nil {
		return nil, err
	}
	chosen := make([]string, len(picks))
	for i, p := range picks {
		chosen[i] = ids[p.Index]
	}
	return chosen, nil
}
