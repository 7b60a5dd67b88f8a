package run

import (
	"context"
	"fmt"

	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/artifact"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/seed"
)

// writeArtifact writes the artifact by which the run can be used and evaluated without its images; the
// networks process every image once. A run on features with a measured target writes none: its
// features are in their file, and studies make thousands of such runs.
func (r *run) writeArtifact(ctx context.Context, o Options) error {
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
	none := make(map[int]bool)
	for _, id := range r.campaign.None() {
		none[p.Example(id)] = true
	}
	all := make([]int, data.Len())
	for i := range all {
		all[i] = i
	}
	typical := r.typicalSample(none)
	var sample, labels []float32 // features of typical and of labelled images
	var groups, labelGroups []int
	group := func(i int) int {
		if data.Groups != nil {
			return data.Groups[i]
		}
		return i
	}
	at := 0
	err = r.trainer.Each(ctx, all, func(n int, out learner.Prediction) {
		classes := len(data.Classes)
		for row := range n {
			e, logits := data.Examples[at], out.ClassLogits[row*classes:(row+1)*classes]
			if none[at] {
				k.Strangers = append(k.Strangers, out.Features[row*k.Dim:(row+1)*k.Dim]...)
			}
			if _, queried := features[at]; queried {
				features[at] = append([]float32(nil), out.Features[row*k.Dim:(row+1)*k.Dim]...)
			}
			if typical[at] {
				sample, groups = append(sample, out.Features[row*k.Dim:(row+1)*k.Dim]...), append(groups, group(at))
			}
			class := r.evaluator.Truth.Class(at)
			if class >= 0 && (e.Domain == p.Target || e.Split == datasets.Val) {
				k.Measured, k.Class, k.Logits = append(k.Measured, e), append(k.Class, class), append(k.Logits, logits...)
			}
			if _, labelled := p.Label(e.ID); !labelled && !p.IsGone(e.ID) && (e.Split != datasets.Test || e.Domain == p.Target) {
				k.CountPrediction(e, logits)
			}
			at++
		}
	})
	if err != nil {
		return err
	}
	for _, q := range queries {
		x := p.Example(q.ID)
		if none[x] { // its label was withdrawn: it is near nothing
			clear(features[x])
		} else {
			labels, labelGroups = append(labels, features[x]...), append(labelGroups, group(x))
		}
		k.Features = append(k.Features, features[x]...)
	}
	rows := func(data []float32) cluster.Matrix {
		return cluster.Matrix{Rows: len(data) / k.Dim, Cols: k.Dim, Stride: k.Dim, Data: data}
	}
	if len(labels) > 0 {
		distances := audit.DistancesApart(rows(sample), rows(labels), groups, labelGroups)
		if k.Novelty = audit.NewNovelty(distances); len(k.Strangers) > 0 {
			k.Novelty = audit.NewNoveltyBeside(distances, audit.Distances(rows(sample), rows(k.Strangers)))
		}
	}
	if r.c.Network.Name == config.Linear && !r.evaluator.KnowsTarget() && !o.NoEstimate { // so training is cheap
		if err := r.estimate(ctx, k); err != nil {
			return fmt.Errorf("estimating the accuracy: %w", err)
		}
	}
	return r.folder.WriteFile(artifact.File, k.Write)
}

// noveltyImages is the number of images that set the threshold of [audit.Novelty].
const noveltyImages = 2000

// typicalSample draws images of the source domains whose distances set that threshold: from the
// validation splits if these have enough, as no label was chosen to be near them, otherwise from all
// images, labelled or not. Those in none are left out.
func (r *run) typicalSample(none map[int]bool) map[int]bool {
	p := r.campaign
	var list, val []int
	for i, e := range p.Data.Examples {
		if p.IsGone(e.ID) || e.Domain == p.Target || e.Split == datasets.Test || none[i] {
			continue
		}
		list = append(list, i)
		if _, labelled := p.Label(e.ID); e.Split == datasets.Val && !labelled {
			val = append(val, i)
		}
	}
	if len(val) >= 5*audit.FewestForNovelty {
		list = val
	}
	seed.New(r.c.Seed, "novelty").Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	in := make(map[int]bool)
	for _, i := range list[:min(len(list), noveltyImages)] {
		in[i] = true
	}
	return in
}
