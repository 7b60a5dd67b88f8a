package predict

import (
	"context"
	"fmt"
	"os"
	"slices"

	heads "github.com/ledg-go/ledg/ceg/head"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/seed"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/datasets"
)

// Look runs the network over image files and tells features and logits of each in their
// order, or why it cannot be read. What is told is overwritten later.
func (p *Predictor) Look(ctx context.Context, paths []string, each func(i int, features, logits []float32, failed error) error) error {
	if err := p.look(); err != nil {
		return err
	}
	d := &decoder{p.size}
	for start := 0; start < len(paths); start += p.batch {
		b, err := d.read(ctx, paths[start:min(start+p.batch, len(paths))])
		if err != nil {
			return err
		}
		features, logits, err := p.forward(b.views)
		if err != nil {
			return err
		}
		for i, failed := range b.failed {
			if err := each(start+i, row(features, i, p.Model.Features), row(logits, i, p.classes()), failed); err != nil {
				return err
			}
		}
	}
	return nil
}

// Part runs the network over examples of the run's data set, of classes that are given, nil
// for unknown ones.
func (p *Predictor) Part(ctx context.Context, list []int, classes []int) (part site.Part, err error) {
	d := p.Model.Data
	part.Features = heads.Matrix{Cols: p.Model.Features, Stride: p.Model.Features, Data: make([]float32, 0, len(list)*p.Model.Features)}
	part.Logits = heads.Matrix{Cols: p.classes(), Stride: p.classes()}
	part.Classes = classes
	for start := 0; start < len(list); start += p.batch {
		if ctx.Err() != nil {
			return part, context.Cause(ctx)
		}
		err := p.examples(list[start:min(start+p.batch, len(list))], func(i int, features, logits []float32) {
			part.IDs, part.Domains = append(part.IDs, d.Examples[i].ID), append(part.Domains, d.Examples[i].Domain)
			part.Features.Data, part.Logits.Data = append(part.Features.Data, features...), append(part.Logits.Data, logits...)
			part.Features.Rows, part.Logits.Rows = part.Features.Rows+1, part.Logits.Rows+1
		})
		if err != nil {
			return part, err
		}
	}
	return part, nil
}

// Sources is what the run knows of its source domains: its labels, the held-out images of
// known class, and at most so many of the others, drawn by the run's seed.
func (p *Predictor) Sources(ctx context.Context, most int) (*site.Sources, error) {
	d, c := p.Model.Data, p.Model.Config
	s := &site.Sources{ClassNames: d.Classes, DomainNames: d.Domains, Own: p.Head()}
	list, classes, err := p.answers()
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: the run has no labels", p.dir)
	}
	if s.Labelled, err = p.Part(ctx, list, classes); err != nil {
		return nil, err
	}
	held := p.labelledOf(func(domain string, split datasets.Split) bool {
		return domain != c.Data.Target && split == datasets.Val
	})
	held = slices.DeleteFunc(held, func(i int) bool { return slices.Contains(list, i) })
	var known []int
	for _, i := range held {
		known = append(known, p.truth.Class(i))
	}
	if s.Held, err = p.Part(ctx, held, known); err != nil {
		return nil, err
	}
	isAsked := make(map[int]bool, len(list))
	for _, i := range list {
		isAsked[i] = true
	}
	var others []int
	for i, e := range d.Examples {
		if d.Domains[e.Domain] != c.Data.Target && e.Split == datasets.Train && !isAsked[i] {
			others = append(others, i)
		}
	}
	seed.New(c.Seed, "others of the sources").Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	others = others[:min(most, len(others))]
	slices.Sort(others)
	s.Others, err = p.Part(ctx, others, nil)
	return s, err
}

// answers are the examples that the run has labels of, with their classes.
func (p *Predictor) answers() (list, classes []int, err error) {
	queries, err := result.ReadQueries(os.DirFS(p.dir), result.QueriesFile)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", p.dir, err)
	}
	at := map[string]int{}
	for _, q := range queries {
		i, ok := p.Model.Data.Index(q.ID)
		class := slices.Index(p.Model.Data.Classes, q.Class)
		switch k, again := at[q.ID]; {
		case !ok || class < 0:
			return nil, nil, fmt.Errorf("%s: %s was labelled %s, but data set %s has no such image or class", p.dir, q.ID, q.Class, p.Model.Data.Name)
		case again:
			classes[k] = class
		default:
			at[q.ID] = len(list)
			list, classes = append(list, i), append(classes, class)
		}
	}
	return list, classes, nil
}

// Head is the class head on the network's features, nil if it is not linear.
func (p *Predictor) Head() *heads.Linear {
	if p.Model.Objective.Test != nil {
		return nil
	}
	h := new(heads.Linear)
	for i, param := range p.Model.Params {
		var to *[]float64
		switch param.Name {
		case nets.ClassHead + ".weight":
			to = &h.Weight
		case nets.ClassHead + ".bias":
			to = &h.Bias
		default:
			continue
		}
		for _, v := range p.Model.Values[i] {
			*to = append(*to, float64(v))
		}
	}
	return h
}
