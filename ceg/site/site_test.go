package site_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/seed"
)

// clouds are n images around a centre for each of three classes, moved by a shift; logits are
// the features of the first three dimensions.
func clouds(n int, shift float64, name string) (p site.Part) {
	r := seed.New(7, name)
	const d = 6
	p.Features = head.Matrix{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
	p.Logits = head.Matrix{Rows: n, Cols: 3, Stride: 3, Data: make([]float32, n*3)}
	for i := range n {
		c := i % 3
		p.IDs = append(p.IDs, name+string(rune('a'+i%26))+string(rune('a'+i/26)))
		p.Classes, p.Domains = append(p.Classes, c), append(p.Domains, i/3%2)
		for j := range d {
			v := 0.4 * r.NormFloat64()
			if j == c {
				v += 2
			}
			if j == 3+c {
				v += shift
			}
			p.Features.Data[i*d+j] = float32(v)
		}
		copy(p.Logits.Data[i*3:i*3+3], p.Features.Data[i*d:i*d+3])
	}
	return p
}

func sources() *site.Sources {
	return &site.Sources{ClassNames: []string{"x", "y", "z"}, DomainNames: []string{"a", "b"}, Labelled: clouds(60, 0, "labelled"), Held: clouds(60, 0, "held"), Others: clouds(90, 0, "others")}
}

// swapped is a site whose classes look like other classes of the sources.
func swapped(n int) site.Part {
	p := clouds(n, 2, "site")
	for i := range n {
		row := p.Features.Data[i*6 : i*6+6]
		row[0], row[1] = row[1], row[0]
		copy(p.Logits.Data[i*3:i*3+3], row[:3])
	}
	return p
}

func right(best, classes []int) float64 {
	n := 0
	for i, c := range classes {
		if best[i] == c {
			n++
		}
	}
	return float64(n) / float64(len(classes))
}

// An image that resembles a blank one looks new on a site, though it is not far from the sources.
func TestBlankLooksNew(t *testing.T) {
	s, u := sources(), clouds(90, 0, "place")
	odd := u.Take([]int{7})
	copy(odd.Features.Data, []float32{2, 0.5, 0.5, 0, 0, 0})
	u.Features.Data = append(u.Features.Data, odd.Features.Data...)
	u.Features.Rows++
	u.Logits.Data = append(u.Logits.Data, odd.Logits.Data...)
	u.Logits.Rows++
	u.IDs = append(u.IDs, "odd")
	flagged := func() bool {
		g := fatal.Get(s.EstimateAccuracy(u, 1))(t)
		return slices.Contains(g.LooksNew, "odd")
	}
	before := flagged()
	s.Blank = odd.Features
	if after := flagged(); before || !after {
		t.Errorf("looks new %v without blank features and %v with, want false and true", before, after)
	}
}

func TestAdaptLearnsTheSite(t *testing.T) {
	s, u := sources(), swapped(90)
	a := u.Take([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17})
	h := fatal.Get(s.Adapt(a))(t)
	before, after := right(site.Best(u.Logits), u.Classes), right(h.Predict(u.Features), u.Classes)
	if before > 0.5 || after < 0.8 {
		t.Errorf("%v right before, %v after", before, after)
	}
	// Of the head that is in use: where A says nothing new, nothing is lost.
	same := fatal.Get(s.Adapt(s.Held.Take([]int{0, 1, 2})))(t)
	if got := right(same.Predict(s.Held.Features), s.Held.Classes); got < 0.98 {
		t.Errorf("%v of the sources right after adapting to them", got)
	}
}

// The adapted head is the mean of a fitted head and the run's own, which counts as one image a
// class: without A nothing changes, and A's part grows with its images.
func TestAdaptKeepsWhatTheRunKnows(t *testing.T) {
	s, u := sources(), swapped(90)
	fitted := fatal.Get(s.Adapt(u.Take([]int{0, 1, 2, 3, 4, 5})))(t)
	s.Own = &head.Linear{Weight: make([]float64, 18), Bias: []float64{1, 2, 3}}
	for c := range 3 {
		s.Own.Weight[c*6+c] = 4
	}
	h := fatal.Get(s.Adapt(u.Take([]int{0, 1, 2, 3, 4, 5})))(t)
	for i, got := range h.Weight { // 6 images, 3 classes: two thirds and one
		if want := (2*fitted.Weight[i] + s.Own.Weight[i]) / 3; math.Abs(got-want) > 1e-12 {
			t.Errorf("weight %d is %v, want %v", i, got, want)
		}
	}
	for i, got := range h.Bias {
		if want := (2*fitted.Bias[i] + s.Own.Bias[i]) / 3; math.Abs(got-want) > 1e-12 {
			t.Errorf("bias %d is %v, want %v", i, got, want)
		}
	}
	if h, err := s.Adapt(site.Part{}); err != nil || !slices.Equal(h.Weight, s.Own.Weight) || !slices.Equal(h.Bias, s.Own.Bias) {
		t.Errorf("without A the head is %v (%v), want the run's own", h, err)
	}
}

func TestWeight(t *testing.T) {
	for _, c := range []struct {
		n, k int
		want float64
	}{{700, 35, 10}, {21, 35, 1}, {70, 35, 1}, {71, 35, 71. / 70}} {
		if got := site.Weight(c.n, c.k); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%d labels, %d of the site: %v, want %v", c.n, c.k, got, c.want)
		}
	}
}

func TestEstimate(t *testing.T) {
	s := sources()
	same := fatal.Get(s.EstimateAccuracy(clouds(60, 0, "new"), 1))(t)
	other := fatal.Get(s.EstimateAccuracy(swapped(60), 1))(t)
	if same.Transport < 0.9 || same.Source.Accuracy < 0.95 || same.Source.Folds || same.Agreement != nil || *same.Accuracy != same.Transport || same.Unfamiliar > 0.1 {
		t.Errorf("of images like the sources' %+v", same)
	}
	if other.Unfamiliar <= same.Unfamiliar || len(other.Strangest) == 0 {
		t.Errorf("of strange images %+v", other)
	}
	// One class alone is predicted.
	u := clouds(60, 0, "one")
	for i := range u.Logits.Rows {
		copy(u.Logits.Data[i*3:], []float32{5, 0, 0})
	}
	one := fatal.Get(s.EstimateAccuracy(u, 1))(t)
	if !slices.Equal(one.Rare, []string{"y", "z"}) || one.Transport > 0.45 {
		t.Errorf("of one class %+v", one)
	}
	// The sources' labels are enough for two halves of them.
	s.Labelled = clouds(300, 0, "many")
	agreed, err := s.EstimateAccuracy(clouds(60, 0, "new"), 1)
	if err != nil || agreed.Agreement == nil || *agreed.Agreement < 0.9 || agreed.Accuracy == nil {
		t.Errorf("%+v, %v", agreed, err)
	}
	s.Held = site.Part{}
	s.Seen = result.Tally{Correct: 59, Total: 98} // what the run reports is what the site repeats
	if g, err := s.EstimateAccuracy(clouds(30, 0, "same"), 1); err != nil || g.Source.Accuracy != 59./98 || g.Source.Images != 98 {
		t.Errorf("%+v, %v", g, err)
	}
	if folds, err := s.Trust(); err != nil || !folds.Folds || folds.Accuracy < 0.9 {
		t.Errorf("%+v, %v", folds, err)
	}
	// Features that were trained on the labels tell nothing of them.
	s.Trained = true
	if trained, err := s.Trust(); err != nil || trained != (site.Trust{Temperature: 1}) {
		t.Errorf("%+v, %v", trained, err)
	}
	if g, err := s.EstimateAccuracy(clouds(60, 0, "new"), 1); err != nil || g.Agreement != nil {
		t.Errorf("%+v, %v", g, err)
	}
	if _, err := s.EstimateAccuracy(site.Part{}, 1); err == nil {
		t.Error("an estimate came from no image")
	}
}

// Set A is a function of the features: neither answers nor logits change it, nor does the order.
func TestChooseLooksAtFeaturesAlone(t *testing.T) {
	u := swapped(60)
	a := fatal.Get(site.Choose(u.IDs, u.Features, 7, nil))(t)
	order := seed.New(1, "order").Perm(60)
	other := u.Take(order)
	b, err := site.Choose(other.IDs, other.Features, 7, nil)
	if err != nil || !slices.Equal(a, b) {
		t.Errorf("%v and %v, %v", a, b, err)
	}
}

func TestVisitDraws(t *testing.T) {
	u := swapped(60)
	v := &site.Visit{Images: u.IDs}
	if err := v.Draw(u, 30, 31, 1, alone); err == nil {
		t.Error("61 of 60 images were asked for")
	}
	fatal.If(t, v.Draw(u, 6, 20, 1, alone))
	a, first := slices.Clone(v.A), slices.Clone(v.Audit)
	fatal.If(t, v.Draw(u, 9, 30, 1, alone))
	if !slices.Equal(a, v.A) || !slices.Equal(first, v.Audit[:20]) || len(v.Audit) != 30 {
		t.Errorf("A %v then %v, the audit %v then %v", a, v.A, first, v.Audit)
	}
	for _, id := range v.Audit {
		if slices.Contains(v.A, id) {
			t.Errorf("%s is in A and in the audit", id)
		}
	}
}

func TestMeasureByHand(t *testing.T) {
	u := clouds(9, 0, "site") // all are seen as what they are
	v := &site.Visit{Images: u.IDs, A: u.IDs[:2], Audit: u.IDs[2:], Estimate: &site.AccuracyEstimate{}}
	says := map[string]site.Label{u.IDs[0]: {Class: "x"}, u.IDs[2]: {Class: "z"}, u.IDs[3]: {Class: "x"}, u.IDs[4]: {Class: "z"}, u.IDs[5]: {Class: "fox"}, u.IDs[6]: {Bad: true}}
	classes := []string{"x", "y", "z"}
	label := func(id string) site.Label { return says[id] }
	r := v.Measure(classes, u, nil, 1, label)
	if r.ALabelled != 1 || r.Audited != 4 || r.Bad != 1 || r.After != nil || *r.Before != audit.Wilson(result.Tally{Correct: 2, Total: 4}) {
		t.Errorf("%+v", r)
	}
	if len(r.Errors) != 2 || len(r.New) != 1 || r.New[0] != (site.Found{Class: "fox", Images: 1}) {
		t.Errorf("errors %v, new %v", r.Errors, r.New)
	}
	zero := &head.Linear{Weight: make([]float64, 18), Bias: []float64{1, 0, 0}} // all is x
	if r = v.Measure(classes, u, zero, 1, label); r.After.Share != 0.25 || r.Gain.Share != -0.25 || r.Pairs != (audit.Paired{Both: 1, Lost: 1, Neither: 2}) {
		t.Errorf("%+v", r)
	}
	own := v.Audited(classes, u, nil, 1, 1, label)
	if len(own.Scores) != 4 || !math.IsInf(own.Scores[3], 1) || !slices.Equal(own.Right, []bool{true, true, false, false}) {
		t.Errorf("%+v", own)
	}
}

// Logits that are three times too large get a temperature near 3 from the audit, and by
// cross-fitting confidence and accuracy agree. Images of unknown classes do not count.
func TestCalibrateOnTheAudit(t *testing.T) {
	const n = 400
	r := seed.New(1, "calibrate")
	part := site.Part{Logits: head.Matrix{Rows: n, Cols: 2, Stride: 2}}
	v, says := &site.Visit{}, map[string]site.Label{}
	for i := range n {
		id, z := fmt.Sprint(i), 2*r.NormFloat64()
		class := "x"
		if r.Float64() > 1/(1+math.Exp(-z)) {
			class = "y"
		}
		if i%10 == 9 {
			class = "fox"
		}
		part.IDs, part.Logits.Data = append(part.IDs, id), append(part.Logits.Data, float32(3*z), 0)
		v.Audit, says[id] = append(v.Audit, id), site.Label{Class: class}
	}
	label := func(id string) site.Label { return says[id] }
	c := v.Calibrate([]string{"x", "y"}, part, nil, 1, label)
	if c == nil || c.Images != 360 || math.Abs(c.Temperature-3) > 0.6 || math.Abs(c.Crossed.Confidence-c.Crossed.Accuracy) > 0.05 || c.Before.Confidence-c.Before.Accuracy < 0.08 {
		t.Errorf("%+v", c)
	}
	if v.Audit = v.Audit[:site.LeastCalibrated]; v.Calibrate([]string{"x", "y"}, part, nil, 1, label) != nil {
		t.Errorf("calibrated on %d images", site.LeastCalibrated-3)
	}
}

func TestReportSaysThatItDropped(t *testing.T) {
	interval := func(k, n int) *audit.Interval {
		w := audit.Wilson(result.Tally{Correct: k, Total: n})
		return &w
	}
	at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	for want, now := range map[string]*audit.Interval{"the accuracy has dropped: 90%, 79 to 96 on the images of 2026-01-02": interval(20, 50), "but the intervals overlap": interval(43, 50), "": interval(47, 50)} {
		r := &site.Report{Visits: []*site.VisitReport{{At: at, Before: interval(45, 50), Estimate: &site.AccuracyEstimate{Transport: 0.9}}, {At: at, Before: now, Estimate: &site.AccuracyEstimate{Transport: 0.2}}}}
		r.Finish()
		if got := strings.Join(r.Warnings, "\n"); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("warnings %q, want %q", got, want)
		}
	}
	// -10/52 +- 1.96 sqrt((16/52 - (10/52)^2) / 52).
	lost := audit.Gain(audit.Paired{Both: 30, Lost: 12, Won: 2, Neither: 6})
	worse := &site.Report{Visits: []*site.VisitReport{{At: at, Before: interval(42, 50), After: interval(32, 50), Gain: &lost}}}
	if worse.Finish(); !strings.Contains(strings.Join(worse.Warnings, "\n"), "adapting has lost 20 points (-33 to -5)") {
		t.Errorf("warnings %q", worse.Warnings)
	}
	r := &site.Report{Visits: []*site.VisitReport{{At: at, Estimate: &site.AccuracyEstimate{Transport: 0.9}}, {At: at, Estimate: &site.AccuracyEstimate{Transport: 0.7}}}}
	if r.Finish(); !strings.Contains(strings.Join(r.Warnings, "\n"), "the label-free estimate has dropped by 20 points since 2026-01-02") {
		t.Errorf("warnings %q", r.Warnings)
	}
}

// Missing labels are a warning once there are some, and not right after they are queried.
func TestReportOfMissingLabels(t *testing.T) {
	for audited, want := range map[int]string{0: "", 3: "7 of 10 queried labels are missing", 10: ""} {
		r := &site.Report{Visits: []*site.VisitReport{{Audit: 10, Audited: audited}}}
		r.Finish()
		if got := strings.Join(r.Warnings, "\n"); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%d labels: warnings %q, want %q", audited, got, want)
		}
	}
}

// alone is that every image is a group of its own.
func alone(id string) string { return id }

// Of bursts of three A has one of each before a second, and the audit has no image of a burst
// that A has one of.
func TestDrawWithGroups(t *testing.T) {
	u := swapped(30)
	burst := map[string]string{}
	for i, id := range u.IDs {
		burst[id] = strconv.Itoa(i / 3)
	}
	group := func(id string) string { return burst[id] }
	v := &site.Visit{Images: u.IDs}
	fatal.If(t, v.Draw(u, 4, 18, 1, group))
	seen := map[string]bool{}
	for _, id := range v.A {
		if seen[group(id)] {
			t.Errorf("%s is of a burst that is in A already", id)
		}
		seen[group(id)] = true
	}
	for _, id := range v.Audit {
		if seen[group(id)] {
			t.Errorf("%s is in the audit, and another of its burst in A", id)
		}
	}
	if len(v.A) != 4 || len(v.Audit) != 18 {
		t.Errorf("%d and %d images", len(v.A), len(v.Audit))
	}
	fatal.Says(t, v.Draw(u, 4, 19, 1, group), "18 images outside A and its groups")
}
