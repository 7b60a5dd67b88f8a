package trainer_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/learner/embedding/embeddingtest"
	"github.com/ledg-go/ledg/ceg/learner/examples"
	"github.com/ledg-go/ledg/ceg/learner/feed"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/learner/trainer"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// file is the file of features that the tests of this package share.
var file struct {
	once sync.Once
	path string
}

// open makes a trainer of a method on features of glyphs, and the subsets of an epoch: of each
// source domain three images of every class are labelled.
func open(t *testing.T, method string, pairs ...any) (*trainer.Trainer, feed.Subsets) {
	t.Helper()
	d, truth := fatal.Get2(datasets.Open("features", features(t), datasets.Options{}))(t)
	usual := []any{"schedule.epochs", 4, "schedule.per_domain", 8}
	c := configtest.New(t, "features", "photo", method, config.Authors, append(usual, pairs...)...)
	set := fatal.Get(examples.Prepare(t.Context(), c.Data, d, t.TempDir(), nil, nil))(t)
	t.Cleanup(func() { set.Close() })
	target := slices.Index(d.Domains, "photo")
	var sources []string
	of := map[int]int{}
	for i, name := range d.Domains {
		if i != target {
			of[i] = len(sources)
			sources = append(sources, name)
		}
	}
	options := model.LearnerOptions(fatal.Get(nets.New(c.Network, model.Vector(d)))(t), c, len(d.Classes), len(sources))
	b := fatal.Get(learner.Open(c.Network.Precision, "go", engine.Work{}))(t)
	tr := fatal.Get(trainer.New(c, b, options))(t)
	t.Cleanup(tr.Close)
	var subsets feed.Subsets
	var pool []int
	seen := map[[2]int]int{}
	for i, e := range d.Examples {
		if e.Domain == target || e.Split != datasets.Train {
			continue
		}
		pool = append(pool, i)
		class := truth.Class(i)
		to := &subsets.Unlabelled
		if key := [2]int{e.Domain, class}; seen[key] < 3 {
			seen[key]++
			to = &subsets.Labelled
			to.Label = append(to.Label, class)
		}
		to.Example, to.Domain = append(to.Example, i), append(to.Domain, of[e.Domain])
	}
	fatal.If(t, set.Standardise(t.Context(), pool))
	fatal.If(t, tr.SetExamples(set, sources, 2))
	subsets.Labelled.Views = tr.Objective.Views(objective.Labelled)
	subsets.Unlabelled.Views = tr.Objective.Views(objective.Unlabelled)
	return tr, subsets
}

func features(t *testing.T) string {
	t.Helper()
	file.once.Do(func() { file.path = embeddingtest.Glyphs(shared{t}, 1) })
	if file.path == "" {
		t.Fatal("the features were not written")
	}
	return file.path
}

// shared is a test whose folders outlive it.
type shared struct{ *testing.T }

func (shared) TempDir() string { return folder }

// correct returns the share of labelled examples that a trainer predicts right.
func correct(t *testing.T, tr *trainer.Trainer, s feed.Subset) float64 {
	t.Helper()
	p := fatal.Get(tr.Predict(t.Context(), s.Example))(t)
	right := 0
	for i, label := range s.Label {
		row := p.ClassLogits.Data[i*p.ClassLogits.Stride:][:p.ClassLogits.Cols]
		if slices.Index(row, slices.Max(row)) == label {
			right++
		}
	}
	return float64(right) / float64(len(s.Label))
}

// Training lowers the loss, labelled images are predicted correctly, and equal training gives
// equal numbers.
func TestEpoch(t *testing.T) {
	var losses [2][]float64
	for i := range losses {
		tr, subsets := open(t, "fixmatch", "schedule.epochs", 12, "optimizer.class_head_rate", 0.2, "optimizer.backbone_rate", 0.2)
		before := correct(t, tr, subsets.Labelled)
		fatal.Get(tr.Compile(0))(t)
		steps := 0
		for epoch := range 12 {
			numbers := 0
			seen := map[int]bool{}
			sum := fatal.Get(tr.Epoch(t.Context(), epoch, steps, subsets, func(s trainer.Step) {
				numbers++
				if s.Number != numbers {
					t.Errorf("step %d is number %d", numbers, s.Number)
				}
				for _, i := range s.Unlabelled {
					if seen[i] {
						t.Errorf("epoch %d has the unlabelled image %d twice", epoch, i)
					}
					seen[i] = true
				}
				if len(s.Labels) != len(s.Unlabelled) || len(s.Sure) != len(s.Unlabelled) {
					t.Errorf("%d pseudo-labels and %d masks of %d images", len(s.Labels), len(s.Sure), len(s.Unlabelled))
				}
			}))(t)
			if sum.Steps != numbers {
				t.Errorf("epoch %d has %d steps, and after was called %d times", epoch, sum.Steps, numbers)
			}
			steps += sum.Steps
			losses[i] = append(losses[i], sum.Terms.Value("ce")/float64(sum.Steps))
		}
		if l := losses[i]; l[11] > l[0]/2 {
			t.Errorf("L_ce by epoch is %v, want it halved", l)
		}
		after := correct(t, tr, subsets.Labelled)
		if after < before+0.3 {
			t.Errorf("%.2f of the labelled images are right after training, %.2f before", after, before)
		}
	}
	if !slices.Equal(losses[0], losses[1]) {
		t.Errorf("twice the same training gives %v and %v", losses[0], losses[1])
	}
}

// Predictions do not depend on the batches that they come in.
func TestPredict(t *testing.T) {
	tr, subsets := open(t, "uniform-ce")
	all := slices.Concat(subsets.Labelled.Example, subsets.Unlabelled.Example)
	if len(all) <= examples.EvalBatch {
		t.Fatalf("%d examples are one batch", len(all))
	}
	p := fatal.Get(tr.Predict(t.Context(), all))(t)
	if p.ClassLogits.Rows != len(all) || p.ClassLogits.Cols != tr.Classes {
		t.Errorf("class logits are %d x %d, want %d x %d", p.ClassLogits.Rows, p.ClassLogits.Cols, len(all), tr.Classes)
	}
	if p.DomainLogits.Cols != tr.Domains {
		t.Errorf("domain logits have %d columns, want %d", p.DomainLogits.Cols, tr.Domains)
	}
	last := len(all) - 1
	alone := fatal.Get(tr.Predict(t.Context(), all[last:]))(t)
	for j, v := range alone.Features.Data {
		if got := p.Features.Data[last*p.Features.Stride+j]; math.Abs(float64(got-v)) > 1e-5 {
			t.Errorf("feature %d of the last is %v among others, %v alone", j, got, v)
		}
	}
	empty := fatal.Get(tr.Predict(t.Context(), nil))(t)
	if empty.Features.Rows != 0 || len(empty.ClassLogits.Data) != 0 {
		t.Errorf("predictions of nothing are %+v", empty)
	}
}

// Learning rates follow the schedule of the config.
func TestRates(t *testing.T) {
	tr, _ := open(t, "uniform-ce", "optimizer.backbone_rate", 0.1, "optimizer.class_head_rate", 0.2, "optimizer.domain_head_rate", 0.4)
	for epoch := range 4 {
		f := config.CosineFactor(epoch, 4)
		if got, want := tr.Rates(epoch), (result.LearningRates{Backbone: 0.1 * f, ClassHead: 0.2 * f, DomainHead: 0.4 * f}); got != want {
			t.Errorf("epoch %d: %+v, want %+v", epoch, got, want)
		}
	}
}

// An objective that fits a head fits again only if labels have changed.
func TestFit(t *testing.T) {
	tr, subsets := open(t, "logistic")
	fit := func() trainer.Trained {
		t.Helper()
		steps := 0
		sum := fatal.Get(tr.Epoch(t.Context(), 0, 0, subsets, func(trainer.Step) { steps++ }))(t)
		if steps != 1 || sum.Steps != 1 {
			t.Errorf("a fit is %d steps, reported %d times, want one", sum.Steps, steps)
		}
		return sum
	}
	first := fit()
	if share := correct(t, tr, subsets.Labelled); share < 0.3 {
		t.Errorf("%.2f of the labelled images are right after a fit", share)
	}
	if again := fit(); again.Loss != first.Loss {
		t.Errorf("the loss is %v, and %v of the same labels", again.Loss, first.Loss)
	}
	subsets.Labelled.Label[0] = (subsets.Labelled.Label[0] + 1) % tr.Classes
	if changed := fit(); changed.Loss == first.Loss {
		t.Errorf("the loss stays %v with another label", first.Loss)
	}
}

// Where all images have labels, losses on unlabelled ones take the labelled ones.
func TestEpochAllLabelled(t *testing.T) {
	for _, method := range []string{"fixmatch", "ceg", "uniform-ce"} {
		tr, subsets := open(t, method)
		subsets.Unlabelled = feed.Subset{}
		subsets.Labelled.Views = tr.Objective.Views(objective.Labelled)
		var seen []int
		sum, err := tr.Epoch(t.Context(), 0, 0, subsets, func(s trainer.Step) { seen = append(seen, s.Unlabelled...) })
		if err != nil || sum.Steps < 1 || sum.Loss <= 0 {
			t.Errorf("%s: %d steps, loss %v, %v", method, sum.Steps, sum.Loss, err)
		}
		if method == "fixmatch" && len(seen) == 0 {
			t.Errorf("%s makes no pseudo-labels", method)
		}
		for _, i := range seen {
			if !slices.Contains(subsets.Labelled.Example, i) {
				t.Errorf("%s takes image %d as unlabelled, which is none of the labelled ones", method, i)
			}
		}
	}
}

func TestEpochStopped(t *testing.T) {
	tr, subsets := open(t, "fixmatch")
	stopped, stop := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	steps := 0
	_, err := tr.Epoch(stopped, 0, 0, subsets, func(trainer.Step) {
		if steps++; steps == 2 {
			stop(enough)
		}
	})
	if !errors.Is(err, enough) {
		t.Errorf("cancelled after two steps: %v", err)
	}
	if _, err := tr.Epoch(t.Context(), 1, steps, subsets, func(trainer.Step) {}); err != nil {
		t.Errorf("the epoch after one that was cancelled: %v", err)
	}
}

// pictures are images that are computed; one cannot be read.
type pictures struct{ bad int }

var errUnreadable = errors.New("the image cannot be read")

func (pictures) Size() int { return 16 }
func (pictures) Len() int  { return 48 }
func (p pictures) Read(i int, _ *rgb.Image) error {
	if i == p.bad {
		return errUnreadable
	}
	return nil
}

// An image that cannot be read ends the epoch with its error.
func TestEpochUnreadable(t *testing.T) {
	c := configtest.New(t, "glyphs", "photo", "fixmatch", config.Authors, "data.image_size", 16, "network.width", 4, "schedule.per_domain", 3)
	options := model.LearnerOptions(fatal.Get(nets.New(c.Network, 0))(t), c, 3, 2)
	tr := fatal.Get(trainer.New(c, fatal.Get(learner.Open(c.Network.Precision, "go", engine.Work{}))(t), options))(t)
	t.Cleanup(tr.Close)
	fatal.If(t, tr.SetExamples(&examples.Set{Source: feed.Pixels(pictures{1})}, []string{"a", "b"}, 2))
	subsets := feed.Subsets{Labelled: feed.Subset{Views: options.Objective.Views(objective.Labelled)}, Unlabelled: feed.Subset{Views: options.Objective.Views(objective.Unlabelled)}}
	for i := range 48 {
		to := &subsets.Unlabelled
		if i%4 == 0 {
			to = &subsets.Labelled
			to.Label = append(to.Label, i%3)
		}
		to.Example, to.Domain = append(to.Example, i), append(to.Domain, i/4%2)
	}
	if _, err := tr.Epoch(t.Context(), 0, 0, subsets, func(trainer.Step) {}); !errors.Is(err, errUnreadable) {
		t.Errorf("got %v, want %v", err, errUnreadable)
	}
}

// The description of the engine names what is linked, and no folder of this machine.
func TestEngine(t *testing.T) {
	tr, _ := open(t, "uniform-ce")
	e := tr.Engine(7)
	if e.FromEpoch != 7 {
		t.Errorf("from epoch %d, want 7", e.FromEpoch)
	}
	for _, part := range []string{"gomlx", "compute"} {
		if !strings.Contains(e.Software, part) {
			t.Errorf("the software is %q, want %s in it", e.Software, part)
		}
	}
	if strings.ContainsAny(e.Plugin, `/\`) {
		t.Errorf("the plugin is %q, with a folder", e.Plugin)
	}
}
