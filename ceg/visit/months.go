package visit

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/rgb"
	"github.com/ledg-go/ledg/datasets/seed"
)

// captured returns the times and events of all photos in the site's folder.
func (a *arrival) captured(ctx context.Context) (*datasets.Captured, error) {
	c := datasets.Capture{}
	if a.record.Capture != nil {
		c = *a.record.Capture
	}
	var also []string // behind links
	for _, e := range a.data.Examples {
		also = append(also, rgb.FilePath(e.ID))
	}
	return c.Find(ctx, a.record.Images, nil, also...)
}

// months adds what is known of each camera and month to the report; all are the images of the visits.
func (a *arrival) months(ctx context.Context, r *site.Report, all []site.Part, adapted *head.Linear, with int, label func(id string) site.Label) error {
	found, err := a.captured(ctx)
	if err != nil {
		return err
	}
	if err := a.loadSources(ctx); err != nil {
		return err
	}
	var part site.Part
	var v site.Visit
	for k, p := range all {
		part.IDs, part.Features, part.Logits = append(part.IDs, p.IDs...), cluster.Join(part.Features, p.Features), cluster.Join(part.Logits, p.Logits)
		v.A, v.Audit = append(v.A, a.record.Visits[k].A...), append(v.Audit, a.record.Visits[k].Audit...)
	}
	h := site.Heads{Adapted: adapted, With: with, Next: cmp.Or(2*with, adaptPerClass*len(a.record.Classes)), Seed: a.record.Seed}
	if h.Names, _, err = a.p.NamesLogits(part.Features); err != nil {
		return err
	}
	r.Months, err = a.sources.Months(&v, part, h, label, monthOf(found, a.record.Name))
	return err
}

// monthOf returns the camera and the month of an item; photos in no folder are of the camera called name.
func monthOf(found *datasets.Captured, name string) func(id string) (camera, month string) {
	return func(id string) (camera, month string) {
		id = rgb.FilePath(id)
		if camera = datasets.Camera(id); camera == "." {
			camera = name
		}
		if t, ok := found.Times[id]; ok {
			month = t.Format("2006-01")
		}
		return camera, month
	}
}

// Evaluate describes by camera and month the images that the run in o.Dir was not trained on: those of its target,
// and those held out at its sources. Of each group with known classes, such as an event or a photo with its boxes,
// one image drawn with the run's seed is audited. images is the folder of the photos, whose times c finds.
func Evaluate(ctx context.Context, o run.Options, images string, c datasets.Capture) (*site.Report, error) {
	config, d, truth, err := run.OpenData(o)
	if err != nil {
		return nil, err
	}
	found, err := c.Find(ctx, images, nil)
	if err != nil {
		return nil, err
	}
	var list []int
	at := make(map[string]int)
	for i, e := range d.Examples {
		if e.Split == datasets.Train && d.Domains[e.Domain] != config.Data.Target {
			continue
		}
		if _, there := slices.BinarySearch(found.IDs, rgb.FilePath(e.ID)); !there {
			return nil, fmt.Errorf("%s has no %s, which the run has: want the folder of the run's photos", images, rgb.FilePath(e.ID))
		}
		list, at[e.ID] = append(list, i), i
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: the run was trained on all of its images: give ledg train a --target, or labels of more images", o.Dir)
	}
	p, err := predict.OpenWith(o)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	sources, err := p.Sources(ctx, 0)
	if err != nil {
		return nil, err
	}
	part, err := p.Part(ctx, list)
	if err != nil {
		return nil, err
	}
	v, audited := &site.Visit{}, make(map[int]bool)
	for _, k := range seed.New(config.Seed, "audit of groups").Perm(len(list)) {
		i := list[k]
		if !truth.Knows(i) || d.Groups != nil && audited[d.Groups[i]] {
			continue
		}
		if v.Audit = append(v.Audit, d.Examples[i].ID); d.Groups != nil {
			audited[d.Groups[i]] = true
		}
	}
	h := site.Heads{Next: adaptPerClass * len(d.Classes), Seed: config.Seed}
	if h.Names, _, err = p.NamesLogits(part.Features); err != nil {
		return nil, err
	}
	r := &site.Report{Run: o.Dir, Classes: d.Classes}
	r.Months, err = sources.Months(v, part, h, func(id string) site.Label {
		return site.Label{Class: d.Classes[truth.Class(at[id])]}
	}, monthOf(found, filepath.Base(images)))
	return r, err
}
