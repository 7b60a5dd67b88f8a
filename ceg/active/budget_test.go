package active

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func TestBudget(t *testing.T) {
	for _, s := range []struct {
		text         string
		pool, labels int
	}{
		{"5%", 7136, 356}, // PACS art
		{"5%", 6869, 343}, // PACS cartoon
		{"5%", 11770, 588},
		{"2.5%", 7136, 178},
		{"120", 7136, 120},
		{"121", 121, 121},
		{"100%", 7, 7},
		{"0.1%", 1000, 1},
		{"29%", 100, 29}, // 0.29 * 100 is 28.999999999999996 in float64
		{"007%", 100, 7},
	} {
		b := fatal.Get(ParseBudget(s.text))(t)
		labels, err := b.Labels(s.pool)
		if err != nil || labels != s.labels {
			t.Errorf("%s of %d: %d labels, %v; want %d", s.text, s.pool, labels, err, s.labels)
		}
		if b.String() != s.text {
			t.Errorf("%q prints as %q", s.text, b)
		}
	}
}

func TestBudgetRefuses(t *testing.T) {
	for _, text := range []string{
		"", "%", "0", "0%", "0.0%", "-5%", "+5%", "-1", "101%", "100.001%", "12.5", "5 %", " 5%", "5%%", "1e3", "1e1%",
		"NaN", "NaN%", "Inf%", ".5%", "5.%", "5..5%", "1/2%", "0x10", "1_000", "99999999999999999999", "½%",
	} {
		if b, err := ParseBudget(text); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: budget %v, error %v", text, b, err)
		}
	}
	for _, s := range []struct {
		text string
		pool int
		want string
	}{
		{"121", 120, "budget 121 is more than the pool of 120"},
		{"5%", 19, "budget 5% of a pool of 19 is less than one label"},
		{"5%", 0, "less than one label"},
	} {
		b := fatal.Get(ParseBudget(s.text))(t)
		if n, err := b.Labels(s.pool); err == nil || !strings.Contains(err.Error(), s.want) {
			t.Errorf("%s of %d: %d, error %v", s.text, s.pool, n, err)
		}
	}
	if _, err := (Budget{}).Labels(10); err == nil {
		t.Error("no error for no budget")
	}
}

func TestBudgetJSON(t *testing.T) {
	var v struct{ Budget Budget }
	fatal.If(t, json.Unmarshal([]byte(`{"Budget":"2.5%"}`), &v))
	if out, err := json.Marshal(v); err != nil || string(out) != `{"Budget":"2.5%"}` {
		t.Errorf("came back as %s, %v", out, err)
	}
	if err := json.Unmarshal([]byte(`{"Budget":"many"}`), &v); err == nil || v.Budget.String() != "2.5%" {
		t.Errorf("error %v, budget %v", err, v.Budget)
	}
}

func FuzzParseBudget(f *testing.F) {
	for _, s := range []string{"5%", "120", "0.5%", "1e9%", "-1"} {
		f.Add(s, 1000)
	}
	f.Fuzz(func(t *testing.T, text string, pool int) {
		b, err := ParseBudget(text)
		if err != nil {
			return
		}
		n, err := b.Labels(pool)
		if err == nil && (n < 1 || n > pool) {
			t.Errorf("%q of %d: %d labels", text, pool, n)
		}
	})
}

func TestRounds(t *testing.T) {
	for _, s := range []struct {
		labels, rounds  int
		even, published []int
	}{
		{178, 6, []int{29, 30, 30, 29, 30, 30}, []int{30, 30, 30, 30, 30, 28}}, // PACS art
		{250, 3, []int{83, 83, 84}, []int{84, 84, 82}},                         // Office-Home clipart
		{7, 6, []int{1, 1, 1, 1, 1, 2}, []int{2, 2, 2, 1, 0, 0}},               // published: last is -3
		{1, 3, []int{0, 0, 1}, []int{1, 0, 0}},
		{2, 4, []int{0, 1, 0, 1}, []int{1, 1, 0, 0}},
		{0, 2, []int{0, 0}, []int{0, 0}},
		{6, 1, []int{6}, []int{6}},
	} {
		if got, err := EvenRounds(s.labels, s.rounds); err != nil || !slices.Equal(got, s.even) {
			t.Errorf("EvenRounds(%d, %d) = %v, %v; want %v", s.labels, s.rounds, got, err, s.even)
		}
		if got, err := PublishedRounds(s.labels, s.rounds); err != nil || !slices.Equal(got, s.published) {
			t.Errorf("PublishedRounds(%d, %d) = %v, %v; want %v", s.labels, s.rounds, got, err, s.published)
		}
	}
	for _, f := range []func(int, int) ([]int, error){EvenRounds, PublishedRounds} {
		for _, bad := range [][2]int{{-1, 3}, {5, 0}} {
			if got, err := f(bad[0], bad[1]); err == nil {
				t.Errorf("%v: %v", bad, got)
			}
		}
		for labels := range 40 {
			for rounds := 1; rounds < 10; rounds++ {
				counts, _ := f(labels, rounds)
				sum := 0
				for _, n := range counts {
					sum += n
				}
				if sum != labels || slices.Min(counts) < 0 || len(counts) != rounds {
					t.Errorf("%d labels in %d rounds: %v", labels, rounds, counts)
				}
			}
		}
	}
}
