package predict_test

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
	"github.com/ledg-go/ledg/ceg/learner/embedding/embeddingtest"
	"github.com/ledg-go/ledg/ceg/nets/onnx"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/rundir/artifact"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

func TestCalibrateIsSaved(t *testing.T) {
	dir := copied(t)
	if _, err := calibration.Read(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("a calibration before it was made: %v", err)
	}
	p := open(t, dir)
	raw := fatal.Get(p.Images(noise(3, 16, 16)))(t)
	c := fatal.Get(p.Calibrate(t.Context()))(t)
	s := c.Source
	if s.Images != 180 || s.Source.Before.Images != 180 || s.Target.Before.Images != 600 || s.Source.After.NLL > s.Source.Before.NLL ||
		s.Target.After.Accuracy != s.Target.Before.Accuracy {
		t.Errorf("%+v", s)
	}
	again := open(t, dir)
	if again.Temperature != s.Temperature || !again.Calibrated {
		t.Errorf("opened again, the temperature is %v, want %v", again.Temperature, s.Temperature)
	}
	now := fatal.Get(again.Images(noise(3, 16, 16)))(t)
	want := math.Exp(float64(raw[0].Logits[0]-raw[0].Logits[1]) / s.Temperature)
	if got := now[0].Probs[0] / now[0].Probs[1]; math.Abs(got/want-1) > 1e-9 {
		t.Errorf("the ratio of two probabilities is %v, want %v", got, want)
	}

	// A calibration of other weights, or one that makes no sense, is refused.
	path := filepath.Join(dir, calibration.File)
	good := content(t, path)
	for _, damage := range [][2]string{{c.Model, "00"}, {`"format": 1`, `"format": 2`}, {`"temperature": `, `"temperature": -`}} {
		put(t, path, []byte(strings.Replace(good, damage[0], damage[1], 1)))
		fatal.Says(t, fatal.Err(predict.OpenWith(run.Options{Dir: dir, Backend: "go"})), calibration.File)
		to := filepath.Join(t.TempDir(), "m.onnx")
		fatal.Says(t, fatal.Err(predict.ExportONNX(run.Options{Dir: dir}, to, onnx.Float32)), calibration.File)
		if damage[0] == c.Model { // what the message says to do can be done
			stale := fatal.Get(predict.OpenUncalibrated(run.Options{Dir: dir, Backend: "go"}))(t)
			if again, err := stale.Calibrate(t.Context()); err != nil || again.Source.Temperature != c.Source.Temperature {
				t.Errorf("calibrated again: %v, want the temperature from before", err)
			}
			stale.Close()
		}
	}
	os.Remove(path)
}

// Without a target domain there is a temperature all the same, and nothing to measure it
// with on a new domain.
func TestCalibrateWithoutATarget(t *testing.T) {
	c := configtest.New(t, "glyphs", config.NoTarget, "uniform-ce", config.Authors, "schedule.epochs", 1)
	c.Data.ImageSize, c.Network.Width = 16, 4
	dir := filepath.Join(t.TempDir(), "run")
	fatal.Get(run.Run(t.Context(), c, run.Options{Dir: dir, Backend: "go"}))(t)
	o := run.Options{Dir: dir, Backend: "go"}
	if err := predict.CheckCalibration(o); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before: %v", err)
	}
	got := fatal.Get(open(t, dir).Calibrate(t.Context()))(t)
	all := 0
	for _, row := range got.Confusion {
		for _, n := range row {
			all += n
		}
	}
	if got.HasTarget() || got.Source.Images != 240 || all != 240 {
		t.Errorf("target %v, fitted on %d images, %d in the confusion matrix, want none, 240 and 240", got.HasTarget(), got.Source.Images, all)
	}
	if err := predict.CheckCalibration(o); err != nil {
		t.Errorf("after: %v", err)
	}
	if _, err := calibration.Read(dir); err != nil {
		t.Error(err)
	}
	card := filepath.Join(t.TempDir(), "m.onnx")
	fatal.Get(predict.ExportONNX(run.Options{Dir: dir}, card, onnx.Float32))(t)
	text := content(t, strings.TrimSuffix(card, ".onnx")+".md")
	for _, want := range []string{"All domains were trained on.", "Labels: 108, the data set's own classes. Round 0, before training: Random.", "No label of a target domain is known", "| last epoch | 1 | 10.00 % |"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in the card:\n%s", want, text)
		}
	}
	if strings.Contains(text, "| target |") {
		t.Errorf("a target in the card:\n%s", text)
	}
	got.Model = "00"
	fatal.If(t, got.Write(dir))
	if err := predict.CheckCalibration(o); err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "calibrate it again") {
		t.Errorf("of other weights: %v", err)
	}
}

// With few validation images the temperature is fitted on the cross-validated labels of the
// accuracy estimate; a run without an estimate says so.
func TestCalibrateByCrossValidation(t *testing.T) {
	root := embeddingtest.Glyphs(t, 1) // with 40 validation images
	c := configtest.New(t, datasets.FeaturesFile, config.NoTarget, "fixmatch", config.Ledg, "exploration.budget", "60", "schedule.epochs", 3)
	train := func(o run.Options) string {
		o.Dir, o.Root, o.Backend = filepath.Join(t.TempDir(), "run"), root, "go"
		fatal.Get(run.Run(t.Context(), c, o))(t)
		return o.Dir
	}
	dir := train(run.Options{})
	k, err := artifact.Read(dir)
	if err != nil || k.Crossed == nil {
		t.Fatalf("%+v, %v", k, err)
	}
	folds, leftOut := k.Crossed.Labelled()
	tally := func(l calibration.Labelled) float64 { return calibration.Measure(l, 1).Accuracy }
	if e := k.Estimate; len(folds.Class) != 60 || len(leftOut.Class) != 60 || tally(folds) != e.Seen.Share() || tally(leftOut) != e.Unseen.Share() {
		t.Errorf("%d and %d logits, accuracies %v and %v; the estimate is %v and %v", len(folds.Class), len(leftOut.Class), tally(folds), tally(leftOut), e.Seen, e.Unseen)
	}
	got := fatal.Get(open(t, dir).Calibrate(t.Context()))(t)
	s := got.Source
	if !got.CrossValidated || s.Images != 60 || s.Temperature != calibration.FitTemperature(folds) || s.Source.After.NLL >= s.Source.Before.NLL ||
		got.LeftOut == nil || got.LeftOut.Temperature != calibration.FitTemperature(leftOut) || got.HasTarget() {
		t.Errorf("%+v, left out %+v", s, got.LeftOut)
	}
	moved := fatal.Get(predict.OpenUncalibrated(run.Options{Dir: dir, Root: root, Backend: "go"}))(t)
	defer moved.Close()
	if again, err := moved.Calibrate(t.Context()); err != nil || !again.CrossValidated || again.Source.Temperature != s.Temperature {
		t.Errorf("with a root: %+v, %v", again, err)
	}
	if again := open(t, dir); again.Temperature != s.Temperature || !again.Calibrated {
		t.Errorf("opened again, the temperature is %v, want %v", again.Temperature, s.Temperature)
	}
	c.Exploration.Budget = "40"
	few := train(run.Options{})
	if _, err := open(t, few).Calibrate(t.Context()); err == nil || !strings.Contains(err.Error(), "40 cross-validated labels") || !strings.Contains(err.Error(), "ledg extend "+few+" --budget 50") {
		t.Errorf("error %v", err)
	}
	none := train(run.Options{NoEstimate: true})
	if k, err := artifact.Read(none); err != nil || k.Estimate != nil || k.Crossed != nil {
		t.Errorf("without an estimate: %+v, %v", k, err)
	}
	fatal.Says(t, fatal.Err(open(t, none).Calibrate(t.Context())), "Train again without --no-estimate")
}
