package campaign

import (
	"context"

	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/labels"
)

// likeBad returns the unlabelled images that are nearer to a bad image than to any labelled one,
// by cosine of the clean features: a dark photo should not be replaced by the next dark photo. It
// is nil without bad images, without labelled ones, or without features.
func (o *people) likeBad() (map[string]bool, error) {
	p := o.campaign
	f, ok := p.Data.Features()
	var bad, good []int
	o.queries.Ledger.View(func(s *labels.State) {
		for v := range s.Images() {
			i, ok := p.Data.Index(v.ID)
			switch {
			case !ok:
			case v.Status == labels.IsBad:
				bad = append(bad, i)
			case v.Class != "":
				good = append(good, i)
			}
		}
	})
	if !ok || len(bad) == 0 || len(good) == 0 {
		return nil, nil
	}
	x, err := f.OpenFew(context.Background(), "")
	if err != nil {
		return nil, err
	}
	var scratch []byte
	rows := func(list []int) (cluster.Matrix, error) {
		m := cluster.Matrix{Rows: len(list), Cols: x.Dim, Stride: x.Dim, Data: make([]float32, len(list)*x.Dim)}
		for k, i := range list {
			if err := x.Read(i, 0, m.Data[k*x.Dim:(k+1)*x.Dim], &scratch); err != nil {
				return m, err
			}
		}
		return m, nil
	}
	known := [2]cluster.Matrix{}
	for k, list := range [][]int{bad, good} {
		if known[k], err = rows(list); err != nil {
			return nil, err
		}
	}
	const block = 4096
	like := make(map[string]bool)
	for ids := p.Unlabelled(); len(ids) > 0; ids = ids[min(block, len(ids)):] {
		part := ids[:min(block, len(ids))]
		m, err := rows(p.Examples(part))
		if err != nil {
			return nil, err
		}
		toBad, toGood := audit.Distances(m, known[0]), audit.Distances(m, known[1])
		for k, id := range part {
			like[id] = toBad[k] < toGood[k]
		}
	}
	return like, nil
}
