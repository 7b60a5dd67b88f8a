package site_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/learner/embedding/embeddingtest"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/seed"
)

// rooted takes square roots of features and centres them, as the preset does.
func rooted(p site.Part) {
	mean := make([]float64, p.Features.Cols)
	for i := range p.Features.Rows {
		for j, v := range site.Row(p.Features, i) {
			r := math.Copysign(math.Sqrt(math.Abs(float64(v))), float64(v))
			site.Row(p.Features, i)[j] = float32(r)
			mean[j] += r / float64(p.Features.Rows)
		}
	}
	for i := range p.Features.Rows {
		for j := range mean {
			site.Row(p.Features, i)[j] -= float32(mean[j])
		}
	}
}

// apart returns the distances that set a run's threshold: of each row to the nearest labelled one
// but itself.
func (s *simulation) apart(rows, labelled []int) []float64 {
	return audit.DistancesApart(s.p.Take(rows).Features, s.p.Take(labelled).Features, rows, labelled)
}

// At most 9% of new images of the pool's domains and classes are flagged, also where a large part of
// a small pool is labelled. A threshold from unlabelled images alone would flag 13 to 40% of them, as
// labels were selected near these.
func TestFalseAlarmsOfSmallPools(t *testing.T) {
	s := &simulation{t: t}
	s.p, s.classes, s.domains = features(t, filepath.Join("..", "..", "datasets", "emoji", "lite0.npz"))
	rooted(s.p)
	all := make([]int, len(s.p.IDs))
	for i := range all {
		all[i] = i
	}
	for _, of := range []struct{ pool, labels int }{{120, 30}, {120, 60}, {300, 90}} {
		var alarms, unlabelled result.Tally
		for k := range 10 {
			r := seed.New(uint64(k), "small pools")
			r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			pool, fresh := all[:of.pool], s.p.Take(all[of.pool:][:1000]).Features
			chosen, held := s.herded(pool, of.labels)
			labelled := s.p.Take(chosen).Features
			n, near := audit.NewNovelty(s.apart(pool, chosen)), audit.NewNovelty(audit.Distances(s.p.Take(held).Features, labelled))
			for _, d := range audit.Distances(fresh, labelled) {
				alarms.Total++
				if n.Flags(d) {
					alarms.Correct++
				}
				if near.Flags(d) {
					unlabelled.Correct++
				}
			}
		}
		unlabelled.Total = alarms.Total
		t.Logf("%d of %d labelled: %.1f%% false alarms, %.1f%% by unlabelled images alone", of.labels, of.pool, 100*alarms.Share(), 100*unlabelled.Share())
		if unlabelled.Share() < 1.3*alarms.Share() {
			t.Errorf("%d of %d labelled: unlabelled images alone are as good", of.labels, of.pool)
		}
		if a := alarms.Share(); a < 0.01 || a > 0.09 {
			t.Errorf("%d of %d labelled: %.1f%% false alarms, want 1 to 9%%", of.labels, of.pool, 100*a)
		}
	}
}

// Each class in turn is left out of the labels and met as a stranger. The threshold of a run, from
// the images of its pool, flags strangers more often than fresh images of known classes, and
// few of these. So does a site's, from the distances between the sources. Random features of
// glyphs do not separate classes, so there only the false alarms are held. Noise is always
// flagged. LEDG_FEATURES names more files, as for TestCoverage.
func TestStrangers(t *testing.T) {
	type limits struct{ found, alarms, foundMarked, siteFound, siteAlarms float64 }
	files := [][2]string{{"glyphs", embeddingtest.GlyphsOf(t, 150, 1)}}
	want := map[string]limits{"glyphs": {0, 0.09, 0, 0, 0.08}, "emoji": {0.14, 0.08, 0.2, 0.1, 0.08}, "pacs": {0.2, 0.08, 0.14, 0.05, 0.08}} // PACS at 96 px
	for part := range strings.SplitSeq(os.Getenv("LEDG_FEATURES"), ",") {
		if name, path, ok := strings.Cut(part, "="); ok {
			files = append(files, [2]string{name, path})
		}
	}
	for _, f := range files {
		s := &simulation{t: t}
		s.p, s.classes, s.domains = features(t, f[1])
		rooted(s.p)
		var found, alarms, foundMixed, foundMarked, alarmsMarked, siteFound, siteAlarms result.Tally
		count := func(t *result.Tally, flagged bool) {
			if t.Total++; flagged {
				t.Correct++
			}
		}
		for c := range s.classes {
			target := c % len(s.domains)
			var pool, rest, strangers, place []int
			for i := range s.p.Classes {
				switch {
				case s.p.Domains[i] == target:
					place = append(place, i)
				case s.p.Classes[i] == c:
					strangers = append(strangers, i)
				default:
					pool = append(pool, i)
				}
			}
			seed.New(uint64(c), "strangers").Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
			half := min(len(pool)/2, 1500)
			pool, rest = pool[:half], pool[half:min(len(pool), 2*half)]
			chosen, held := s.herded(pool, 90)
			labelled := s.p.Take(chosen)
			n := audit.NewNovelty(s.apart(pool, chosen))
			for _, d := range audit.Distances(s.p.Take(strangers).Features, labelled.Features) {
				count(&found, n.Flags(d))
			}
			for _, d := range audit.Distances(s.p.Take(rest).Features, labelled.Features) {
				count(&alarms, n.Flags(d))
			}
			// Five strangers were marked as none of the classes: more of the others are flagged.
			known := s.p.Take(strangers[:5]).Features
			score := func(part site.Part) []float64 {
				list := audit.Distances(part.Features, labelled.Features)
				for i, d := range audit.Distances(part.Features, known) {
					list[i] = audit.Strangeness(list[i], d)
				}
				return list
			}
			in := slices.Concat(pool, strangers[5:len(strangers)/2]) // a pool with strangers
			mixed := audit.NewNovelty(s.apart(in, chosen))
			m := audit.NewNoveltyBeside(s.apart(in, chosen), audit.Distances(s.p.Take(in).Features, known))
			others := s.p.Take(strangers[len(strangers)/2:])
			for _, d := range score(others) {
				count(&foundMarked, m.Flags(d))
			}
			for _, d := range audit.Distances(others.Features, labelled.Features) {
				count(&foundMixed, mixed.Flags(d))
			}
			for _, d := range score(s.p.Take(rest)) {
				count(&alarmsMarked, m.Flags(d))
			}
			noise := head.Matrix{Rows: 1, Cols: labelled.Features.Cols, Stride: labelled.Features.Cols}
			r := seed.New(uint64(c), "noise")
			for range noise.Cols {
				noise.Data = append(noise.Data, float32(r.NormFloat64()))
			}
			if !n.Flags(audit.Distances(noise, labelled.Features)[0]) && f[0] != "glyphs" { // of 12 features
				t.Errorf("%s: noise is not flagged", f[0])
			}
			h := s.fit(chosen)
			from := &site.Sources{ClassNames: s.classes, DomainNames: s.domains, Labelled: labelled, Others: s.p.Take(held)}
			on := s.p.Take(place)
			on.Logits = h.Logits(on.Features)
			from.Labelled.Logits = h.Logits(labelled.Features)
			g := fatal.Get(from.EstimateAccuracy(on, 1))(t)
			for _, i := range place {
				flagged := slices.Contains(g.LooksNew, s.p.IDs[i])
				if s.p.Classes[i] == c {
					count(&siteFound, flagged)
				} else {
					count(&siteAlarms, flagged)
				}
			}
		}
		w := want[f[0]]
		for _, m := range []struct {
			what  string
			t     result.Tally
			least bool
			limit float64
		}{{"strangers flagged", found, true, w.found}, {"false alarms on fresh images", alarms, false, w.alarms},
			{"strangers flagged with others in the pool", foundMixed, true, 0}, {"other strangers flagged with five marked", foundMarked, true, w.foundMarked}, {"false alarms with five marked", alarmsMarked, false, w.alarms},
			{"strangers flagged on a new site", siteFound, true, w.siteFound}, {"false alarms on a new site", siteAlarms, false, w.siteAlarms}} {
			t.Logf("%s: %s: %d of %d (%.1f%%)", f[0], m.what, m.t.Correct, m.t.Total, 100*m.t.Share())
			if w != (limits{}) && (m.least && m.t.Share() < m.limit || !m.least && m.t.Share() > m.limit) {
				t.Errorf("%s: %s: %.1f%%, want %.0f%%", f[0], m.what, 100*m.t.Share(), 100*m.limit)
			}
		}
	}
}
