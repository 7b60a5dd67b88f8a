package predict

import (
	"context"
	"fmt"
	"slices"

	heads "github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/seed"
)

// Look runs the network on image files and passes features and logits of each to fn in order, or
// the reason why it is unreadable. Slices are reused.
func (p *Predictor) Look(ctx context.Context, paths []string, each func(i int, features, logits []float32, failed error) error) error {
	if err := p.look(); err != nil {
		return err
	}
	d := p.decoder()
	for start := 0; start < len(paths); start += p.batch {
		b, err := d.read(ctx, paths[start:min(start+p.batch, len(paths))])
		if err != nil {
			return err
		}
		features, logits, err := p.forwardBatch(b)
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

// Part runs the network on examples of the run's data set, which must not have moved.
func (p *Predictor) Part(ctx context.Context, list []int) (part site.Part, err error) {
	d := p.Model.Data
	part.Features = heads.Matrix{Cols: p.Model.Features, Stride: p.Model.Features, Data: make([]float32, 0, len(list)*p.Model.Features)}
	part.Logits = heads.Matrix{Cols: p.classes(), Stride: p.classes()}
	err = p.own(ctx, list, func(i int, features, logits []float32) {
		part.IDs, part.Domains = append(part.IDs, d.Examples[i].ID), append(part.Domains, d.Examples[i].Domain)
		part.Features.Data, part.Logits.Data = append(part.Features.Data, features...), append(part.Logits.Data, logits...)
	})
	part.Features.Rows, part.Logits.Rows = len(part.IDs), len(part.IDs)
	return part, err
}

// Sources returns the run's source images: labelled, held-out and at most most unlabelled ones,
// drawn with the run's seed; without the images, no unlabelled ones.
func (p *Predictor) Sources(ctx context.Context, most int) (*site.Sources, error) {
	d, c := p.Model.Data, p.Model.Config
	s := &site.Sources{ClassNames: d.Classes, DomainNames: d.Domains, Trained: c.Network.Name != config.Linear, Own: p.classHead()}
	list, classes, err := p.labelledImages()
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: the run has no labels", p.dir)
	}
	if k := p.Model.Artifact; k != nil {
		if err := p.loadLabelled(); err != nil { // which sees whether they are whole
			return nil, err
		}
		s.Labelled.Features = heads.Matrix{Cols: k.Dim, Stride: k.Dim, Rows: len(list)}
		for _, a := range list {
			s.Labelled.IDs, s.Labelled.Domains = append(s.Labelled.IDs, a.id), append(s.Labelled.Domains, a.domain)
			s.Labelled.Features.Data = append(s.Labelled.Features.Data, row(k.Features, a.row, k.Dim)...)
		}
	} else {
		var at []int
		for _, a := range list {
			i, ok := d.Index(a.id)
			if !ok {
				return nil, fmt.Errorf("%s: %s was queried, but data set %s has no such image", p.dir, a.id, d.Name)
			}
			at = append(at, i)
		}
		if s.Labelled, err = p.Part(ctx, at); err != nil {
			return nil, err
		}
	}
	if k := p.Model.Artifact; k != nil && k.Estimate != nil {
		s.Seen = k.Estimate.Seen
	}
	s.Labelled.Classes, s.Labelled.Groups = classes, p.groups(s.Labelled.IDs)
	held, err := p.logits(ctx, p.labelledOf(func(domain string, split datasets.Split) bool {
		return domain != c.Data.Target && split == datasets.Val
	}))
	if err != nil {
		return nil, err
	}
	s.Held = site.Part{Classes: held.Class, Logits: heads.Matrix{Rows: len(held.Class), Cols: p.classes(), Stride: p.classes(), Data: slices.Concat(held.Logits...)}}
	isQueried := make(map[string]bool, len(list))
	for _, a := range list {
		isQueried[a.id] = true
	}
	var others []int
	for i, e := range d.Examples {
		if d.Domains[e.Domain] != c.Data.Target && e.Split == datasets.Train && !isQueried[e.ID] {
			others = append(others, i)
		}
	}
	seed.New(c.Seed, "others of the sources").Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	others = others[:min(most, len(others))]
	slices.Sort(others)
	if part, err := p.Part(ctx, others); err == nil {
		s.Others = part
	} else if p.Model.Artifact == nil || ctx.Err() != nil {
		return nil, err
	}
	return s, nil
}

// groups are the groups of the run's images, as numbers; nil where fewer than two are known.
func (p *Predictor) groups(ids []string) []int {
	d := p.Model.Data
	var name func(id string) string
	if rule, err := datasets.ParseGroup(p.Model.Config.Data.Group); err == nil && p.Model.Config.Data.Group != "" {
		name = func(id string) string { return datasets.GroupName(rule, id) }
	} else if d.Groups != nil {
		name = func(id string) string {
			if i, ok := d.Index(id); ok {
				return d.GroupNames[d.Groups[i]]
			}
			return ""
		}
	} else {
		return nil
	}
	numbers, list := map[string]int{}, make([]int, len(ids))
	for i, id := range ids {
		key := "image " + id
		if n := name(id); n != "" {
			key = "group " + n
		}
		if _, ok := numbers[key]; !ok {
			numbers[key] = len(numbers)
		}
		list[i] = numbers[key]
	}
	if len(numbers) < 2 {
		return nil
	}
	return list
}

// classHead is the run's, nil where its objective does not use it as it is.
func (p *Predictor) classHead() *heads.Linear {
	if p.Model.Objective.Test != nil {
		return nil
	}
	h := new(heads.Linear)
	for i, param := range p.Model.Params {
		to := &h.Weight
		switch param.Name {
		case nets.ClassHead + ".weight":
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

// labelled is a labelled image of the run: its domain, and its line in queries.csv.
type labelled struct {
	id          string
	domain, row int
}

// labelledImages returns the run's labelled images with their classes; the newest label counts.
func (p *Predictor) labelledImages() (list []labelled, classes []int, err error) {
	queries, err := result.QueriesIn(p.dir)
	if err != nil {
		return nil, nil, err
	}
	at := map[string]int{}
	for i, q := range queries {
		class, domain := slices.Index(p.Model.Data.Classes, q.Class), slices.Index(p.Model.Data.Domains, q.Domain)
		if class < 0 || domain < 0 {
			return nil, nil, fmt.Errorf("%s: %s of %s was labelled %s, but data set %s has no such domain or class", p.dir, q.ID, q.Domain, q.Class, p.Model.Data.Name)
		}
		if k, again := at[q.ID]; again {
			classes[k] = class
			continue
		}
		at[q.ID] = len(list)
		list, classes = append(list, labelled{q.ID, domain, i}), append(classes, class)
	}
	return list, classes, nil
}
