package visit

import (
	"cmp"
	"context"

	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/rgb"
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
	r.Months, err = a.sources.Months(&v, part, h, label, func(id string) (camera, month string) {
		id = rgb.FilePath(id)
		if camera = datasets.Camera(id); camera == "." {
			camera = a.record.Name
		}
		if t, ok := found.Times[id]; ok {
			month = t.Format("2006-01")
		}
		return camera, month
	})
	return err
}
