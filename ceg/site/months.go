package site

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/result"
)

// fewestOfMonth is how many audited images of a camera and month advice needs.
const fewestOfMonth = 10

// Month describes the images of a camera and a month.
type Month struct {
	// Camera is a folder, and Month such as 2026-05; empty for images without a time.
	Camera string `json:"camera"`
	Month  string `json:"month"`
	Images int    `json:"images"`
	// Seen counts the predictions of each class by the head in use.
	Seen []int `json:"seen"`
	// Estimate is the label-free estimate by optimal transport of the run's own head; see
	// [AccuracyEstimate.Transport].
	Estimate float64 `json:"estimate"`
	// Accuracy is the accuracy of the head in use on the Audited images, with an exact interval; nil
	// without any.
	Audited  int             `json:"audited"`
	Accuracy *audit.Interval `json:"accuracy,omitempty"`
	// Gain is what adapting adds, nil without an adapted head, and Names compares with names alone.
	Gain  *audit.Interval `json:"gain,omitempty"`
	Names *NamesReport    `json:"names,omitempty"`
	// Advice is to audit, to leave it, to adapt or that names do; Rests names its interval and images.
	Advice string `json:"advice"`
	Rests  string `json:"rests_on"`
}

// Heads are the heads that a month is measured with.
type Heads struct {
	// Adapted is the adapted head, nil for none, With the number of images that it was adapted with, and
	// Next that of a further adaptation.
	Adapted    *head.Linear
	With, Next int
	// Names are the logits of names alone [n, C], without rows for none.
	Names head.Matrix
	// Seed is the site's.
	Seed uint64
}

// Months describes the images of part by camera and month, in byte order. v has the A and Audit of all visits.
func (s *Sources) Months(v *Visit, part Part, h Heads, label func(id string) Label, of func(id string) (camera, month string)) ([]*Month, error) {
	trust, err := s.Trust()
	if err != nil {
		return nil, err
	}
	if s.Seen.Total > 0 {
		trust.Accuracy, trust.Images = s.Seen.Share(), s.Seen.Total
	}
	rows, place := make(map[[2]string][]int), make(map[string][2]string)
	for i, id := range part.IDs {
		camera, month := of(id)
		key := [2]string{camera, month}
		rows[key], place[id] = append(rows[key], i), key
	}
	var list []*Month
	for key, of := range rows {
		elsewhere := func(id string) bool { return place[id] != key }
		cell := part.Take(of)
		only := &Visit{Images: cell.IDs, A: slices.DeleteFunc(slices.Clone(v.A), elsewhere), Audit: slices.DeleteFunc(slices.Clone(v.Audit), elsewhere)}
		m := &Month{Camera: key[0], Month: key[1], Images: cell.Len(), Seen: make([]int, len(s.ClassNames))}
		for _, c := range Best(LogitsOf(cell, h.Adapted)) {
			m.Seen[c]++
		}
		if m.Estimate, err = s.transport(cell, trust.Temperature, h.Seed); err != nil {
			return nil, err
		}
		r := only.Measure(s.ClassNames, cell, h.Adapted, 1, label)
		if m.Audited, m.Gain = r.Audited, r.Gain; m.Audited > 0 {
			exact := audit.Exact(r.Pairs.After()) // for few images
			m.Accuracy = &exact
		}
		if h.Names.Rows > 0 {
			m.Names = only.MeasureNames(s.ClassNames, cell, Part{Logits: h.Names}.Take(of).Logits, h.Adapted, label)
		}
		m.advise(trust, h.With, h.Next)
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b *Month) int {
		return cmp.Or(strings.Compare(a.Camera, b.Camera), strings.Compare(a.Month, b.Month))
	})
	return list, nil
}

// advise fills in Advice and Rests.
func (m *Month) advise(trust Trust, with, next int) {
	n := fmt.Sprintf(", on %d audited", m.Audited)
	points := func(i audit.Interval) string {
		return fmt.Sprintf("%+.0f points (%+.0f to %+.0f)", 100*i.Share, 100*i.Low, 100*i.High)
	}
	switch {
	case m.Audited < fewestOfMonth:
		m.Advice, m.Rests = fmt.Sprintf("audit %d more", fewestOfMonth-m.Audited), fmt.Sprintf("%d audited; the estimate has no interval", m.Audited)
	case m.Names != nil && m.Names.Gain.Low <= 0 && m.Names.Gain.Share <= 0:
		m.Advice, m.Rests = "names do", "the head in use adds "+points(m.Names.Gain)+n
	case m.Gain != nil && m.Gain.Low > 0:
		m.Advice, m.Rests = fmt.Sprintf("adapt with %d labels", with), "that adds "+points(*m.Gain)+n
	case trust.Images > 0 && m.Accuracy.High < trust.Accuracy:
		m.Advice, m.Rests = fmt.Sprintf("adapt with %d labels", next), fmt.Sprintf("%v right%s; %.0f%% on the run's own sites", *m.Accuracy, n, 100*trust.Accuracy)
	case m.Gain != nil:
		m.Advice, m.Rests = "leave it", "adapting adds "+points(*m.Gain)+n
	default:
		m.Advice, m.Rests = "leave it", fmt.Sprintf("%v right%s, as on the run's own sites", *m.Accuracy, n)
	}
}

// MonthsTable returns a row for each camera and month.
func (r *Report) MonthsTable() *result.Table {
	t := &result.Table{Title: "Cameras and months", Columns: []result.Column{{Name: "camera"}, {Name: "month"}, {Name: "images", Right: true}, {Name: "predicted"},
		{Name: "estimate", Right: true}, {Name: "right"}, {Name: "advice"}, {Name: "rests on"}}}
	for _, m := range r.Months {
		right, order := "-", make([]int, len(m.Seen))
		for c := range order {
			order[c] = c
		}
		slices.SortStableFunc(order, func(a, b int) int { return m.Seen[b] - m.Seen[a] })
		var seen []string
		for _, c := range order[:min(len(order), 3)] {
			if m.Seen[c] > 0 {
				seen = append(seen, fmt.Sprintf("%s %.0f%%", r.Classes[c], 100*float64(m.Seen[c])/float64(m.Images)))
			}
		}
		if m.Accuracy != nil {
			right = m.Accuracy.String()
		}
		t.AddRow(m.Camera, cmp.Or(m.Month, "no time"), fmt.Sprint(m.Images), strings.Join(seen, ", "), fmt.Sprintf("%.0f%%", 100*m.Estimate), right, m.Advice, m.Rests)
	}
	return t
}
