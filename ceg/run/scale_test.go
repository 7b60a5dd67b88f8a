package run

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/ledg-go/ledg/ceg/campaign"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/learner/checkpoint"
	"github.com/ledg-go/ledg/ceg/learner/examples"
	"github.com/ledg-go/ledg/ceg/learner/trainer"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
)

const (
	manyDomains = 6 // the last is the target
	manyClasses = 345
)

// many is a run over a generated data set of n training images, with IDs of 60 bytes, whose
// networks are stored: features and logits depend on the image's domain and class, with noise.
type many struct {
	truth datasets.Truth
	*explorer
	c   Config
	dim int
	// took is the time in which predictions were made up, which is not the run's, and
	// tookCPU the processor's.
	took    time.Duration
	tookCPU float64
	// centres [domains, classes, dim], and noise that every image takes a slice of.
	centres, noise []float32
}

func newMany(b *testing.B, n, dim int) *many {
	b.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var examples []datasets.Example
	var classes []int
	var domains, names []string
	for h := range manyClasses {
		names = append(names, fmt.Sprintf("class_of_things_%03d", h))
	}
	for k := range manyDomains {
		domains = append(domains, fmt.Sprintf("domain_%d", k))
		size := n / (manyDomains - 1)
		if k == manyDomains-1 {
			size = 1
		}
		for i := range size {
			h := i * manyClasses / size
			examples = append(examples, datasets.Example{ID: fmt.Sprintf("%s/%s/image_%021d.jpg", domains[k], names[h], i), Domain: k})
			classes = append(classes, h)
		}
	}
	data, truth := fatal.Get2(datasets.NewGenerated("many", domains, names, examples, classes,
		func(int) (*rgb.Image, error) { return rgb.New(8, 8), nil }, "many"))(b)
	c := configtest.New(b, "folder", domains[manyDomains-1], "ceg", config.Authors, "schedule.timing", config.Published)
	m := &many{c: c, dim: dim}
	normal := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return v
	}
	m.centres, m.noise = normal(manyDomains*manyClasses*dim), normal(1<<20)
	p := fatal.Get(campaign.New(c, data))(b)
	fatal.If(b, p.SetOracle(campaign.Simulated(p, truth.Class)))
	m.truth = truth
	m.explorer = fatal.Get(newExplorer(c, p, newReporter(nil, c.Schedule.Epochs)))(b)
	m.look = m.predictions
	fatal.Get(m.labelInitial(b.Context()))(b)
	return m
}

func (m *many) predictions(_ context.Context, examples []int) (trainer.Predictions, error) {
	start, cpu := time.Now(), cpuSeconds()
	defer func() { m.took, m.tookCPU = m.took+time.Since(start), m.tookCPU+cpuSeconds()-cpu }()
	n := len(examples)
	matrix := func(cols int) blas32.General {
		return blas32.General{Rows: n, Cols: cols, Stride: cols, Data: make([]float32, n*cols)}
	}
	p := trainer.Predictions{Features: matrix(m.dim), ClassLogits: matrix(manyClasses), DomainLogits: matrix(manyDomains - 1)}
	for i, x := range examples {
		k, h := m.campaign.Data.Examples[x].Domain, m.truth.Class(x)
		vector := func(number, length int) []float32 {
			at := rand.NewPCG(uint64(x), uint64(number)).Uint64() % uint64(len(m.noise)-length)
			return m.noise[at:][:length]
		}
		centre := m.centres[(k*manyClasses+h)*m.dim:]
		for j, v := range vector(0, m.dim) {
			p.Features.Data[i*m.dim+j] = max(0, centre[j]+v) // as after a ReLU
		}
		class, domain := p.ClassLogits.Data[i*manyClasses:][:manyClasses], p.DomainLogits.Data[i*(manyDomains-1):][:manyDomains-1]
		copy(class, vector(1, manyClasses))
		copy(domain, vector(2, manyDomains-1))
		class[h] += 4
		domain[k] += 3
	}
	return p, nil
}

// BenchmarkExplore is one exploration: the scores and ranks of all candidates, the
// query, and the reliable set of the next epoch by the published rule. Memory is the
// peak of the process beyond the candidates' features.
func BenchmarkExplore(b *testing.B) {
	for _, dim := range []int{512, 2048} {
		for _, n := range scaleSizes(b) {
			b.Run(fmt.Sprintf("D=%d/n=%d", dim, n), func(b *testing.B) {
				m := newMany(b, n, dim)
				resetPeak()
				m.took, m.tookCPU = 0, 0
				cpu := cpuSeconds()
				queried := 0
				for b.Loop() {
					queries, set := fatal.Get2(m.explore(b.Context(), m.c.Schedule.QueryAfter[0]))(b)
					queried += len(queries)
					if len(set.examples) == 0 {
						b.Fatal("no reliable set")
					}
				}
				if queried == 0 {
					b.Fatal("nothing was asked")
				}
				b.ReportMetric((b.Elapsed()-m.took).Seconds()/float64(b.N), "s/exploration")
				b.ReportMetric((cpuSeconds()-cpu-m.tookCPU)/float64(b.N), "cpu-s/exploration")
				reportPeak(b, 4*int64(n)*int64(dim), "GiB-above-features")
			})
		}
	}
}

// BenchmarkCheckpoint writes the checkpoint of a run after its query and reads it
// again, the networks' weights apart.
func BenchmarkCheckpoint(b *testing.B) {
	for _, n := range scaleSizes(b) {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			m := newMany(b, n, 1)
			r := run{campaign: m.campaign, examples: &examples.Set{}}
			for i := range n / 2 {
				r.reliable.examples = append(r.reliable.examples, m.campaign.Places[i])
				r.reliable.labels = append(r.reliable.labels, i%manyClasses)
			}
			dir := b.TempDir()
			path := filepath.Join(dir, checkpoint.File)
			var writing, reading time.Duration
			for b.Loop() {
				start := time.Now()
				c := r.checkpoint()
				fatal.If(b, regular.WriteFile(path, func(w io.Writer) error { return c.Write(w, m.c, nil, learner.State{}) }))
				writing += time.Since(start)

				b.StopTimer()
				empty := fatal.Get(campaign.New(m.c, m.campaign.Data))(b) // without labels
				b.StartTimer()
				start = time.Now()
				back, _, _, err := checkpoint.Read(dir, m.c, nil)
				if err != nil {
					b.Fatal(err)
				}
				fatal.If(b, empty.Restore(path, back.Pool, campaign.Progress{Round: back.Round}))
				reading += time.Since(start)
				if got, want := empty.LabelledCount(), m.campaign.LabelledCount(); got != want || len(back.Reliable) != n/2 {
					b.Fatalf("%d labels and %d reliable images came back, want %d and %d", got, len(back.Reliable), want, n/2)
				}
			}
			b.ReportMetric(writing.Seconds()/float64(b.N), "s/write")
			b.ReportMetric(reading.Seconds()/float64(b.N), "s/read")
		})
	}
}
