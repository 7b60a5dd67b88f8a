package ceg

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/weights/pretrained"
	"github.com/ledg-go/ledg/datasets"
)

// Embedding is what a run's networks say about the images that could be asked
// about: the training images of the source domains, unaugmented. Rows are images.
type Embedding struct {
	// IDs [n] are the images', Classes [n] their true classes as indices of
	// ClassNames, Domains [n] those of DomainNames, which are the sources.
	IDs                     []string
	Classes, Domains        []int
	ClassNames, DomainNames []string
	// Features [n, D], ClassProbs [n, C] and DomainProbs [n, K] are the networks'.
	Features, ClassProbs, DomainProbs active.Matrix
}

// Embed runs the networks of the run in o.Dir, as they are in its last
// checkpoint, over the pool. They see what exploration saw: of a run that has
// just asked for labels, the probabilities are those by which it chose.
func Embed(ctx context.Context, o Options) (*Embedding, error) {
	c, err := readConfig(o.Dir)
	if err != nil {
		return nil, err
	}
	r := &run{c: c, o: o}
	defer r.close()
	if err := r.openData(); err != nil {
		return nil, err
	}
	// Said before images are decoded.
	if _, err := os.Stat(filepath.Join(o.Dir, CheckpointFile)); err != nil {
		return nil, noCheckpoint(o.Dir, c)
	}
	if err := r.openBackend(); err != nil {
		return nil, err
	}
	r.introduce()
	if err := r.openImages(ctx); err != nil {
		return nil, err
	}
	if err := r.openLearner(); err != nil {
		return nil, err
	}
	saved, state, _, err := readCheckpoint(filepath.Join(o.Dir, CheckpointFile), r.learner.Params())
	if err != nil {
		return nil, err
	}
	if err := r.restorePool(saved); err != nil {
		return nil, err
	}
	if err := r.learner.SetState(state); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(o.Dir, CheckpointFile), err)
	}

	e := &Embedding{ClassNames: r.data.Classes}
	for _, d := range r.sources {
		e.DomainNames = append(e.DomainNames, r.data.Domains[d])
	}
	for i, x := range r.data.Examples {
		if k, ok := r.source[x.Domain]; ok && x.Split == datasets.Train {
			e.IDs, e.Classes, e.Domains = append(e.IDs, x.ID), append(e.Classes, r.evaluate.truth.Class(i)), append(e.Domains, k)
		}
	}
	p, err := r.predict(ctx, e.IDs)
	if err != nil {
		return nil, err
	}
	e.Features, e.ClassProbs, e.DomainProbs = p.features, softmaxRows(p.classLogits), softmaxRows(p.domainLogits)
	return e, nil
}

// readConfig reads the settings of the run in a directory.
func readConfig(dir string) (c Config, err error) {
	if err := result.ReadConfig(os.DirFS(dir), result.ConfigFile, &c); err != nil {
		return c, fmt.Errorf("%s: %w", dir, err)
	}
	return c, nil
}

// noCheckpoint says that the weights of a run are gone, and how to get them back.
func noCheckpoint(dir string, c Config) error {
	again := fmt.Sprintf("ledg train --config %s --out NEW", filepath.Join(dir, result.ConfigFile))
	if info, _ := datasets.Lookup(c.Data.Dataset); info.Files {
		again += " --root IMAGES"
	}
	if w := c.Network.Weights; w != nil && w.Revision != "" { // from the hub
		again += " --weights " + pretrained.ImageNet
	} else if w != nil {
		again += " --weights " + w.Name
	}
	return fmt.Errorf("%s is not there: the run's weights were not kept; make the run again with `%s`", filepath.Join(dir, CheckpointFile), again)
}
