package active

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/seed"
)

// huge is a pool of n samples with d features around 2,000 centres, h
// classes and 3 domains, and 500 labelled ones.
func huge(n, d, h int) *Candidates {
	const k, m, centres = 3, 500, 2000
	r := rand.New(rand.NewPCG(1, 2))
	normal := func(rows, cols int) Matrix {
		v := Matrix{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
		for i := range v.Data {
			v.Data[i] = float32(r.NormFloat64())
		}
		return v
	}
	around := normal(centres, d)
	grouped := func(rows int) Matrix {
		v := normal(rows, d)
		for i := range rows {
			for j, x := range rowOf(around, r.IntN(centres)) {
				v.Data[i*d+j] += x
			}
		}
		return v
	}
	c := &Candidates{IDs: numbered(n), Features: grouped(n), ClassLogits: normal(n, h), DomainLogits: normal(n, k), LabelledFeatures: grouped(m),
		LabelledClassLogits: normal(m, h)}
	for i := range m {
		c.LabelledClasses = append(c.LabelledClasses, r.IntN(h))
		c.LabelledDomains = append(c.LabelledDomains, i%k)
	}
	for i := range n {
		c.Domains = append(c.Domains, i%k)
	}
	return c
}

// BenchmarkScale makes 500 picks from the huge pool with every strategy, or that which STRATEGY
// names. LEDG_SCALE holds other numbers of samples, features, classes and picks. It reports the
// time of processors and the memory that the process has had at most. On one of two shared cores of an
// AMD EPYC they took, in seconds summed over both processors (a strategy uses two) and GiB with
// the pool: kmeans 13, 1.3; maxherding 13, 2.4; typiclust 16, 1.6; uherding 18, 2.4; dropquery 32,
// 1.5; probcover 33, 1.3; bait 53, 0.9.
func BenchmarkScale(b *testing.B) {
	n, d, h, picks := 100_000, 768, 345, 500
	if v := os.Getenv("LEDG_SCALE"); v != "" {
		fatal.Get(fmt.Sscan(v, &n, &d, &h, &picks))(b)
	}
	c := huge(n, d, h)
	only := os.Getenv("STRATEGY")
	for _, s := range Strategies(Options{Weights: Gammas(1, 1), Classes: h}) {
		if only != "" && s.Name() != only {
			continue
		}
		b.Run(s.Name(), func(b *testing.B) {
			before := processorSeconds()
			for b.Loop() {
				runtime.GC()
				fatal.Get(s.Query(c, picks, seed.New(1, "query")))(b)
			}
			b.ReportMetric((processorSeconds()-before)/float64(b.N), "cpu-s/op")
			b.ReportMetric(peakGiB(), "GiB")
		})
	}
}

// processorSeconds is the time of processors that this process has had, 0 where that is not known.
func processorSeconds() float64 {
	data, _ := os.ReadFile("/proc/self/stat")
	_, after, _ := strings.Cut(string(data), ") ")
	user, system := 0.0, 0.0
	if f := strings.Fields(after); len(f) > 12 {
		_, _ = fmt.Sscan(f[11]+" "+f[12], &user, &system)
	}
	return (user + system) / 100
}

// peakGiB is the largest resident memory of this process, 0 where that is not known.
func peakGiB() float64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmHWM:" {
			kib := 0.0
			for _, digit := range f[1] {
				kib = kib*10 + float64(digit-'0')
			}
			return kib / (1 << 20)
		}
	}
	return 0
}
