package ceg

import (
	"fmt"
	"strings"

	"github.com/ledg-go/ledg/ceg/checkpoint"
	"github.com/ledg-go/ledg/ceg/examples"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/datasets"
)

// Model is what a run trained: its backbone and its class head, as they are in the
// run's last checkpoint.
type Model struct {
	Config   Config
	Backbone nets.Backbone
	// Params describes the parameters, those of nets.ClassHead after the backbone's,
	// and Values has their values, row-major. The last are those of the heads that
	// Objective.Test asks for, if it is there.
	Params []nets.Param
	Values [][]float32
	// Features is the length of a feature vector.
	Features int
	// Data is the data set of the run, which names the classes.
	Data *datasets.Dataset
	// Sources are the domains that the run was trained on.
	Sources []string
	// Objective is what the networks were trained for. Its Test and UnitPixels say
	// how they predict.
	Objective objective.Objective
}

// Dims returns the sizes that the run had.
func (m *Model) Dims() objective.Dims {
	return objective.Dims{Classes: len(m.Data.Classes), Domains: len(m.Sources), PerDomain: m.Config.Schedule.PerDomain,
		ImageSize: m.Config.Data.ImageSize, Backbone: m.Backbone, Features: m.Features}
}

// LoadModel reads the weights of the run in o.Dir and opens its data set, from
// o.Root or else from where the run last found it. The Truth is for whoever
// evaluates.
func LoadModel(o Options) (*Model, datasets.Truth, error) {
	m, truth, err := loadModel(o)
	if err != nil {
		return nil, datasets.Truth{}, err
	}
	return m, truth, nil
}

func loadModel(o Options) (m *Model, truth datasets.Truth, err error) {
	m = new(Model)
	if m.Config, err = readConfig(o.Dir); err != nil {
		return nil, truth, err
	}
	c := m.Config
	if m.Data, truth, err = examples.Open(c.Data, o.where()); err != nil {
		return nil, truth, err
	}
	if m.Backbone, err = backbone(c.Network, vectorOf(m.Data)); err != nil {
		return nil, truth, err
	}
	params, features, err := nets.Params(m.Backbone, c.Data.ImageSize)
	if err != nil {
		return nil, truth, err
	}
	m.Features = features
	m.Params = append(params, nets.LinearParams(nets.ClassHead, features, len(m.Data.Classes))...)
	for _, d := range m.Data.Domains {
		if d != c.Data.Target {
			m.Sources = append(m.Sources, d)
		}
	}
	if m.Objective = objective.New(c); m.Objective.Test != nil && m.Objective.Nets != nil {
		for _, n := range m.Objective.Nets(m.Dims()) {
			m.Params = append(m.Params, n.Params...)
		}
	}
	count := len(m.Params)
	if m.Objective.Predicts != "" { // the average's values, by the names of the others
		for _, p := range m.Params[:count:count] {
			p.Name, p.Fixed = m.Objective.Predicting(p.Name), true
			m.Params = append(m.Params, p)
		}
	}
	head := nets.DomainHead{Hidden: c.Network.DomainHidden}
	all := append(m.Params[:len(m.Params):len(m.Params)], head.Params(features, len(m.Sources))...)
	_, state, ok, err := checkpoint.Read(o.Dir, &c, all)
	if err != nil {
		return nil, truth, err
	}
	if !ok {
		return nil, truth, checkpoint.Missing(o.Dir, c)
	}
	m.Values = state.Weights[len(m.Params)-count : len(m.Params)]
	m.Params = m.Params[:count]
	return m, truth, nil
}

// Trained says in a few words what the weights were trained on.
func (m *Model) Trained() string {
	c := m.Config
	budget := c.Exploration.Budget
	if strings.HasSuffix(budget, "%") {
		budget += " of the"
	}
	trained := fmt.Sprintf("%s (%s), a budget of %s labels", c.Data.Dataset, strings.Join(m.Sources, ", "), budget)
	if w := c.Network.Weights; w != nil {
		trained = w.Data + ", then " + trained
	}
	return trained
}
