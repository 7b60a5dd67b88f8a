package run_test

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/learner/checkpoint"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
)

// A network that is sure of nothing trains on no pseudo-label by the fixed threshold,
// and on some by those that adapt, which begin at 1/C.
func TestThresholdsAdapt(t *testing.T) {
	for _, method := range []string{"ceg", "fixmatch"} {
		accepted := map[config.Threshold]int{}
		for _, threshold := range []config.Threshold{"", config.FreeMatch} {
			c := tiny(t, method, config.Authors, "schedule.timing", config.Once, "schedule.epochs", 1)
			c.Generalization.Threshold = threshold
			dir, _ := trained(t, c)
			records, _ := fatal.Get2(result.ReadRecords(os.DirFS(dir), result.RecordsFile, result.WholeFile))(t)
			accepted[threshold] = records[0].PseudoLabel.Accepted
			if threshold == config.FreeMatch {
				checkMoved(t, filepath.Join(dir, checkpoint.File))
			}
		}
		if accepted[""] >= accepted[config.FreeMatch] || accepted[config.FreeMatch] == 0 {
			t.Errorf("%s: %d pseudo-labels by a fixed threshold, %d by freematch", method, accepted[""], accepted[config.FreeMatch])
		}
	}
	c := tiny(t, "uniform-ce", config.Authors)
	c.Generalization.Threshold = config.FreeMatch
	fatal.Says(t, c.Validate(), "has no threshold of confidence")
}

// checkMoved checks that the threshold for all classes, kept less 1/C, has moved up, and that the
// thresholds of the classes still sum to 1.
func checkMoved(t *testing.T, path string) {
	t.Helper()
	f := fatal.Get(os.Open(path))(t)
	defer f.Close()
	info := fatal.Get(f.Stat())(t)
	h := fatal.Get(safetensors.ParseHeader(f, info.Size()))(t)
	sum := func(name string) (sum float64) {
		x, ok := h.Lookup("weights/" + name)
		if !ok {
			t.Fatalf("the checkpoint has no %s", name)
		}
		v := make([]float32, x.Len())
		fatal.If(t, binary.Read(x.Data(), binary.LittleEndian, v))
		for _, e := range v {
			sum += float64(e)
		}
		return sum
	}
	if global := sum("threshold.global"); !(global > 1e-4 && global < 0.9) {
		t.Errorf("the threshold has moved by %v from 1/C", global)
	}
	if class := sum("threshold.class"); math.Abs(class) > 1e-5 {
		t.Errorf("the classes' averages sum to %v more than 1", class)
	}
}
