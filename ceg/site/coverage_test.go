package site_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/learner/embedding/embeddingtest"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/ceg/testing/testall"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/seed"
)

// Sizes of a simulated pool; see scripts/studies/announced/coverage.md.
const (
	drawnImages, validation = 600, 120
	adaptedWith, audited    = 20, 50
)

// features reads all clean views of a file, with the classes and domains.
func features(t *testing.T, path string) (p site.Part, classes, domains []string) {
	t.Helper()
	d, truth := fatal.Get2(datasets.Open("features", path, datasets.Options{}))(t)
	f, _ := d.Features()
	defer f.Close()
	v := fatal.Get(f.Open(t.Context(), t.TempDir()))(t)
	n := d.Len()
	p.Features = head.Matrix{Rows: n, Cols: f.Dim, Stride: f.Dim, Data: make([]float32, n*f.Dim)}
	var scratch []byte
	for i, e := range d.Examples {
		fatal.If(t, v.Read(i, 0, site.Row(p.Features, i), &scratch))
		p.IDs, p.Classes, p.Domains = append(p.IDs, e.ID), append(p.Classes, truth.Class(i)), append(p.Domains, e.Domain)
	}
	return p, d.Classes, d.Domains
}

// promise counts how often an interval covered the truth.
type promise struct {
	name         string
	within, of   int
	width, error float64
}

func (p *promise) add(i audit.Interval, truth float64) {
	if p.of++; i.Low <= truth && truth <= i.High {
		p.within++
	}
	p.width += i.High - i.Low
	p.error += i.Share - truth
}

// simulation are the promises on one data set.
type simulation struct {
	t                *testing.T
	p                site.Part
	classes, domains []string
	list             []*promise
}

func (s *simulation) of(name string) *promise {
	for _, p := range s.list {
		if p.name == name {
			return p
		}
	}
	s.list = append(s.list, &promise{name: name})
	return s.list[len(s.list)-1]
}

// fit is logistic regression on some images.
func (s *simulation) fit(rows []int) *head.Linear {
	p := s.p.Take(rows)
	h, err := head.Fit(p.Features, p.Classes, len(s.classes), head.Options{Cs: []float64{0.01}})
	if err != nil {
		s.t.Fatal(err)
	}
	return h
}

// tally counts how many images a head gets right, of a class or domain where one is given.
func (s *simulation) tally(seen, rows []int, in func(i int) bool) (t result.Tally) {
	for k, i := range rows {
		if in == nil || in(i) {
			t.Count(seen[k], s.p.Classes[i])
		}
	}
	return t
}

// herded selects n of the rows by MaxHerding.
func (s *simulation) herded(rows []int, n int) (in, out []int) {
	p := s.p.Take(rows)
	picks, err := active.MaxHerding{}.Query(&active.Candidates{IDs: p.IDs, Domains: make([]int, len(rows)), Features: p.Features,
		LabelledFeatures: head.Matrix{Cols: p.Features.Cols, Stride: p.Features.Cols}}, n, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	chosen := map[int]bool{}
	for _, k := range picks {
		chosen[k.Index] = true
		in = append(in, rows[k.Index])
	}
	for k, i := range rows {
		if !chosen[k] {
			out = append(out, i)
		}
	}
	return in, out
}

// measured adds the interval of a random sample: all, and each class and site with enough images.
func (s *simulation) measured(name string, h *head.Linear, sample, rest []int) {
	seen, after := h.Predict(s.p.Take(sample).Features), h.Predict(s.p.Take(rest).Features)
	s.of(name).add(audit.Wilson(s.tally(seen, sample, nil)), s.tally(after, rest, nil).Share())
	parts := func(kind string, n int, key []int, interval func(result.Tally) audit.Interval) {
		for c := range n {
			in := func(i int) bool { return key[i] == c }
			if a, b := s.tally(seen, sample, in), s.tally(after, rest, in); a.Total >= audit.FewestOfClass && b.Total >= audit.FewestOfClass {
				s.of(name+", each "+kind).add(interval(a), b.Share())
			}
		}
	}
	parts("class", len(s.classes), s.p.Classes, audit.Exact)
	parts("class, withdrawn: Wilson's", len(s.classes), s.p.Classes, audit.Wilson)
	if len(slices.Compact(slices.Sorted(slices.Values(s.p.Take(sample).Domains)))) > 1 {
		parts("site", len(s.domains), s.p.Domains, audit.Wilson)
	}
}

// drawing are the images of one pool, by row, and the random numbers after them.
type drawing struct {
	r                      *rand.Rand
	val, pool, rest, place []int
	budget                 int
	herded                 bool
}

// draw draws pool k.
func (s *simulation) draw(k int) drawing {
	d := drawing{r: seed.New(uint64(k), "coverage"), budget: []int{60, 90}[k/2%2], herded: k%2 == 0}
	target := k % len(s.domains)
	var sources []int
	for i, own := range s.p.Domains {
		if own == target {
			d.place = append(d.place, i)
		} else {
			sources = append(sources, i)
		}
	}
	d.r.Shuffle(len(sources), func(i, j int) { sources[i], sources[j] = sources[j], sources[i] })
	d.r.Shuffle(len(d.place), func(i, j int) { d.place[i], d.place[j] = d.place[j], d.place[i] })
	d.val, d.pool, d.rest = sources[:validation], sources[validation:drawnImages], sources[drawnImages:]
	return d
}

// intervals adds the intervals of held-out images, of a site's audit and of the gain there.
func (s *simulation) intervals(d drawing, h *head.Linear, adapt func(rows []int) *head.Linear) {
	s.measured("validation images", h, d.val, d.rest)
	most := min(len(d.place), 400)
	a, outside := s.herded(d.place[:most], adaptedWith)
	outside = append(outside, d.place[most:]...)
	d.r.Shuffle(len(outside), func(i, j int) { outside[i], outside[j] = outside[j], outside[i] })
	sample, others := outside[:audited], outside[audited:]
	s.measured("audit of a site", h, sample, others)
	adapted := adapt(a)
	pairs := func(rows []int) (p audit.Paired) {
		f := s.p.Take(rows).Features
		before, after := h.Predict(f), adapted.Predict(f)
		for i, row := range rows {
			p.Add(before[i] == s.p.Classes[row], after[i] == s.p.Classes[row])
		}
		return p
	}
	s.of("gain on a site").add(audit.Gain(pairs(sample)), audit.Gain(pairs(others)).Share)
}

// estimated adds the estimate from the labels, which is printed without an interval.
func (s *simulation) estimated(d drawing, e *audit.Estimate, h *head.Linear) {
	by := "random"
	if d.herded {
		by = "MaxHerding"
	}
	onRest := s.tally(h.Predict(s.p.Take(d.rest).Features), d.rest, nil).Share()
	onSite := s.tally(h.Predict(s.p.Take(d.place).Features), d.place, nil).Share()
	s.of("withdrawn: cross-validation, "+by).add(audit.Wilson(e.Seen), onRest)
	s.of("withdrawn: left-out sites pooled, as a new site").add(audit.Wilson(e.Unseen), onSite)
	low, high := 1., 0.
	for _, d := range e.LeftOut {
		low, high = min(low, d.Tally.Share()), max(high, d.Tally.Share())
	}
	if len(e.LeftOut) > 1 {
		s.of("withdrawn: range over left-out sites, as a new site").add(audit.Interval{Share: (low + high) / 2, Low: low, High: high}, onSite)
	}
}

// pool simulates one pool with logistic regression.
func (s *simulation) pool(k int) {
	d := s.draw(k)
	chosen := d.pool[:d.budget]
	if d.herded {
		chosen, _ = s.herded(d.pool, d.budget)
	}
	h := s.fit(chosen)
	s.intervals(d, h, func(a []int) *head.Linear { return s.fit(slices.Concat(chosen, a)) })

	// Withdrawn: what was printed before as an interval, or would be read as one.
	l := audit.Labelled{ClassNames: s.classes, DomainNames: s.domains}
	for _, i := range chosen {
		l.Classes, l.Domains = append(l.Classes, s.p.Classes[i]), append(l.Domains, s.p.Domains[i])
	}
	e, err := audit.Cross(l, func(train []int) (func([]int) []int, error) {
		pick := func(list []int) (rows []int) {
			for _, i := range list {
				rows = append(rows, chosen[i])
			}
			return rows
		}
		f := s.fit(pick(train))
		return func(test []int) []int { return f.Predict(s.p.Take(pick(test)).Features) }, nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.estimated(d, e, h)
}

// simulatedPools is the number of pools: the given one, 200 for the table of notebooks/results/new-site.md, which
// is written to the file that LEDG_COVERAGE names, or LEDG_POOLS.
func simulatedPools(t *testing.T, pools int) int {
	t.Helper()
	if os.Getenv("LEDG_COVERAGE") != "" {
		pools = 200
	}
	if n := os.Getenv("LEDG_POOLS"); n != "" {
		fatal.Get(fmt.Sscan(n, &pools))(t)
	}
	return pools
}

// Every interval that is printed covers the truth in at least 90% of simulated pools on each file
// of features that LEDG_FEATURES names, as NAME=FILE,NAME=FILE, and on glyphs.
func TestCoverage(t *testing.T) {
	testall.Need(t, "it simulates 40 pools")
	files := [][2]string{{"glyphs", embeddingtest.GlyphsOf(t, 150, 1)}}
	for part := range strings.SplitSeq(os.Getenv("LEDG_FEATURES"), ",") {
		if name, file, ok := strings.Cut(part, "="); ok {
			files = append(files, [2]string{name, file})
		}
	}
	var table bytes.Buffer
	for _, f := range files {
		s := &simulation{t: t}
		s.p, s.classes, s.domains = features(t, f[1])
		for k := range simulatedPools(t, 40) {
			s.pool(k + 1)
		}
		s.tabulate(&table, f[0])
	}
	publish(t, &table)
}

// tabulate adds a row for each promise to the table, and holds the printed ones to 90%.
func (s *simulation) tabulate(table *bytes.Buffer, data string) {
	for _, p := range s.list {
		n := float64(p.of)
		fmt.Fprintf(table, "| %s | %s | %.1f | %.1f | %+.1f | %d |\n", data, p.name, 100*float64(p.within)/n, 100*p.width/n, 100*p.error/n, p.of)
		if !strings.Contains(p.name, "withdrawn") && float64(p.within) < 0.9*n {
			s.t.Errorf("%s, %s: %d of %d intervals cover the truth, want 90%%", data, p.name, p.within, p.of)
		}
	}
}

// publish logs the table and writes it to the file that LEDG_COVERAGE names.
func publish(t *testing.T, table *bytes.Buffer) {
	t.Logf("\n%s", table.String())
	if to := os.Getenv("LEDG_COVERAGE"); to != "" {
		if err := os.WriteFile(filepath.Clean(to), table.Bytes(), 0o666); err != nil {
			t.Error(err)
		}
	}
}
