// Package bench times training steps: on images that are already on
// the device, and in turn with those on images that come through the loader.
package bench

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/objective"
)

// Report says how fast training steps are.
type Report struct {
	Net     string `json:"net"`
	Size    int    `json:"size"`
	Backend string `json:"backend"`
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
	// Data is the same through the loader, if requested.
	Data *Loaded `json:"data,omitempty"`
}

// Loaded says how fast steps are whose images are read from a data set, augmented
// and copied to the device while the steps before them compute.
type Loaded struct {
	Dataset string `json:"dataset"`
	// Steps is the number of steps that were timed. In turn with them, steps with
	// their images already on the device took MemorySecondsMean.
	Steps             int     `json:"steps"`
	StepSecondsMean   float64 `json:"step_seconds_mean"`
	MemorySecondsMean float64 `json:"memory_seconds_mean"`
	// Ratio is StepSecondsMean over MemorySecondsMean.
	Ratio float64 `json:"ratio"`
	// WaitSecondsMean is the part of a step in which it waited for its images.
	WaitSecondsMean float64 `json:"wait_seconds_mean"`
	// Views is the number of augmented images that a step reads.
	Views int `json:"views_per_step"`
}

// Memory times training steps with all that the objective has, reliable images too,
// on random views that are already on the device, so that nothing but computing is
// timed.
type Memory struct {
	backend engine.Backend
	o       learner.Options
	l       *learner.Learner
	stage   learner.Stage
	inputs  *learner.Inputs
	first   time.Duration
	times   []time.Duration
}

// rates are the published learning rates.
var rates = learner.Now{Rates: learner.Rates{Backbone: 0.003, ClassHead: 0.01, DomainHead: 0.01}}

// NewMemory returns a benchmark after its warm-up, at least one step. It times the
// objective's last phase.
func NewMemory(ctx context.Context, b engine.Backend, o learner.Options, warmup int) (*Memory, error) {
	if warmup < 1 {
		return nil, fmt.Errorf("benchmark: %d warm-up steps, want at least 1", warmup)
	}
	l, err := learner.New(b, o, 1)
	if err != nil {
		return nil, err
	}
	m := &Memory{backend: b, o: o, l: l, stage: learner.Stage{Reliable: o.Objective.Uses(objective.Reliable)}}
	if o.Objective.Phase != nil {
		m.stage.Phase = o.Objective.Phase(math.MaxInt32)
	}
	if m.inputs, err = l.Upload(l.RandomBatch(), m.stage); err == nil {
		err = m.Run(ctx, warmup)
	}
	if err != nil {
		m.Close()
		return nil, err
	}
	m.first, m.times = m.times[0], nil
	return m, nil
}

// Close frees the learner.
func (m *Memory) Close() { m.l.Close() }

// Run times steps; a step ends when its losses are known. It returns the error of ctx
// where that ends between two.
func (m *Memory) Run(ctx context.Context, steps int) error {
	for range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		start := time.Now()
		out, err := m.l.StepOn(m.inputs, rates)
		if err != nil {
			return err
		}
		if _, err := out.Terms(); err != nil {
			return err
		}
		m.times = append(m.times, time.Since(start))
	}
	return nil
}

// mean returns the mean seconds of a step so far.
func (m *Memory) mean() float64 {
	var sum time.Duration
	for _, d := range m.times {
		sum += d
	}
	return sum.Seconds() / float64(len(m.times))
}

// digest returns the Report's.
func (m *Memory) digest() (string, error) {
	state, err := m.l.State()
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

// Report says how fast the steps were since the warm-up. There must be one.
func (m *Memory) Report() (Report, error) {
	times := slices.Sorted(slices.Values(m.times))
	median := times[len(times)/2]
	if len(times)%2 == 0 {
		median = (times[len(times)/2-1] + times[len(times)/2]) / 2
	}
	done, method := m.l.Forwards(m.stage)
	s := median.Seconds()
	r := Report{
		Net: m.o.Backbone.Name, Size: m.o.ImageSize,
		Backend: m.backend.Name, Precision: m.o.Precision, TF32: m.backend.Settings.TF32, Threads: runtime.GOMAXPROCS(0),
		Steps: len(times), StepSecondsMedian: s, StepsPerSecond: 1 / s,
		ForwardsPerStep: done, ForwardsInMethod: method, ImagesPerSecond: float64(done) / s,
		CompileSeconds: max(0, (m.first - median).Seconds()), PeakMemoryBytes: engine.PeakMemory(),
	}
	var err error
	r.Digest, err = m.digest() // takes memory
	return r, err
}
