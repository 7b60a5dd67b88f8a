package visit_test

import (
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/ceg/visit"
	"github.com/ledg-go/ledg/datasets"
)

// With events no event is both in the adaptation set and in the audit, and each camera and month has what a count
// over its audited images gives.
func TestEventsAndMonths(t *testing.T) {
	at := trained(t)
	images, dir := filepath.Join(t.TempDir(), "north"), filepath.Join(t.TempDir(), "site")
	truth, place := map[string]string{}, map[string]string{}
	for k, camera := range []string{"a", "b"} {
		drawn := draw(t, filepath.Join(images, camera), "photo", 80*k, 80*k+80)
		for i, name := range slices.Sorted(maps.Keys(drawn)) { // in bursts of four, half of them in June
			taken := time.Date(2026, 5+time.Month(i/40), 1, 6, i/4, i%4, 0, time.UTC)
			id := fmt.Sprintf("%s/IMG_%s_%d.png", camera, taken.Format("20060102_150405"), i)
			fatal.If(t, os.Rename(filepath.Join(images, camera, name), filepath.Join(images, filepath.FromSlash(id))))
			truth[id], place[id] = drawn[name], camera+" "+taken.Format("2006-01")
		}
	}
	o := visit.Options{Run: at, Dir: dir, Images: images, Adapt: 10, Audit: 60, Seed: 3, Query: true, ByMonth: true, Capture: &datasets.Capture{Gap: 20 * time.Second}}
	if first := fatal.Get(visit.Arrive(t.Context(), o))(t); len(first.Report.Months) != 4 || !strings.HasPrefix(first.Report.Months[0].Advice, "audit 10 more") {
		t.Fatalf("%v", first.Report)
	}
	r := fatal.Get(site.Read(dir))(t)
	v, group := r.Visits[0], r.Groups()
	adapted := map[string]bool{}
	for _, id := range v.A {
		adapted[group(id)] = true
	}
	if len(v.Events) != 160 || len(adapted) != 10 || group(v.A[0]) == v.A[0] {
		t.Fatalf("%d images with events, %d events in A, one of them %s", len(v.Events), len(adapted), group(v.A[0]))
	}
	for _, id := range v.Audit {
		if adapted[group(id)] {
			t.Errorf("%s of %s is in the audit, and its event in A", id, group(id))
		}
	}
	label(t, dir, func(id string) string { return truth[id] })
	o.Query, o.Capture, o.Images = false, nil, ""
	report := fatal.Get(visit.Arrive(t.Context(), o))(t).Report
	seen := map[string]string{}
	for _, row := range fatal.Get(csv.NewReader(fatal.Get(os.Open(filepath.Join(dir, site.PredictionsFile)))(t)).ReadAll())(t)[1:] {
		seen[row[0]] = row[1]
	}
	for _, m := range report.Months {
		key, right, n := m.Camera+" "+m.Month, 0, 0
		for _, id := range v.Audit {
			if place[id] == key {
				if n++; seen[id] == truth[id] {
					right++
				}
			}
		}
		counts := make([]int, len(r.Classes))
		for id, class := range seen {
			if place[id] == key {
				counts[slices.Index(r.Classes, class)]++
			}
		}
		if m.Images != 40 || m.Audited != n || m.Accuracy == nil || int(m.Accuracy.Share*float64(n)+0.5) != right || !slices.Equal(m.Seen, counts) || m.Advice == "" || m.Rests == "" || m.Estimate <= 0 {
			t.Errorf("%+v; want %d of %d right, and %v", m, right, n, counts)
		}
	}
	if text := report.String(); !strings.Contains(text, "rests on") {
		t.Errorf("no table in %s", text)
	}
	o.Capture = &datasets.Capture{Gap: time.Hour}
	if _, err := visit.Arrive(t.Context(), o); err == nil || !strings.Contains(err.Error(), "begun with events of 20s") {
		t.Errorf("other events: %v", err)
	}
}
