package learner

import (
	"fmt"
	"maps"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/seed"
)

// BenchReport says how fast training steps are.
type BenchReport struct {
	Net     string `json:"net"`
	Size    int    `json:"size"`
	Backend string `json:"backend"`
	// Precision is the one asked for, TF32 whether the backend may use that.
	Precision Precision `json:"precision"`
	TF32      bool      `json:"tf32"`
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
	// Data is the same through the loader, if that was asked for.
	Data *LoadedReport `json:"data,omitempty"`
}

// LoadedReport says how fast steps are whose images are read from a data set,
// augmented and copied to the device while the steps before them compute.
type LoadedReport struct {
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

// Bench times training steps with all that the objective has, reliable images too,
// on random views that are already on the device, so that nothing but computing is
// timed.
type Bench struct {
	l      *Learner
	inputs *Inputs
	first  time.Duration
	times  []time.Duration
}

// BenchRates are the learning rates of benchmarks: the published ones.
var BenchRates = Now{Rates: Rates{Backbone: 0.003, ClassHead: 0.01, DomainHead: 0.01}}

// BenchStage is the stage that benchmarks time: the objective's last phase.
func BenchStage(o objective.Objective) Stage {
	s := Stage{Reliable: o.Uses(objective.Reliable)}
	if o.Phase != nil {
		s.Phase = o.Phase(math.MaxInt32)
	}
	return s
}

// NewBench returns a benchmark after its warm-up, at least one step.
func NewBench(b engine.Backend, o Options, warmup int) (*Bench, error) {
	if warmup < 1 {
		return nil, fmt.Errorf("benchmark: %d warm-up steps, want at least 1", warmup)
	}
	l, err := New(b, o, 1)
	if err != nil {
		return nil, err
	}
	inputs, err := l.Upload(randomBatch(l), BenchStage(o.Objective))
	if err != nil {
		return nil, err
	}
	m := &Bench{l: l, inputs: inputs}
	if err := m.Run(warmup); err != nil {
		return nil, err
	}
	m.first, m.times = m.times[0], nil
	return m, nil
}

// Learner returns the learner that is being timed.
func (m *Bench) Learner() *Learner { return m.l }

// Run times steps; a step ends when its losses are known.
func (m *Bench) Run(steps int) error {
	for range steps {
		start := time.Now()
		out, err := m.l.StepOn(m.inputs, BenchRates)
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

// Mean returns the mean seconds of a step so far.
func (m *Bench) Mean() float64 {
	var sum time.Duration
	for _, d := range m.times {
		sum += d
	}
	return sum.Seconds() / float64(len(m.times))
}

// Report says how fast the steps were since the warm-up. There must be one.
func (m *Bench) Report() BenchReport {
	b, o := m.l.backend, m.l.o
	times := slices.Sorted(slices.Values(m.times))
	median := times[len(times)/2]
	if len(times)%2 == 0 {
		median = (times[len(times)/2-1] + times[len(times)/2]) / 2
	}
	step := m.l.steps[m.inputs.stage]
	s := median.Seconds()
	return BenchReport{
		Net: o.Backbone.Name, Size: o.ImageSize,
		Backend: b.Name, Precision: o.Precision, TF32: b.Settings.TF32, Threads: runtime.GOMAXPROCS(0),
		Steps: len(times), StepSecondsMedian: s, StepsPerSecond: 1 / s,
		ForwardsPerStep: step.done, ForwardsInMethod: step.method, ImagesPerSecond: float64(step.done) / s,
		CompileSeconds: max(0, (m.first - median).Seconds()), PeakMemoryBytes: PeakMemory(),
	}
}

// randomBatch returns a batch of noise.
func randomBatch(l *Learner) Batch {
	d := l.Dims()
	b := Batch{}
	for _, in := range l.o.Objective.Inputs {
		r := seed.New(1, "benchmark "+in.Name)
		switch in.Content {
		case objective.Pixels:
			v := make([]uint8, d.Batch()*d.ImageSize*d.ImageSize*3)
			for i := range v {
				v[i] = uint8(r.UintN(256))
			}
			b[in.Name] = v
		case objective.Label:
			v := make([]int32, d.Batch())
			for i := range v {
				v[i] = int32(r.IntN(d.Classes))
			}
			b[in.Name] = v
		default:
			v := make([]int32, d.Batch())
			for i := range v {
				v[i] = int32(i / d.PerDomain)
			}
			b[in.Name] = v
		}
	}
	for _, w := range l.o.Objective.Draws {
		maps.Copy(b, w.Values(seed.New(1, "benchmark "+w.Stream), d))
	}
	return b
}

// PeakMemory returns the peak resident memory of this process in bytes, or 0 on
// systems that do not tell (it reads VmHWM of /proc/self/status).
func PeakMemory() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			if err != nil {
				return 0
			}
			return kib * 1024
		}
	}
	return 0
}
