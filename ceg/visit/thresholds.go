package visit

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/site"
)

// Sets returns the conformal threshold by the newest audit of the site in a folder, opened as p, for
// a nominal coverage.
func Sets(dir string, p *predict.Predictor, coverage float64) (*audit.Sets, error) {
	a, err := audited(dir, p)
	if err != nil {
		return nil, err
	}
	q, err := audit.Threshold(a.Scores, coverage)
	return &audit.Sets{Coverage: coverage, Threshold: q, Images: len(a.Scores)}, err
}

// Familiarise has p, which opened the site in a folder, flag images as the site's report does. It does
// nothing for the folder of a run.
func Familiarise(ctx context.Context, dir string, p *predict.Predictor) error {
	if !site.Is(dir) {
		return nil
	}
	r, err := site.Read(dir)
	if err != nil {
		return err
	}
	sources, err := p.Sources(ctx, unlabelled)
	if err != nil {
		return err
	}
	if sources.Blank, err = p.Blank(); err != nil {
		return err
	}
	p.Familiar = sources.Familiar(r.Seed)
	p.Novelty = p.Familiar.Novelty
	return nil
}

// Abstain returns the threshold that abstains on the given share of the least confident images, by
// the newest audit of the site in a folder, opened as p.
func Abstain(dir string, p *predict.Predictor, share float64) (*audit.Abstention, error) {
	a, err := audited(dir, p)
	if err != nil {
		return nil, err
	}
	one, err := audit.Abstain(a.Surest, a.Right, share)
	return &one, err
}

// audited returns the newest audit's results for thresholds; without any, and for a run, it is an
// error.
func audited(dir string, p *predict.Predictor) (none site.Audited, err error) {
	if !site.Is(dir) {
		return none, fmt.Errorf("%s is not a site: a threshold needs an audit (ledg site --ask), since one from the sources holds badly elsewhere", dir)
	}
	r, err := site.Read(dir)
	if err != nil {
		return none, err
	}
	ledger, err := labels.Open(dir, nil, labels.Options{})
	if err != nil {
		return none, err
	}
	defer ledger.Close()
	v, unaudited := r.Audited(), fmt.Errorf("%s has no audited images yet, from which a threshold comes (ledg site --ask)", dir)
	if v == nil {
		return none, unaudited
	}
	a := &arrival{record: r, came: map[string]string{}}
	a.arrived(v)
	if a.seen, err = openSeen(dir, r.Model, p.Model.Features, len(r.Classes), false); err != nil {
		return none, err
	}
	adapted, err := site.ReadHead(dir)
	if err != nil {
		return none, err
	}
	part, err := a.part(v.Audit)
	if err != nil {
		return none, fmt.Errorf("%s: %w", filepath.Join(dir, site.File), err)
	}
	results := v.Audited(r.Classes, part, adapted, p.SetsTemperature, p.Temperature, labelsOf(ledger))
	if len(results.Scores) == 0 {
		return none, unaudited
	}
	return results, nil
}
