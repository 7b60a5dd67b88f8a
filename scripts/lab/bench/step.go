package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/objective"
)

// Report says what was computed where, and how fast training steps are.
type Report struct {
	Net       string `json:"net"`
	Width     int    `json:"width"`
	Size      int    `json:"size"`
	PerDomain int    `json:"per_domain"`
	Backend   string `json:"backend"`
	Version   string `json:"version"` // of the engine
	Machine   string `json:"machine"`
	// Precision is the requested one, TF32 whether the backend may use TF32.
	Precision config.Precision `json:"precision"`
	TF32      bool             `json:"tf32"`
	// Threads is GOMAXPROCS.
	Threads int `json:"threads"`
	// Steps is the number of steps that were timed.
	Steps             int     `json:"steps"`
	StepSecondsMedian float64 `json:"step_seconds_median"`
	StepsPerSecond    float64 `json:"steps_per_second"`
	// ForwardsPerStep counts images sent through the backbone in one step, and
	// ImagesPerSecond divides by it. ForwardsInMethod counts them as the method
	// states its passes; the two differ by passes that are shared because they
	// would compute the same numbers twice: without BatchNorm, the pseudo-labels of
	// labelled images come from the pass that also trains on them.
	ForwardsPerStep  int     `json:"forwards_per_step"`
	ForwardsInMethod int     `json:"forwards_in_method"`
	ImagesPerSecond  float64 `json:"images_per_second"`
	// CompileSeconds is the time of the first step less a median step.
	CompileSeconds float64 `json:"compile_seconds"`
	// PeakMemoryBytes is the process' peak resident memory; 0 where the system
	// does not tell.
	PeakMemoryBytes int64 `json:"peak_memory_bytes"`
	// Digest is the SHA-256, in hex, of all weights and velocities after the last step. The
	// images are drawn from one seed, so that builds, machines and plugins which agree on
	// it compute the same bytes; the steps of the warm-up count.
	Digest string `json:"digest,omitempty"`
}

// rates are the published learning rates.
var rates = learner.Now{Rates: learner.Rates{Backbone: 0.003, ClassHead: 0.01, DomainHead: 0.01}}

// timeSteps times training steps with all that the objective has, reliable images too, on random
// views that are already on the device, so that nothing but computing is timed. It times the
// objective's last phase, after a warm-up of at least one step.
func timeSteps(ctx context.Context, b engine.Backend, o learner.Options, warmup, steps int) (Report, error) {
	l, err := learner.New(b, o, 1)
	if err != nil {
		return Report{}, err
	}
	defer l.Close()
	stage := learner.Stage{Reliable: o.Objective.Uses(objective.Reliable)}
	if o.Objective.Phase != nil {
		stage.Phase = o.Objective.Phase(math.MaxInt32)
	}
	inputs, err := l.Upload(l.RandomBatch(), stage)
	if err != nil {
		return Report{}, err
	}
	var times []time.Duration
	for range warmup + steps {
		if err := ctx.Err(); err != nil {
			return Report{}, err
		}
		start := time.Now()
		out, err := l.StepOn(inputs, rates)
		if err != nil {
			return Report{}, err
		}
		if _, err := out.Terms(); err != nil { // a step ends when its losses are known
			return Report{}, err
		}
		times = append(times, time.Since(start))
	}
	first := times[0]
	times = slices.Sorted(slices.Values(times[warmup:]))
	middle := (times[(steps-1)/2] + times[steps/2]) / 2
	done, method := l.Forwards(stage)
	s := middle.Seconds()
	r := Report{
		Size: o.ImageSize, Backend: b.Name, Precision: o.Precision, TF32: b.Settings.TF32, Threads: runtime.GOMAXPROCS(0),
		Steps: steps, StepSecondsMedian: s, StepsPerSecond: 1 / s,
		ForwardsPerStep: done, ForwardsInMethod: method, ImagesPerSecond: float64(done) / s,
		CompileSeconds: max(0, (first - middle).Seconds()), PeakMemoryBytes: engine.PeakMemory(),
	}
	r.Digest, err = digest(l) // takes memory
	return r, err
}

func digest(l *learner.Learner) (string, error) {
	state, err := l.State()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, values := range [][][]float32{state.Weights, state.Velocity} {
		for _, v := range values {
			if err := binary.Write(h, binary.LittleEndian, v); err != nil {
				return "", err
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
