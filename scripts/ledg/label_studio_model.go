package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/evaluate"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/labels/studio"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/seed"
)

// studioModel is the model of a run, with the order of its queries.
type studioModel struct {
	b       *studioBackend
	version string
	place   map[string]float64 // of images to query, in [0, 0.5)
	trained map[string]string  // classes of images

	mu sync.Mutex
	p  *predict.Predictor // nil before training
}

// orderOfUniform is the strategy that ranks images for a run with random selection: one that needs
// only class probabilities.
const orderOfUniform = "bvsb"

// mostRanked is the maximum number of images that the query strategy ranks, which bounds the time.
const mostRanked = 1000

// open opens the model of a run and ranks the images to query.
func (b *studioBackend) open(dir string) (m *studioModel, err error) {
	m = &studioModel{b: b, version: filepath.Base(dir) + " untrained", place: make(map[string]float64), trained: make(map[string]string)}
	var wanted []string
	if result.Finished(os.DirFS(dir)) {
		if m.p, err = predict.OpenWith(ceg.Options{Dir: dir, Backend: b.backend, CacheDir: b.cache}); err != nil {
			return nil, err
		}
		m.version = fmt.Sprintf("%s %.8s", filepath.Base(dir), m.p.Model.Digest())
		queries, err := result.ReadQueries(os.DirFS(dir), result.QueriesFile)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		for _, q := range queries {
			m.trained[q.ID] = q.Class
		}
		ranked, err := b.rank(dir)
		if err != nil {
			b.log("%s: images are ordered by the model's confidence only: %w", dir, err)
		}
		wanted = ranked
	} else {
		b.ledger.View(func(s *labels.State) {
			for _, v := range s.OpenImages(-1) {
				wanted = append(wanted, v.ID)
			}
		})
	}
	for i, id := range wanted {
		m.place[id] = 0.5 * float64(i) / float64(len(wanted))
	}
	return m, nil
}

// rank returns the unlabelled images in the order of a query strategy, computed with the run's
// networks.
func (b *studioBackend) rank(dir string) ([]string, error) {
	e, err := ceg.Embed(b.ctx, ceg.Options{Dir: dir, Backend: b.backend, CacheDir: b.cache})
	if err != nil {
		return nil, err
	}
	c := &active.Candidates{}
	var free, labelled []int
	b.ledger.View(func(s *labels.State) {
		for i, id := range e.IDs {
			v := s.Image(id)
			class := e.Classes[i]
			for k, name := range e.ClassNames {
				if v.Class == name {
					class = k
				}
			}
			switch {
			case class != datasets.Unknown:
				labelled = append(labelled, i)
				c.LabelledClasses, c.LabelledDomains = append(c.LabelledClasses, class), append(c.LabelledDomains, e.Domains[i])
			case v.Status != labels.IsBad && v.Status != labels.IsNone:
				free = append(free, i)
				c.IDs, c.Domains = append(c.IDs, id), append(c.Domains, e.Domains[i])
			}
		}
	})
	pick := cluster.SelectRows
	c.Features, c.ClassProbs, c.DomainProbs = pick(e.Features, free), pick(e.ClassProbs, free), pick(e.DomainProbs, free)
	c.LabelledFeatures, c.LabelledClassProbs = pick(e.Features, labelled), pick(e.ClassProbs, labelled)
	conf, _, _, err := run.OpenData(ceg.Options{Dir: dir, CacheDir: b.cache})
	if err != nil {
		return nil, err
	}
	x := &conf.Exploration
	if x.Strategy = cmp.Or(b.strategy, x.Strategy); x.Strategy == "uniform" && b.strategy == "" {
		x.Strategy = orderOfUniform
	}
	strategy, err := x.QueryStrategy(conf.Seed, len(e.ClassNames))
	if err != nil {
		return nil, err
	}
	picks, err := strategy.Query(c, min(mostRanked, len(free)), seed.New(conf.Seed, "query"))
	return active.IDs(picks), err
}

func (m *studioModel) Version() string { return m.version }

func (m *studioModel) Predict(ctx context.Context, ids []string) ([]studio.Prediction, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]studio.Prediction, len(ids))
	var at, examples []int
	for i, id := range ids {
		if m.p == nil {
			break
		}
		if k, ok := m.p.Model.Data.Index(id); ok {
			at, examples = append(at, i), append(examples, k)
		}
	}
	if len(at) > 0 {
		part, err := m.p.Part(ctx, examples)
		if err != nil {
			return nil, err
		}
		for k, i := range at {
			row := part.Logits.Data[k*part.Logits.Stride:][:part.Logits.Cols]
			best := evaluate.ArgMax(row)
			list[i].Class, list[i].Probability = m.p.Model.Data.Classes[best], calibration.Softmax(row, m.p.Temperature)[best]
		}
	}
	m.b.ledger.View(func(s *labels.State) {
		for i, id := range ids {
			place, wanted := m.place[id]
			switch {
			case s.Image(id).Class != "":
				list[i].Score = 1
			case wanted:
				list[i].Score = place
			default:
				list[i].Score = 0.5 + 0.5*list[i].Probability
			}
		}
	})
	return list, nil
}

// close frees what the model holds, once nobody uses it.
func (m *studioModel) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.p != nil {
		m.p.Close()
		m.p = nil
	}
}
