package ceg

import (
	"context"
	"fmt"

	"github.com/ledg-go/ledg/ceg/config"
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
	if r.c.Network.Name == config.Linear && !r.evaluator.KnowsTarget() { // so training is cheap
		if k.Estimate, k.Missed, err = r.estimate(ctx); err != nil {
			return fmt.Errorf("estimating the accuracy: %w", err)
		}
	}
	return r.folder.WriteFile(artifact.File, k.Write)
}
