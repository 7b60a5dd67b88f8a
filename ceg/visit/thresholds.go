package visit

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/site"
)

// Sets returns the conformal threshold of an opened run or site in a folder, for a nominal
// coverage: by the audit of the site's newest visit or, without one, by leave-one-domain-out on
// the run, which has no guarantee.
func Sets(ctx context.Context, dir string, p *predict.Predictor, coverage float64) (*audit.Sets, error) {
	s := &audit.Sets{Coverage: coverage}
	if site.Is(dir) {
		a, err := audited(dir, p)
		if err != nil {
			return nil, err
		}
		if s.Images = len(a.Scores); s.Images > 0 {
			s.Threshold, err = audit.Threshold(a.Scores, coverage)
			return s, err
		}
	}
	sources, err := p.Sources(ctx, 0)
	if err != nil {
		return nil, err
	}
	scores, err := sources.LeftOut(p.SetsTemperature)
	if err != nil {
		return nil, err
	}
	s.Domains = len(scores)
	if s.Domains < 2 {
		return nil, errors.New("sets need an audit of a site (ledg site --ask), or labels of two sites, so that one can be left out")
	}
	if s.Threshold, _, err = audit.LeftOut(scores, coverage); err != nil {
		return nil, fmt.Errorf("of a site that is left out: %w", err)
	}
	return s, nil
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

// Abstain returns the threshold that abstains on the given share of the least confident images
// of the site in a folder, opened as p. It needs an audit.
func Abstain(dir string, p *predict.Predictor, share float64) (*audit.Abstention, error) {
	if !site.Is(dir) {
		return nil, fmt.Errorf("%s is not a site: a threshold for abstaining needs an audit (ledg site --ask), since a threshold from the sources holds badly elsewhere", dir)
	}
	a, err := audited(dir, p)
	if err != nil {
		return nil, err
	}
	if len(a.Surest) == 0 {
		return nil, fmt.Errorf("%s has no audited images yet, from which a threshold to abstain by comes (ledg site --ask)", dir)
	}
	one, err := audit.Abstain(a.Surest, a.Right, share)
	return &one, err
}

// audited returns the newest audit's results for thresholds.
func audited(dir string, p *predict.Predictor) (none site.Audited, err error) {
	r, err := site.Read(dir)
	if err != nil {
		return none, err
	}
	ledger, err := labels.Open(dir, nil, labels.Options{})
	if err != nil {
		return none, err
	}
	defer ledger.Close()
	v := r.Audited()
	if v == nil {
		return none, nil
	}
	a := &arrival{record: r, came: map[string]string{}}
	a.arrived(v)
	if a.seen, err = openSeen(dir, r.Model, p.Model.Features, len(r.Classes)); err != nil {
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
	return v.Audited(r.Classes, part, adapted, p.SetsTemperature, p.Temperature, labelsOf(ledger)), nil
}
