// Package studytest provides a fake run without training, to test studies and reports.
package studytest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"time"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
)

// Fake is a study.Runner that trains nothing and writes real run folders. It resumes after the
// last record. Accuracies are a function of the config.
type Fake struct {
	// Epoch is the duration of an epoch.
	Epoch time.Duration
	// Fail returns an error with which a run ends after an epoch.
	Fail func(c run.Config, epoch int) error
	// Right returns the number of correct predictions of 100 after an epoch; nil draws one.
	Right func(c run.Config, epoch int) int
	// Val returns the number of correct predictions on the sources' 10 validation images; nil
	// uses the epoch.
	Val func(c run.Config, epoch int) int
	// ByClass counts target predictions by class: 60 of its 100 images have the first of two
	// classes, and these are correct before the others.
	ByClass bool
	// Commit is the commit in the result's versions.
	Commit string
	// Log is called with "begin", "epoch" and "end".
	Log func(what string, o run.Options)
}

// Labels is the number of queries of a fake run: half before training, half after the first
// epoch.
const Labels = 20

// Run is a study.Runner.
func (f Fake) Run(ctx context.Context, c run.Config, o run.Options) (*result.Result, error) {
	d, err := result.Open(o.Dir, c, result.Place{}, true)
	if errors.Is(err, result.ErrFinished) {
		res, err := result.ReadResult(os.DirFS(o.Dir), result.ResultFile)
		return &res, err
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	f.tell("begin", o)
	records, err := d.Records()
	if err != nil {
		return nil, err
	}
	// The records are the checkpoint; the queries follow from them.
	lengths, err := d.Lengths()
	if err != nil {
		return nil, err
	}
	if err := d.Truncate(result.Lengths{Records: lengths.Records}); err != nil {
		return nil, err
	}
	for round := range min(len(records), 1) + 1 {
		if err := d.AppendQueries(Queries(round)); err != nil {
			return nil, err
		}
	}
	for e := len(records); e < c.Schedule.Epochs; e++ {
		if f.Fail != nil && e > 0 { // here, so that a run killed after the record fails too
			if err := f.Fail(c, e-1); err != nil {
				return nil, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(f.Epoch):
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		r := f.record(c, e)
		if err := d.AppendRecord(r); err != nil {
			return nil, err
		}
		records = append(records, r)
		if r.Queried > 0 {
			if err := d.AppendQueries(Queries(1)); err != nil {
				return nil, err
			}
		}
		f.tell("epoch", o)
		if o.Observe != nil {
			o.Observe(run.Event{Epoch: e, Epochs: c.Schedule.Epochs, Step: 1, Steps: 1, Done: true})
		}
	}
	choices, err := result.Choose(records)
	if err != nil {
		return nil, err
	}
	res := result.Result{
		Format: result.Format, Method: c.Method, Dataset: c.Data.Dataset, Target: c.Data.Target, Preset: string(c.Preset),
		Seed: c.Seed, Epochs: len(records), Pool: 400, Budget: Labels, Labels: Labels, ValLabels: 10,
		Accuracy: choices, Versions: result.Versions{Backend: "none", Commit: f.Commit},
	}
	if err := d.Finish(res); err != nil {
		return nil, err
	}
	f.tell("end", o)
	return &res, nil
}

func (f Fake) tell(what string, o run.Options) {
	if f.Log != nil {
		f.Log(what, o)
	}
}

// record returns the record of an epoch: the second half of the labels is queried after the
// first epoch.
func (f Fake) record(c run.Config, e int) result.Record {
	labels, queried := Labels, 0
	if e == 0 {
		labels, queried = Labels/2, Labels/2
	}
	right := f.Right
	if right == nil {
		right = func(c run.Config, epoch int) int {
			h := fnv.New32a()
			fmt.Fprint(h, c, epoch)
			return int(h.Sum32() % 101)
		}
	}
	target := result.Accuracy{Domain: c.Data.Target, Split: result.TestSplit, Tally: result.Tally{Correct: right(c, e), Total: 100}}
	if f.ByClass {
		n := target.Tally.Correct
		target = result.NewAccuracy(c.Data.Target, result.TestSplit, 2, e == c.Schedule.Epochs-1)
		for i := range 100 {
			truth := i / 60
			predicted := truth
			if i >= n {
				predicted = 1 - truth
			}
			target.Count(predicted, truth)
		}
	}
	val := min(e, 10)
	if f.Val != nil {
		val = f.Val(c, e)
	}
	return result.Record{
		Epoch: e, Steps: 3, StepsTotal: 3 * (e + 1), Labels: labels, Queried: queried,
		Accuracy: []result.Accuracy{
			target,
			{Domain: "source", Split: result.ValSplit, Tally: result.Tally{Correct: val, Total: 10}},
		},
	}
}

// Queries returns the queries of a round, 0 or 1.
func Queries(round int) []result.Query {
	var list []result.Query
	for i := range Labels / 2 {
		q := result.Query{Round: round, ID: fmt.Sprintf("source/%d", round*100+i), Domain: "source", Class: "one"}
		if round > 0 {
			q.Scores = &result.Scores{Su: 0.5, Sr: 0.25, Sd: 1, RankU: i, RankR: i, RankD: i, R: float64(3 * i)}
		}
		list = append(list, q)
	}
	return list
}
