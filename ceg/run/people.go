package run

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/ledg-go/ledg/ceg/campaign"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
)

// setPeople sets human annotators. The classes of their own data set are labels that exist before
// the run; the classes of a benchmark are not used.
func (r *run) setPeople(o Options) error {
	var truth func(int) int
	if info, _ := datasets.Lookup(r.c.Data.Dataset); info.Yours {
		truth = r.evaluator.Truth.Class
	}
	people, notes, err := campaign.People(o.Dir, r.campaign, truth, r.c.Seed)
	if err != nil {
		return err
	}
	for _, note := range notes {
		r.reporter.say("%s", note)
	}
	if err := r.campaign.SetOracle(people); err != nil {
		return err
	}
	if o.Ready != nil {
		o.Ready()
	}
	return nil
}

// stillAwaiting returns an *ErrAwaitingLabels if the run in a folder has
// queries without a label, before anything else is opened.
func stillAwaiting(c Config, o Options) error {
	if _, err := os.Stat(filepath.Join(o.Dir, labels.File)); err != nil {
		return nil // nothing was queried
	}
	d, err := result.Open(o.Dir, c, result.Place{}, o.Resume) // the same config, and no other process
	if err != nil {
		return err
	}
	defer d.Close()
	ledger, err := labels.Open(o.Dir, nil, labels.Options{})
	if err != nil {
		return err
	}
	defer ledger.Close()
	return (&campaign.Queries{Ledger: ledger, By: campaign.RunBy}).Awaiting() // not before the run has queried
}

// awaitLabels waits until all images of the run's last query are labelled.
func awaitLabels(ctx context.Context, dir string) error {
	ledger, err := labels.Open(dir, nil, labels.Options{})
	if err != nil {
		return err
	}
	defer ledger.Close()
	queries := &campaign.Queries{Ledger: ledger}
	for {
		var last int64
		ledger.View(func(s *labels.State) { last = s.Last() })
		var awaiting *ErrAwaitingLabels
		if err := queries.Awaiting(); !errors.As(err, &awaiting) {
			return err
		}
		if _, err := ledger.Wait(ctx, last); err != nil {
			return err
		}
	}
}
