package audit_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// byMajority sees every image as the class that most of the training images have.
func byMajority(classes []int) audit.Fit {
	return func(train []int) (func([]int) []int, error) {
		count := make([]int, 3)
		for _, i := range train {
			count[classes[i]]++
		}
		most := slices.Index(count, slices.Max(count))
		return func(test []int) []int {
			out := make([]int, len(test))
			for k := range out {
				out[k] = most
			}
			return out
		}, nil
	}
}

func TestCrossByHand(t *testing.T) {
	// Domain a: 6 cats, 4 dogs. Domain b: 2 cats, 8 dogs.
	l := audit.Labelled{ClassNames: []string{"cat", "dog", "fox"}, DomainNames: []string{"a", "none", "b"}}
	add := func(n, class, domain int) {
		for range n {
			l.Classes, l.Domains = append(l.Classes, class), append(l.Domains, domain)
		}
	}
	add(6, 0, 0)
	add(4, 1, 0)
	add(2, 0, 2)
	add(8, 1, 2)
	e := fatal.Get(audit.Cross(l, byMajority(l.Classes)))(t)
	// Most are dogs in every fold: the 12 dogs are right. Left out, a is seen as dogs, b as cats.
	if e.Seen != (result.Tally{Correct: 12, Total: 20}) || e.Unseen != (result.Tally{Correct: 4 + 2, Total: 20}) {
		t.Errorf("seen %v, unseen %v", e.Seen, e.Unseen)
	}
	if len(e.LeftOut) != 2 || e.LeftOut[0].Domain != "a" || e.LeftOut[0].Tally.Correct != 4 || e.LeftOut[1].Domain != "b" || e.LeftOut[1].Tally.Correct != 2 {
		t.Errorf("left out %+v", e.LeftOut)
	}
	if low, high, sites, ok := e.Range(); low != 0.2 || high != 0.4 || sites != 2 || !ok {
		t.Errorf("left out %v to %v", low, high)
	}
	if got := strings.Join(e.Warnings, "\n"); !strings.Contains(got, "cat is hardly ever predicted: 0 times, where 8 labels are cat") || !strings.Contains(got, "no label is fox") || strings.Contains(got, "differ") {
		t.Errorf("warnings %q", got)
	}
	e.Chosen = "maxherding"
	// Neither selected labels nor three sites have an honest interval.
	if text := e.String(); !strings.Contains(text, "on a new site: 30% correct (6 of 20), each of the 2 sites left out in turn; 20 to 40% on the 2 sites\n") ||
		!strings.Contains(text, "chosen by maxherding and are no random sample") || strings.Contains(text, "95%") {
		t.Errorf("text:\n%s", text)
	}
}

// Sites with few labels are in the sum and not in the range, and nothing is outside 0 to 100%.
func TestFewLabelsOfASiteSetNoRange(t *testing.T) {
	const outside = "about half of simulated new sites were outside"
	for _, c := range []struct {
		tallies [][2]int
		want    string
		outside bool
	}{
		{[][2]int{{0, 1}, {1, 1}, {9, 20}, {12, 16}}, "58% correct (22 of 38), each of the 4 sites left out in turn; 45 to 75% on the 2 sites with at least 10 labels", true},
		{[][2]int{{0, 1}, {1, 1}, {9, 20}}, "45% correct (10 of 22), each of the 3 sites left out in turn", false},
		{[][2]int{{0, 10}, {10, 10}}, "50% correct (10 of 20), each of the 2 sites left out in turn; 0 to 100% on the 2 sites", false},
		{[][2]int{{5, 20}}, "", false},
	} {
		e := &audit.Estimate{}
		for i, x := range c.tallies {
			e.LeftOut = append(e.LeftOut, audit.Domain{Domain: string(rune('a' + i)), Tally: result.Tally{Correct: x[0], Total: x[1]}})
			e.Unseen = e.Unseen.Add(e.LeftOut[i].Tally)
		}
		if got := e.NewSite(); got != c.want || strings.Contains(e.NoInterval(), outside) != c.outside {
			t.Errorf("%v: %q, %q", c.tallies, got, e.NoInterval())
		}
	}
}

func TestCrossTestsNoImageOnItself(t *testing.T) {
	l := audit.Labelled{ClassNames: []string{"x", "y"}, DomainNames: []string{"a", "b"}}
	for i := range 23 {
		l.Classes, l.Domains = append(l.Classes, i%2), append(l.Domains, i/20)
	}
	_, err := audit.Cross(l, func(train []int) (func([]int) []int, error) {
		return func(test []int) []int {
			for _, i := range test {
				if slices.Contains(train, i) {
					t.Errorf("image %d was trained and tested on", i)
				}
			}
			if len(test)+len(train) != 23 {
				t.Errorf("%d and %d images", len(train), len(test))
			}
			return make([]int, len(test))
		}, nil
	})
	if err != nil {
		t.Error(err)
	}
	if _, err := audit.Cross(audit.Labelled{Classes: []int{0}, Domains: []int{0}}, nil); err == nil {
		t.Error("an estimate came from one image")
	}
}

func TestCrossSaysThatDomainsDiffer(t *testing.T) {
	l := audit.Labelled{ClassNames: []string{"x"}, DomainNames: []string{"easy", "hard"}}
	for i := range 40 {
		l.Classes, l.Domains = append(l.Classes, 0), append(l.Domains, i/20)
	}
	e, err := audit.Cross(l, func(train []int) (func([]int) []int, error) {
		return func(test []int) []int {
			out := make([]int, len(test))
			return out
		}, nil
	})
	if err != nil || len(e.Warnings) != 0 {
		t.Fatalf("%v, %v", e, err)
	}
	l.ClassNames = []string{"x", "y"}
	e, err = audit.Cross(l, func(train []int) (func([]int) []int, error) {
		return func(test []int) []int {
			out := make([]int, len(test))
			for k, i := range test {
				out[k] = l.Domains[i] // all of hard are wrong
			}
			return out
		}, nil
	})
	if err != nil || !strings.Contains(strings.Join(e.Warnings, "\n"), "the sites differ by more than chance: 0/20 on hard, 20/20 on easy") {
		t.Errorf("%v, %v", e.Warnings, err)
	}
}

// Twenty images in four groups of copies. A fit that has trained on all groups is right about all:
// with groups it has not seen copies of the image that it predicts.
func TestCrossLeavesGroupsOut(t *testing.T) {
	l := audit.Labelled{ClassNames: []string{"x", "y"}, DomainNames: []string{"a", "b"}}
	var groups []int
	for i := range 20 {
		groups = append(groups, i/5)
		l.Classes, l.Domains = append(l.Classes, i/5%2), append(l.Domains, i%2) // groups are in both domains
	}
	memory := func(train []int) (func([]int) []int, error) {
		return func(test []int) []int {
			out := make([]int, len(test))
			for k, i := range test {
				out[k] = 1 - l.Classes[i]
				if slices.ContainsFunc(train, func(j int) bool { return groups[j] == groups[i] }) {
					out[k] = l.Classes[i]
				}
			}
			return out
		}, nil
	}
	leaky, err := audit.Cross(l, memory)
	if err != nil || leaky.Seen.Correct != 20 || leaky.Unseen.Correct != 20 {
		t.Fatalf("without groups %+v, %v", leaky, err)
	}
	l.Groups = groups
	e, err := audit.Cross(l, memory)
	if err != nil || e.Seen != (result.Tally{Total: 20}) || e.Groups != 4 || e.LeftOut != nil || e.NewSite() != "" {
		t.Errorf("%+v, %v", e, err)
	}
	if text := e.String(); !strings.Contains(text, "from 20 labels (4 groups)") || strings.Contains(text, "duplicates") {
		t.Error(text)
	}
	l.Groups = make([]int, 20)
	if _, err := audit.Cross(l, memory); err == nil {
		t.Error("one group: no error")
	}
}

// Runs of older versions have intervals in their estimates, which are read and not shown.
func TestOlderEstimate(t *testing.T) {
	const old = `{"labels": 24, "seen": [22, 24], "seen_accuracy": {"share": 0.92, "low": 0.74, "high": 0.98},
		"classes": [{"class": "cat", "right": [10, 12], "accuracy": {"share": 0.83, "low": 0.55, "high": 0.95}}],
		"left_out": [{"domain": "east", "right": [8, 9], "accuracy": {"share": 0.89, "low": 0.56, "high": 0.98}}, {"domain": "west", "right": [5, 5], "accuracy": {"share": 1, "low": 0.57, "high": 1}}],
		"unseen": [13, 14], "unseen_accuracy": {"share": 0.93, "low": 0.69, "high": 0.99}, "by": "logistic regression on the same features"}`
	e := new(audit.Estimate)
	fatal.If(t, json.Unmarshal([]byte(old), e))
	text := e.String()
	for _, want := range []string{"by logistic regression on the same features", "on a new site: 93% correct (13 of 14), each of the 2 sites left out in turn\n", "22/24 correct", "10/12 correct"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "74") || strings.Contains(text, "55") {
		t.Errorf("an interval of the older version is shown:\n%s", text)
	}
}
