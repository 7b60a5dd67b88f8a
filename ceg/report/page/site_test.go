package page_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/report/page"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// The page of a site loads nothing, takes names for names, and has pictures where there are any.
func TestSitePage(t *testing.T) {
	before, after := audit.Wilson(result.Tally{Correct: 30, Total: 50}), audit.Wilson(result.Tally{Correct: 40, Total: 50})
	gain := audit.Interval{Share: 0.2, Low: 0.05, High: 0.33}
	counts := audit.NewCounts([]string{"cat", "<script>"})
	for range 6 {
		counts.Add("<script>", 0)
	}
	r := &site.Report{Site: "<b>north</b>", Run: "run", Classes: []string{"cat", "<script>"}, Warnings: []string{"a & b"},
		Sets: []site.SetsReport{{Coverage: 0.9, Sets: &audit.Sets{Threshold: 0.7, Images: 50}, Size: 1.5}, {Coverage: 0.95, Need: 19}, {Coverage: 0.99}},
		Visits: []*site.VisitReport{
			{At: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), Images: 100, Audited: 50, Before: &before, After: &after, Gain: &gain, Names: &site.NamesReport{Accuracy: before, Gain: audit.Gain(audit.Paired{Both: 30, Won: 1, Lost: 1})}, Counts: counts, Classes: counts.PerClass(),
				Errors:   []site.Error{{ID: "there", Class: "<script>", Seen: "cat", Probability: 0.9}, {ID: "gone", Class: "<script>", Seen: "cat"}},
				Estimate: &site.AccuracyEstimate{Transport: 0.4, Strangest: []string{"there"}, Near: []site.Near{{Domain: "photo", Share: 1}}}},
			{Images: 7},
		}}
	r.Finish()
	var b bytes.Buffer
	fatal.If(t, page.WriteSite(&b, r, func(id string) (*rgb.Image, error) {
		if id == "gone" {
			return nil, errors.New("gone")
		}
		return rgb.New(9, 9), nil
	}))
	text := b.String()
	for _, want := range []string{"default-src 'none'", "&lt;b&gt;north&lt;/b&gt;", "80%, 67 to 89", "&#43;20 points, &#43;5 to &#43;33", "names alone (0 labels)</th><td>60%, 46 to 72", "labels do not pay yet", "needs an audit of at least 19", "none: too many", "No estimate", "<span>gone</span>", "<span>predicted</span><b>cat, 90%</b>", "a &amp; b"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if strings.Contains(text, "<script>") || strings.Contains(text, "http") && strings.Contains(text, "src=\"http") || strings.Count(text, "data:image/jpeg") != 2 {
		t.Errorf("%d pictures, or something that is run or loaded:\n%s", strings.Count(text, "data:image/jpeg"), text)
	}
}
