package visit

import (
	"fmt"

	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/site"
)

// query selects and draws the images of the newest visit to label, and queries them.
func (a *arrival) query() error {
	v, round := a.record.Last(), len(a.record.Visits)-1
	k, m := a.Adapt, a.Audit
	if k < 0 {
		k = adaptPerClass * len(a.record.Classes)
	}
	if m < 0 {
		m = auditImages
	}
	if v.Drawn && k != len(v.A) && a.Adapt >= 0 {
		a.Say("set A of %d images is chosen already, and stays", len(v.A))
	}
	part, err := a.part(v.Images)
	if err != nil {
		return err
	}
	ledger, err := a.ledger()
	if err != nil {
		return err
	}
	defer ledger.Close()
	if a.Until > 0 {
		if m, err = a.goOn(ledger, v, max(m, audit.Next(0))); err != nil {
			return err
		}
	}
	seed, drawn := a.record.Seed+uint64(round), v.Drawn
	if err := v.Draw(part, k, m, seed, a.record.Groups()); err != nil {
		return fmt.Errorf("%s: %w", a.record.Images, err)
	}
	if !drawn {
		a.Say("%d labels are needed: %d to adapt with (%d classes; --adapt changes it) and an audit of %d (--audit)", k+m, k, len(a.record.Classes), m)
	}
	if err := a.record.Write(a.Dir); err != nil { // before any query
		return err
	}
	// Skipped images are queried again: an audit without hard images would be too optimistic.
	_, err = ledger.Update(func(s *labels.State) (events []labels.Event, err error) {
		for _, id := range audit.Queue(v.A, v.Audit, seed) {
			if !a.isThere(id) {
				continue
			}
			im := s.Image(id)
			if im.Status == labels.IsBad && im.By == goneBy { // its file is there again
				events = append(events, labels.Event{Kind: labels.Undone, Of: im.N, By: goneBy})
			}
			if status := im.Status; status == labels.IsUnqueried || status == labels.IsSkipped {
				events = append(events, labels.Event{Kind: labels.Queried, ID: id, Round: round, By: "ledg site"})
			}
		}
		return events, nil
	})
	return err
}

// goOn returns the length of a visit's audit, at least the given one, when it is extended until
// its interval is narrow enough.
func (a *arrival) goOn(ledger *labels.Ledger, v *site.Visit, least int) (int, error) {
	if len(v.Audit) < least {
		return least, nil
	}
	r, err := a.measure(ledger, v, nil, 1)
	if err != nil {
		return 0, err
	}
	adapted, err := site.ReadHead(a.Dir)
	if err != nil {
		return 0, err
	}
	if adapted != nil {
		if r, err = a.measure(ledger, v, adapted, 1); err != nil {
			return 0, err
		}
	}
	if r.Audited < len(v.Audit)-r.Bad || audit.Wilson(r.Pairs.After()).HalfWidth() <= a.Until {
		return len(v.Audit), nil
	}
	all := len(v.Outside(a.record.Groups()))
	if len(v.Audit) == all {
		a.Say("all %d images outside the adaptation set are in the audit, too few for an interval of +-%.0f points", all, 100*a.Until)
	}
	return min(audit.Next(len(v.Audit)), all), nil
}

// ledger opens the site's, of all classes.
func (a *arrival) ledger() (*labels.Ledger, error) {
	return labels.Open(a.Dir, nil, labels.Options{Domain: func(id string) (string, bool) { return a.data.Domains[0], true }})
}

// labelsOf returns the ledger's labels.
func labelsOf(ledger *labels.Ledger) func(id string) site.Label {
	list := map[string]site.Label{}
	ledger.View(func(s *labels.State) {
		for im := range s.Images() {
			switch {
			case im.Status == labels.IsBad:
				list[im.ID] = site.Label{Bad: true}
			case im.Class != "" && (im.Status == labels.IsLabelled || im.Status == labels.IsUnsure):
				list[im.ID] = site.Label{Class: im.Class}
			}
		}
	})
	return func(id string) site.Label { return list[id] }
}

func (a *arrival) measure(ledger *labels.Ledger, v *site.Visit, adapted *head.Linear, temperature float64) (*site.VisitReport, error) {
	part, err := a.part(v.Images)
	if err != nil {
		return nil, err
	}
	return v.Measure(a.record.Classes, part, adapted, temperature, labelsOf(ledger)), nil
}
