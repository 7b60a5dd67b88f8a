package run

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/campaign"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/evaluate"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/learner/checkpoint"
	"github.com/ledg-go/ledg/ceg/learner/examples"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/learner/trainer"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/scaler"
	"github.com/ledg-go/ledg/ceg/rundir/shell"
	"github.com/ledg-go/ledg/datasets"
)

// run is a run in its parts, each made of those before, and its state between epochs; see
// checkpoint.
type run struct {
	c         Config
	reporter  *reporter
	campaign  *campaign.Campaign
	evaluator evaluate.Evaluator
	examples  *examples.Set
	trainer   *trainer.Trainer
	folder    *result.Dir
	explorer  *explorer
	// parted is the network in two parts; the front has computed the views.
	parted nets.Parted
	// newTrainerFor makes networks with new weights for the given source domains, on the same backend and
	// examples. Its caller closes the Learner alone.
	newTrainerFor func(domains []string) (*trainer.Trainer, error)
	// networkFiles are the files of a network from a file.
	networkFiles []string

	epoch, steps int
	reliable     reliableSet
	// pending is the record of an epoch that waits for labels, and changed the number
	// of labels that came or went otherwise since the last record.
	pending *result.Record
	changed int
	// engines are those that have computed the epochs, timing the durations in this process.
	engines []result.Engine
	timing  result.Timing
}

// newRun makes the parts. Errors of the config are found before the run's folder is touched.
func newRun(ctx context.Context, c Config, o Options) (_ *run, err error) {
	if o.Resume {
		if err := mayResume(c, o); err != nil {
			return nil, err
		}
	}
	r := &run{c: c, reporter: newReporter(o.Observe, c.Schedule.Epochs)}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	if err := r.startCampaign(o); err != nil {
		return nil, err
	}
	if err := r.newTrainer(o); err != nil {
		return nil, err
	}
	notes, err := r.loadWeights(o)
	if err != nil {
		return nil, err
	}
	started := result.Started(o.Dir)
	if err := r.openFolder(o); err != nil {
		return nil, err
	}
	if c.Exploration.Oracle == config.People {
		if err := r.setPeople(o); err != nil {
			return nil, err
		}
	}
	if !started {
		r.introduce(notes)
	}
	if err := r.prepareExamples(ctx, o); err != nil {
		return nil, err
	}
	return r, nil
}

// mayResume returns an error if the run in the folder cannot go on: its labels differ, it is of
// another config, or its queries wait for labels.
func mayResume(c Config, o Options) error {
	if o.Labels == "" {
		if err := sameLabels(c, o.Dir); err != nil {
			return err
		}
	}
	if result.Finished(os.DirFS(o.Dir)) {
		d, err := result.Open(o.Dir, c, result.Place{}, o.Resume)
		if err != nil {
			return err
		}
		if err := d.Close(); err != nil { // it was taken away meanwhile
			return err
		}
	}
	if c.Exploration.Oracle == config.People {
		return stillAwaiting(c, o)
	}
	return nil
}

// loadWeights gives a run that begins the weights that its config names, and returns notes on
// them. A run that goes on has its own.
func (r *run) loadWeights(o Options) (notes []string, err error) {
	if checkpoint.Exists(o.Dir) {
		return nil, nil
	}
	if err := model.CheckOpened(r.c, o.Weights, o.Style); err != nil {
		return nil, err
	}
	if r.c.Network.Weights != nil {
		if notes, err = r.trainer.Load(o.Weights); err != nil {
			return nil, err
		}
	}
	if r.c.Generalization.StyleWeights != nil {
		values, err := model.Values(o.Style)
		if err != nil {
			return nil, err
		}
		if err := r.trainer.Learner.SetFileWeights(values); err != nil {
			return nil, err
		}
	}
	return notes, nil
}

// openFolder opens the run's folder and saves there what the run needs when its sources are
// gone: its network, the labels that it was given, and where its data is.
func (r *run) openFolder(o Options) (err error) {
	if r.folder, err = result.Open(o.Dir, r.c, o.place(), o.Resume); err != nil {
		return err
	}
	if err := r.folder.KeepNetwork(r.networkFiles); err != nil {
		return err
	}
	userLabels, err := examples.UserLabels(r.c.Data, o.Dir, o.Labels, o.Columns)
	if err != nil {
		return err
	}
	if _, err := os.Stat(r.folder.File(labels.UserLabelsFile)); err != nil && userLabels != nil {
		if err := r.folder.WriteFile(labels.UserLabelsFile, func(w io.Writer) error { return labels.WriteUserLabels(w, userLabels) }); err != nil {
			return err
		}
	}
	if err := r.folder.LeaveOut(r.leftOut(o.Damaged)); err != nil {
		return err
	}
	return r.folder.Remember(o.place())
}

// leftOut are the files of the user's own images that are not used, with the reasons of damaged
// ones.
func (r *run) leftOut(damaged []datasets.Skipped) []datasets.Skipped {
	if info, _ := datasets.Lookup(r.c.Data.Dataset); !info.Yours {
		return nil
	}
	list := slices.Clone(r.campaign.Data.Skipped)
	for i, f := range list {
		if k := slices.IndexFunc(damaged, func(d datasets.Skipped) bool { return d.ID == f.ID }); k >= 0 {
			list[i] = damaged[k]
		}
	}
	return list
}

// sameLabels returns an error if the file of labels that the run in a folder used has changed. A
// missing file is no error: the run has its copy.
func sameLabels(c Config, dir string) error {
	p, err := result.ReadPlace(dir)
	if err != nil || c.Data.Labels == "" || p.Labels == "" {
		return err
	}
	if _, err := os.Stat(p.Labels); err != nil {
		return nil
	}
	_, err = examples.UserLabels(c.Data, "", p.Labels, p.Columns)
	if differs := (*config.Error)(nil); errors.As(err, &differs) {
		return config.Errorf(differs.Path, "%w; %s trains a new run with the current labels; --labels %s continues this run with its own copy", differs.Err,
			shell.Line("ledg", "extend", dir, "--labels", p.Labels), shell.Line(filepath.Join(dir, labels.UserLabelsFile)))
	}
	return err
}

// newTrainer makes the networks on the backend that the options name.
func (r *run) newTrainer(o Options) error {
	c, p := r.c, r.campaign
	backbone, err := model.Backbone(c, model.Vector(p.Data), o.networkFile(c))
	if err != nil {
		return err
	}
	if backbone.Graph != nil {
		r.networkFiles = backbone.Graph.Files()
	}
	options := model.LearnerOptions(backbone, c, len(p.Data.Classes), p.DomainCount())
	if c.Data.Views > 0 {
		if r.parted, err = nets.Part(backbone, c.Data.ImageSize); err != nil {
			return &config.Error{Path: "network.freeze", Err: err}
		}
		options.Back, options.Maps = r.parted.Back, r.parted.Maps
	}
	b, err := learner.Open(c.Network.Precision, o.Backend, model.Work(c.Network))
	if err != nil {
		return err
	}
	if r.trainer, err = trainer.New(c, b, options); err != nil {
		return err
	}
	if c.Network.Code != "" && !result.Started(o.Dir) { // of the program
		whole := r.trainer.Learner
		if c.Data.Views > 0 { // that has a part alone
			if whole, err = learner.New(b, model.LearnerOptions(backbone, c, len(p.Data.Classes), p.DomainCount()), c.Seed); err != nil {
				return err
			}
			defer whole.Close()
		}
		if err := whole.Independent(); err != nil {
			return &config.Error{Path: "network.name", Err: err}
		}
	}
	r.trainer.Groups, r.explorer.look = p.Data.Groups, r.trainer.Predict
	r.newTrainerFor = func(domains []string) (*trainer.Trainer, error) {
		options.Domains = len(domains)
		t, err := trainer.New(c, b, options)
		if err != nil {
			return nil, err
		}
		t.Groups = p.Data.Groups
		return t, t.SetExamples(r.examples, domains, o.Workers)
	}
	return nil
}

func (r *run) prepareExamples(ctx context.Context, o Options) (err error) {
	start := time.Now()
	if r.examples, err = examples.Prepare(ctx, r.c.Data, r.campaign.Data, o.CacheDir, o.Shared, r.reporter.progress("preparing images")); err != nil {
		return err
	}
	r.explorer.names = r.examples.NamesLogits
	if err := r.examples.Standardise(ctx, r.campaign.Places); err != nil {
		return err
	}
	if r.folder != nil {
		if s := r.examples.Scaler(); s != nil {
			if err := r.folder.WriteFile(scaler.File, s.Write); err != nil {
				return err
			}
		}
		r.timing.Prepare = time.Since(start).Seconds()
	}
	return r.trainer.SetExamples(r.examples, r.campaign.SourceNames(), o.Workers)
}

// close releases what the parts hold, as far as there are any.
func (r *run) close() {
	if r.examples != nil {
		r.examples.Close()
	}
	if r.campaign != nil {
		r.campaign.Close()
	}
	if r.folder != nil {
		r.folder.Close()
	}
	if r.trainer != nil {
		r.trainer.Close()
	}
}

// introduce names the backend, and says that a strategy has nothing to choose, when a run begins.
func (r *run) introduce(notes []string) {
	if x := r.c.Exploration; !r.campaign.HasQueries() && x.Strategy != (active.Uniform{}).Name() {
		r.reporter.say("all labels are drawn at random before training, so %s chooses none; with --timing published or early it does", x.Strategy)
	}
	b := r.trainer.Backend
	for _, line := range slices.Concat([]string{b.Description, b.Notice}, r.campaign.Data.GroupNotes(r.evaluator.Truth), notes) {
		if line != "" {
			r.reporter.say("%s", line)
		}
	}
}

// finished returns the result of a finished run, if its examples are there, and they and
// its settings the same.
func finished(ctx context.Context, c Config, o Options) (*result.Result, error) {
	res, err := result.ReadResult(os.DirFS(o.Dir), result.ResultFile)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Dir, err)
	}
	state, _, resumed, err := checkpoint.Read(o.Dir, c, nil)
	if err != nil {
		return nil, err
	}
	if err := CheckImages(ctx, o); err != nil {
		return nil, err
	}
	if resumed && c.Exploration.Oracle == config.People {
		n, err := labelledSince(o.Dir, state.Pool, res.Classes)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			newReporter(o.Observe, c.Schedule.Epochs).say("labels of %d images have come or changed since the run ended, and it has not trained with them: %s makes another that does",
				n, shell.Line("ledg", "extend", o.Dir))
		}
	}
	return &res, nil
}

// LabelledSince counts the images of a finished run with human annotators whose labels have
// come or changed since it ended.
func LabelledSince(dir string) (int, error) {
	c, err := readConfig(dir)
	if err != nil {
		return 0, err
	}
	res, err := result.ReadResult(os.DirFS(dir), result.ResultFile)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", dir, err)
	}
	state, _, ok, err := checkpoint.Read(dir, c, nil)
	if err != nil || !ok {
		return 0, err
	}
	return labelledSince(dir, state.Pool, res.Classes)
}

// labelledSince counts the images of a pool whose label in the run's ledger is not the one that
// it has.
func labelledSince(dir string, pool active.Snapshot, classes []string) (n int, err error) {
	s, _, err := labels.Read(os.DirFS(dir), labels.File, nil, labels.Options{})
	if err != nil {
		return 0, fmt.Errorf("%s: %w", dir, err)
	}
	had := make(map[uint32]string, len(pool.Hashes)) // by the hash of the ID
	for _, h := range pool.Hashes {
		had[h] = ""
	}
	for i, at := range pool.Sample {
		had[pool.Hashes[at]] = classes[pool.Class[i]]
	}
	for _, l := range s.Labels() {
		if class, ok := had[crc32.Checksum([]byte(l.ID), crc32.MakeTable(crc32.Castagnoli))]; ok && class != l.Class {
			n++
		}
	}
	return n, nil
}
