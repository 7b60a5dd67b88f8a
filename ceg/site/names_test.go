package site

import (
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/active/head"
)

// Names alone are compared with the network in use, on the same labelled images.
func TestMeasureNames(t *testing.T) {
	logits := func(best ...int) head.Matrix {
		m := head.Matrix{Rows: len(best), Cols: 2, Stride: 2, Data: make([]float32, 2*len(best))}
		for i, c := range best {
			m.Data[2*i+c] = 1
		}
		return m
	}
	ids := strings.Split("abcdefgh", "")
	label := func(id string) Label {
		if id == "h" {
			return Label{}
		}
		return Label{Class: map[bool]string{true: "cat", false: "dog"}[id < "d"]}
	}
	v := &Visit{Images: ids, Audit: ids}
	part := Part{IDs: ids, Logits: logits(0, 0, 0, 1, 1, 1, 0, 0)} // 6 of 7 right
	for want, names := range map[string]head.Matrix{
		"7/7 right; the network in use gains -14 points":                               logits(0, 0, 0, 1, 1, 1, 1, 0),
		"labels do not pay yet":                                                        logits(0, 0, 0, 1, 1, 1, 0, 1),
		"3/7 right; the network in use gains +43 points, -10 to +77 (not significant)": logits(0, 0, 0, 0, 0, 0, 0, 0),
	} {
		r := v.MeasureNames([]string{"cat", "dog"}, part, names, nil, label)
		if got := r.String(); !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if r := v.MeasureNames([]string{"cat", "dog"}, part, part.Logits, nil, func(string) Label { return Label{} }); r != nil {
		t.Errorf("without labels: %v", r)
	}
}
