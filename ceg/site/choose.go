package site

import (
	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/head"
)

// Choose chooses k images for set A by MaxHerding on their features alone: neither labels nor
// predictions have a part in it. They are in the order of choice.
func Choose(ids []string, features head.Matrix, k int) ([]string, error) {
	c := &active.Candidates{IDs: ids, Domains: make([]int, len(ids)), Features: features,
		LabelledFeatures: head.Matrix{Cols: features.Cols, Stride: features.Cols}}
	picks, err := active.MaxHerding{}.Query(c, k, nil)
	if err != nil {
		return nil, err
	}
	chosen := make([]string, len(picks))
	for i, p := range picks {
		chosen[i] = ids[p.Index]
	}
	return chosen, nil
}
