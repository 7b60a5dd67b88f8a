package ceg

import (
	"context"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/artifact"
	"github.com/ledg-go/ledg/datasets"
)

// keep writes the artifact by which the run can be used and evaluated without its images; the
// networks process every image once. A run on features with a measured target writes none: its
// features are in their file, and studies make thousands of such runs.
func (r *run) keep(ctx context.Context) error {
	if _, ok := r.campaign.Data.Features(); ok && r.evaluator.KnowsTarget() {
		return nil
	}
	queries, err := result.ReadQueries(r.folder.FS(), result.QueriesFile)
	if err != nil {
		return err
	}
	p, data := r.campaign, r.campaign.Data
	k := &artifact.Artifact{Domains: data.Domains, Classes: data.Classes, Dim: r.trainer.Learner.FeatureDim()}
	features := make(map[int][]float32, len(queries)) // by example
	for _, q := range queries {
		features[p.Example(q.ID)] = nil
	}
	all := make([]int, data.Len())
	for i := range all {
		all[i] = i
	}
	at := 0
	err = r.trainer.Each(ctx, all, func(n int, out learner.Prediction) {
		classes := len(data.Classes)
		for row := range n {
			e, logits := data.Examples[at], out.ClassLogits[row*classes:(row+1)*classes]
			if _, asked := features[at]; asked {
				features[at] = append([]float32(nil), out.Features[row*k.Dim:(row+1)*k.Dim]...)
			}
			class := r.evaluator.Truth.Class(at)
			if class >= 0 && (e.Domain == p.Target || e.Split == datasets.Val) {
				k.Measured, k.Class, k.Logits = append(k.Measured, e), append(k.Class, class), append(k.Logits, logits...)
			}
			if _, labelled := p.Label(e.ID); !labelled && !p.IsGone(e.ID) {
				k.See(e, logits)
			}
			at++
		}
	})
	if err != nil {
		return err
	}
	for _, q := range queries {
		k.Features = append(k.Features, features[p.Example(q.ID)]...)
	}
	if r.c.Network.Name == config.Linear { // whose features are its input
		if k.Estimate, k.Missed, err = r.estimate(features); err != nil {
			return err
		}
	}
	return r.folder.WriteFile(artifact.File, k.Write)
}

// estimate is how right a head on the features of the labelled examples may be, nil of fewer
// than two, and which of them it misses by fits on others like them.
func (r *run) estimate(features map[int][]float32) (*audit.Estimate, []artifact.Missed, error) {
	p := r.campaign
	var ids []string
	var missed []artifact.Missed
	l := audit.Labelled{ClassNames: p.Data.Classes, DomainNames: p.Data.Domains}
	groups := map[int]bool{}
	m := cluster.Matrix{Cols: r.trainer.Learner.FeatureDim()}
	for _, label := range p.Labelled() {
		i := p.Example(label.ID)
		if features[i] == nil {
			continue
		}
		l.Classes, l.Domains = append(l.Classes, label.Class), append(l.Domains, p.Data.Examples[i].Domain)
		ids, m.Data = append(ids, label.ID), append(m.Data, features[i]...)
		if p.Data.Groups != nil {
			l.Groups = append(l.Groups, p.Data.Groups[i])
			groups[p.Data.Groups[i]] = true
		}
	}
	if m.Rows, m.Stride = len(l.Classes), m.Cols; m.Rows < 2 || len(groups) == 1 {
		return nil, nil, nil
	}
	o := head.Options{Mean: make([]float64, m.Cols), Scale: make([]float64, m.Cols)} // they are standardised
	for j := range o.Scale {
		o.Scale[j] = 1
	}
	e, err := audit.Cross(l, func(train []int) (func([]int) []int, error) {
		classes := make([]int, len(train))
		for k, i := range train {
			classes[k] = l.Classes[i]
		}
		h, err := head.Fit(cluster.SelectRows(m, train), classes, len(p.Data.Classes), o)
		if err != nil {
			return nil, err
		}
		return func(test []int) []int { return h.Predict(cluster.SelectRows(m, test)) }, nil
	})
	if err != nil {
		return nil, nil, err
	}
	for _, miss := range e.Missed {
		missed = append(missed, artifact.Missed{ID: ids[miss.Image], Class: l.Classes[miss.Image], Seen: miss.Seen})
	}
	e.By = "logistic regression on the same features"
	x := r.c.Exploration
	if e.Chosen = x.Initial; e.Chosen == "" && p.HasQueries() && x.Strategy != (active.Uniform{}).Name() {
		e.Chosen = x.Strategy
	}
	return e, missed, nil
}
