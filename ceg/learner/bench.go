package learner

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ledg-go/ledg/ceg/engine"
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

// Forwards returns how many images one step with MixUp sends through the
// backbone, and how many the passes of the method add up to.
func (o Options) Forwards(batchNorm bool) (done, method int) {
	n := o.batch()
	add := func(images int) { done += images; method += images }
	add(n) // labelled, weak
	switch o.Consistency {
	case Both:
		method += n
		if batchNorm {
			done += n
		}
		add(n + 2*n)
	case Unlabelled:
		add(n + n)
	case Nothing:
		if o.DomainLoss && o.DomainFeatures == Reuse {
			add(n)
		}
	}
	if o.MixesUp() && o.IntraWeight > 0 {
		add(n)
	}
	if o.MixesUp() && o.InterWeight > 0 {
		add(len(o.pairs()) * o.PerDomain)
	}
	if o.DomainLoss && o.DomainFeatures == PostUpdate {
		add(n)
	}
	return done, method
}

// Bench times training steps with MixUp on random views that are already on the
// device, so that nothing but computing is timed.
type Bench struct {
	l      *Learner
	inputs *Inputs
	first  time.Duration
	times  []time.Duration
}

// BenchRates are the learning rates of benchmarks: the published ones.
var BenchRates = Rates{Backbone: 0.003, ClassHead: 0.01, DomainHead: 0.01}

// NewBench returns a benchmark after its warm-up, at least one step.
func NewBench(b engine.Backend, o Options, warmup int) (*Bench, error) {
	if warmup < 1 {
		return nil, fmt.Errorf("benchmark: %d warm-up steps, want at least 1", warmup)
	}
	l, err := New(b, o, 1)
	if err != nil {
		return nil, err
	}
	inputs, err := l.Upload(randomBatch(o), true)
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
		if _, err := out.Losses(); err != nil {
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
	done, method := o.Forwards(m.l.batchNorm)
	s := median.Seconds()
	return BenchReport{
		Net: o.Backbone.Name, Size: o.ImageSize,
		Backend: b.Name, Precision: o.Precision, TF32: b.Settings.TF32, Threads: runtime.GOMAXPROCS(0),
		Steps: len(times), StepSecondsMedian: s, StepsPerSecond: 1 / s,
		ForwardsPerStep: done, ForwardsInMethod: method, ImagesPerSecond: float64(done) / s,
		CompileSeconds: max(0, (m.first - median).Seconds()), PeakMemoryBytes: PeakMemory(),
	}
}

func randomBatch(o Options) Batch {
	r := seed.New(1, "benchmark")
	n := o.batch()
	views := func() []uint8 {
		v := make([]uint8, n*o.ImageSize*o.ImageSize*3)
		for i := range v {
			v[i] = uint8(r.UintN(256))
		}
		return v
	}
	labels := func() []int32 {
		v := make([]int32, n)
		for i := range v {
			v[i] = int32(r.IntN(o.Classes))
		}
		return v
	}
	b := Batch{
		XWeak: views(), XStrong: views(), UWeak: views(), UStrong: views(), RStrong: views(),
		XLabel: labels(), RLabel: labels(),
	}
	for k := range o.Domains {
		for range o.PerDomain {
			b.UDomain = append(b.UDomain, int32(k))
		}
		b.LambdaIntra = append(b.LambdaIntra, r.Float32())
		for _, j := range r.Perm(o.PerDomain) {
			b.Partner = append(b.Partner, int32(len(b.Partner)/o.PerDomain*o.PerDomain+j))
		}
	}
	for range o.pairs() {
		b.LambdaInter = append(b.LambdaInter, r.Float32())
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
