package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/learner/checkpoint"
	"github.com/ledg-go/ledg/ceg/result"
)

// Embedding holds features and class probabilities of a run's candidates: the unaugmented
// training images of the source domains, one row each. The rows of [EmbedTarget] include the
// target domain's images, which come last.
type Embedding struct {
	// IDs [n] names the images. Classes [n] holds indices into ClassNames, or datasets.Unknown
	// for images of unknown class. Domains [n] holds indices into DomainNames, the sources.
	IDs                     []string
	Classes, Domains        []int
	ClassNames, DomainNames []string
	// Features [n, D], ClassLogits [n, C], ClassProbs [n, C] and DomainProbs [n, K] are network outputs; K
	// is the number of source domains.
	Features, ClassLogits, ClassProbs, DomainProbs active.Matrix
}

// Embed returns features and probabilities of the pool, computed by the networks in the last
// checkpoint of the run in o.Dir. They are the inputs that exploration uses: for a run that has
// just queried labels, these are the probabilities it selected by. It opens the same backend as
// training.
func Embed(ctx context.Context, o Options) (*Embedding, error) { return embed(ctx, o, false) }

// EmbedTarget is [Embed] on the pool followed by the images of the target domain, if the run has
// one.
func EmbedTarget(ctx context.Context, o Options) (*Embedding, error) { return embed(ctx, o, true) }

func embed(ctx context.Context, o Options, target bool) (*Embedding, error) {
	c, err := readConfig(o.Dir)
	if err != nil {
		return nil, err
	}
	r := &run{c: c, reporter: newReporter(o.Observe, c.Schedule.Epochs)}
	r.c.Data.Views = 0 // which is for training
	defer r.close()
	if err := r.startCampaign(o); err != nil {
		return nil, err
	}
	if !checkpoint.Exists(o.Dir) { // before images are decoded
		return nil, checkpoint.Missing(o.Dir)
	}
	if err := r.newTrainer(o); err != nil {
		return nil, err
	}
	r.introduce(nil)
	if err := r.prepareExamples(ctx, o); err != nil {
		return nil, err
	}
	path := filepath.Join(o.Dir, checkpoint.File)
	saved, state, _, err := checkpoint.Read(o.Dir, c, r.trainer.Learner.Params())
	if err != nil {
		return nil, err
	}
	if err := r.restore(path, saved); err != nil {
		return nil, err
	}
	if err := r.trainer.Learner.SetState(state); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}

	p := r.campaign
	e := &Embedding{ClassNames: p.Data.Classes, DomainNames: p.SourceNames()}
	for _, i := range p.Places {
		x := p.Data.Examples[i]
		class := r.evaluator.Truth.Class(i)
		if l, ok := p.Label(x.ID); ok {
			class = l.Class
		}
		e.IDs, e.Classes, e.Domains = append(e.IDs, x.ID), append(e.Classes, class), append(e.Domains, p.SourceAt(i))
	}
	places := slices.Clone(p.Places)
	if target && p.Target >= 0 {
		e.DomainNames = append(slices.Clone(e.DomainNames), p.Data.Domains[p.Target])
		for i, x := range p.Data.Examples {
			if x.Domain == p.Target {
				places = append(places, i)
				e.IDs, e.Classes, e.Domains = append(e.IDs, x.ID), append(e.Classes, r.evaluator.Truth.Class(i)), append(e.Domains, len(e.DomainNames)-1)
			}
		}
	}
	out, err := r.trainer.Predict(ctx, places)
	if err != nil {
		return nil, err
	}
	e.Features, e.ClassLogits, e.ClassProbs, e.DomainProbs = out.Features, out.ClassLogits, head.SoftmaxRows(out.ClassLogits), head.SoftmaxRows(out.DomainLogits)
	return e, nil
}

func readConfig(dir string) (c Config, err error) {
	fsys, err := result.FS(dir)
	if err == nil {
		err = result.ReadConfig(fsys, result.ConfigFile, &c)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("it is not a run's directory: %w", err)
	}
	if err != nil {
		return c, fmt.Errorf("%s: %w", dir, err)
	}
	return c, nil
}
