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
	// Threads is GOMAXPROCS.
	Threads           int     `json:"threads"`
	StepSecondsMedian float64 `json:"step_seconds_median"`
	StepsPerSecond    float64 `json:"steps_per_second"`
	// ForwardsPerStep counts images sent through the backbone in one step, and
	// ImagesPerSecond divides by it. ForwardsInMethod counts them as the method
	// states its passes; the two differ by passes that are shared because they
	// would compute the same numbers twice.
	ForwardsPerStep  int     `json:"forwards_per_step"`
	ForwardsInMethod int     `json:"forwards_in_method"`
	ImagesPerSecond  float64 `json:"images_per_second"`
	// CompileSeconds is the time of the first step less a median step.
	CompileSeconds float64 `json:"compile_seconds"`
	// PeakMemoryBytes is the process' peak resident memory; 0 where the system
	// does not tell.
	PeakMemoryBytes int64 `json:"peak_memory_bytes"`
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

// Benchmark times training steps with MixUp on random views that are already in
// memory: warmup steps that do not count, then the median of steps.
func Benchmark(b engine.Backend, o Options, warmup, steps int) (BenchReport, error) {
	if steps < 1 || warmup < 1 {
		return BenchReport{}, fmt.Errorf("benchmark: %d steps after %d warm-up steps, want at least 1 each", steps, warmup)
	}
	l, err := New(b, o, 1)
	if err != nil {
		return BenchReport{}, err
	}
	batch := randomBatch(o)
	rates := Rates{Backbone: 0.003, ClassHead: 0.01, DomainHead: 0.01}
	var first time.Duration
	var times []time.Duration
	for i := range warmup + steps {
		start := time.Now()
		out, err := l.Step(batch, rates, true)
		if err != nil {
			return BenchReport{}, err
		}
		if _, err := out.Losses(); err != nil {
			return BenchReport{}, err
		}
		d := time.Since(start)
		if i == 0 {
			first = d
		}
		if i >= warmup {
			times = append(times, d)
		}
	}
	slices.Sort(times)
	median := times[len(times)/2]
	if len(times)%2 == 0 {
		median = (times[len(times)/2-1] + times[len(times)/2]) / 2
	}
	done, method := o.Forwards(l.batchNorm)
	s := median.Seconds()
	return BenchReport{
		Net: o.Backbone.Name, Size: o.ImageSize, Backend: b.Name, Threads: runtime.GOMAXPROCS(0),
		StepSecondsMedian: s, StepsPerSecond: 1 / s,
		ForwardsPerStep: done, ForwardsInMethod: method, ImagesPerSecond: float64(done) / s,
		CompileSeconds: max(0, (first - median).Seconds()), PeakMemoryBytes: PeakMemory(),
	}, nil
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
