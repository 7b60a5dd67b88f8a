package run

import (
	"github.com/ledg-go/ledg/ceg/campaign"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/evaluate"
	"github.com/ledg-go/ledg/ceg/learner/examples"
)

// startCampaign opens the data set of a config, and makes its pool, explorer and oracle.
func (r *run) startCampaign(o Options) error {
	data, truth, err := examples.Open(r.c.Data, o.Dir, o.place())
	if err != nil {
		return err
	}
	if r.campaign, err = campaign.New(r.c, data); err != nil {
		return err
	}
	if want := r.c.Exploration.Begun; want != "" {
		begun, err := campaign.Begun(o.Dir, want)
		if err != nil {
			return err
		}
		if err := r.campaign.Begin(begun); err != nil {
			return err
		}
	}
	r.evaluator = evaluate.Evaluator{Data: data, Truth: truth, Target: r.campaign.Target}
	if r.c.Exploration.Oracle != config.People {
		if err := r.campaign.SetOracle(campaign.Simulated(r.campaign, truth.Class)); err != nil {
			return err
		}
	}
	if err := hasNames(r.c, data); err != nil {
		return err
	}
	if r.explorer, err = newExplorer(r.c, r.campaign, r.reporter); err != nil {
		return err
	}
	r.explorer.shared = o.Shared
	return nil
}
