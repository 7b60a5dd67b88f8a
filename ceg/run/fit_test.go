package run

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
	"github.com/ledg-go/ledg/ceg/learner/checkpoint"
	"github.com/ledg-go/ledg/ceg/learner/embedding/embeddingtest"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// A run whose head is fitted at once asks for labels between its epochs, fits again when
// they have come and not otherwise, and goes on after an interruption as if there had
// been none.
func TestFitRun(t *testing.T) {
	root := embeddingtest.Glyphs(t, 1)
	for _, name := range []string{"badge+logistic", "entropy+gda", "entropy+propagation"} {
		c := configtest.New(t, "features", "sketch", name, config.Authors, "schedule.epochs", 6)
		c.Exploration.Budget = "40"
		fatal.If(t, c.Validate())
		whole, dir := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "stopped")
		fatal.Get(Run(t.Context(), c, Options{Dir: whole, Root: root, Backend: "go"}))(t)
		ctx, stop := context.WithCancel(t.Context())
		if _, err := Run(ctx, c, Options{Dir: dir, Root: root, Backend: "go", Observe: func(e Event) {
			if e.Done && e.Epoch == 3 {
				stop()
			}
		}}); err == nil {
			t.Fatal("the run was not stopped")
		}
		fatal.Get(Run(t.Context(), c, Options{Dir: dir, Resume: true, Backend: "go"}))(t)
		var losses [2][]float64
		for i, d := range []string{whole, dir} {
			records, _ := fatal.Get2(result.ReadRecords(os.DirFS(d), result.RecordsFile, result.WholeFile))(t)
			for _, r := range records {
				losses[i] = append(losses[i], r.Loss[0].Value)
			}
		}
		if !slices.Equal(losses[0], losses[1]) || len(losses[0]) != 6 {
			t.Errorf("%s: losses %v, after an interruption %v", name, losses[0], losses[1])
		}
		// Labels come after epochs 3 and 4 here.
		if v := losses[0]; v[0] != v[1] || v[3] == v[4] || v[4] == v[5] {
			t.Errorf("%s: losses %v of epochs with the labels of the last one and with others", name, v)
		}
		a, errA := os.ReadFile(filepath.Join(whole, checkpoint.File))
		b, errB := os.ReadFile(filepath.Join(dir, checkpoint.File))
		if errA != nil || errB != nil || len(a) != len(b) {
			t.Errorf("%s: checkpoints of %d and %d bytes, %v, %v", name, len(a), len(b), errA, errB)
		}
	}
	for _, bad := range []struct {
		dataset, method, want string
		set                   map[string]any
	}{
		{"glyphs", "uniform+logistic", "ledg embed makes features", nil},
		{"features", "uniform+logistic", `network.name "mlp" and generalization.objective "logistic"`, map[string]any{"network.name": "mlp"}},
		{"features", "ceg+logistic", "no domain head, which the strategy asks", nil},
		{"features", "logistic", "no steps to average", map[string]any{"generalization.average": "ema"}},
	} {
		_, err := config.Resolve(config.Spec{Dataset: bad.dataset, Target: "sketch", Method: bad.method, Preset: config.Authors, Set: bad.set})
		if err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%s: got %v, want %q", bad.method, err, bad.want)
		}
	}
}

// A run that starts from logistic regression, and whose learning rate is 0, predicts as logistic
// regression does, also with batches of images.
func TestHeadStart(t *testing.T) {
	root := embeddingtest.Glyphs(t, 1)
	var accuracy [2]result.Accuracy
	for i, name := range []string{"logistic", "fixmatch"} {
		pairs := []any{"schedule.epochs", 1, "exploration.budget", "40"}
		if name == "fixmatch" {
			pairs = append(pairs, "network.head_start", config.Logistic, "schedule.batches", config.EqualImages,
				"optimizer.class_head_rate", 0, "optimizer.backbone_rate", 0)
		}
		c := configtest.New(t, "features", "sketch", name, config.Authors, pairs...)
		fatal.If(t, c.Validate())
		dir := t.TempDir()
		fatal.Get(Run(t.Context(), c, Options{Dir: dir, Root: root, Backend: "go"}))(t)
		records, _ := fatal.Get2(result.ReadRecords(os.DirFS(dir), result.RecordsFile, result.WholeFile))(t)
		accuracy[i] = records[0].Accuracy[0]
	}
	if !reflect.DeepEqual(accuracy[0], accuracy[1]) {
		t.Errorf("accuracies %+v and %+v", accuracy[0], accuracy[1])
	}
}
