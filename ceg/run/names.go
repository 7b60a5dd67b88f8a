package run

import (
	"cmp"
	"context"
	"slices"

	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/campaign"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/evaluate"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
	"github.com/ledg-go/ledg/ceg/rundir/scaler"
	"github.com/ledg-go/ledg/datasets"
)

// hasNames returns an error if a config reads class names that are not beside the features.
func hasNames(c Config, d *datasets.Dataset) error {
	path := "exploration.initial"
	if c.Exploration.Initial != config.InitialNames {
		if path = "generalization.objective"; !objective.New(c).Names {
			return nil
		}
	}
	var n *datasets.ClassEmbeddings
	if f, ok := d.Features(); ok {
		n = f.Names()
	}
	if _, err := n.Of(d.Classes); err != nil {
		return &config.Error{Path: path, Err: err}
	}
	return nil
}

// suggested adds what names alone predict to the questions that a chooser asks people, where features have
// names. The ledger records it, and the labelling page shows it as a prediction.
func (x *explorer) suggested(choose campaign.Chooser) campaign.Chooser {
	if x.exploration.Oracle != config.People {
		return choose
	}
	return func(n int, may func(string) bool) ([]labels.Question, error) {
		list, err := choose(n, may)
		if err != nil {
			return nil, err
		}
		var ids []string
		for _, q := range list {
			ids = append(ids, q.ID)
		}
		logits, err := x.names(x.campaign.Examples(ids))
		for i := range logits.Rows {
			class, p := predicted(logits, i, x.campaign.Data.Classes)
			list[i].QueryInfo = &labels.QueryInfo{Predicted: class, Probability: p, Model: labels.ByNames}
		}
		return list, err
	}
}

// withNames appends the class probabilities by names to features divided by their lengths, for the initial labels
// by [config.InitialNames]: k-means on both, after the class-guided clusters of Kim et al., Active Prompt
// Learning with Vision-Language Model Priors (arXiv 2411.16722). Both parts have length 1.
func (x *explorer) withNames(ids []string, features cluster.Matrix) (joined cluster.Matrix, err error) {
	logits, err := x.names(x.campaign.Examples(ids))
	if err != nil {
		return joined, err
	}
	d, c := features.Cols, logits.Cols
	joined = cluster.Matrix{Rows: features.Rows, Cols: d + c, Stride: d + c, Data: make([]float32, features.Rows*(d+c))}
	for i := range features.Rows {
		row := joined.Data[i*(d+c) : (i+1)*(d+c)]
		copy(row, features.Data[i*features.Stride:][:d])
		for k, p := range calibration.Softmax(logits.Data[i*c:(i+1)*c], 1) {
			row[d+k] = float32(p)
		}
		scaler.Normalise(config.UnitFeatures, row[:d])
		scaler.Normalise(config.UnitFeatures, row[d:])
	}
	return joined, nil
}

// rarestFirst orders IDs by how many of the candidates, whose features end with class probabilities, names put into
// their class, the fewest first.
func (x *explorer) rarestFirst(ids, candidates []string, features cluster.Matrix) {
	class, count := map[string]int{}, make([]int, x.campaign.ClassCount())
	for i, id := range candidates {
		row := features.Data[i*features.Stride:][:features.Cols]
		class[id] = evaluate.ArgMax(row[features.Cols-len(count):])
		count[class[id]]++
	}
	slices.SortStableFunc(ids, func(a, b string) int { return cmp.Compare(count[class[a]], count[class[b]]) })
}

// namesAlone compares names alone with the network of the last epoch; nil without names.
func (r *run) namesAlone(ctx context.Context) (*result.NamesAlone, error) {
	if logits, err := r.examples.NamesLogits([]int{0}); err != nil || logits.Rows == 0 {
		return nil, err
	}
	byNames := func(_ context.Context, list []int, fn func(int, []float32)) error {
		logits, err := r.examples.NamesLogits(list)
		if err == nil {
			fn(logits.Rows, logits.Data)
		}
		return err
	}
	a, err := r.evaluator.Accuracies(ctx, byNames, true)
	if err != nil {
		return nil, err
	}
	alone := &result.NamesAlone{Accuracy: a}
	var named []bool
	if err := r.evaluator.OnTarget(ctx, byNames, func(predicted, class int) { named = append(named, predicted == class) }); err != nil {
		return nil, err
	}
	i := 0
	return alone, r.evaluator.OnTarget(ctx, r.classify, func(predicted, class int) {
		switch right := predicted == class; {
		case right && !named[i]:
			alone.Won++
		case named[i] && !right:
			alone.Lost++
		}
		i++
	})
}
