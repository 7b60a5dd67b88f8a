package active

import "fmt"

// subsampleNote states that a strategy considers only a part of the candidates.
func subsampleNote(s Strategy, limit, candidates int) string {
	if candidates <= limit {
		return ""
	}
	return fmt.Sprintf("%s compares all pairs, so of the %d candidates it looks at %d, drawn by their IDs", s.Name(), candidates, limit)
}

// Limits states how many candidates are considered.
func (s ProbCover) Limits(_, candidates, _ int) string {
	return subsampleNote(s, maxCovered, candidates)
}

// Limits states how many candidates are considered.
func (s MaxHerding) Limits(_, candidates, _ int) string {
	return subsampleNote(s, maxHerded, candidates)
}

// Limits states how many candidates are considered.
func (s UHerding) Limits(_, candidates, _ int) string { return subsampleNote(s, maxHerded, candidates) }

// Limits returns the limits of the strategy, domain by domain.
func (s Divided) Limits(n, candidates, features int) string {
	return limitsOf(s.Strategy, n, candidates, features)
}

// subsample lets choose pick n of at most limit candidates, drawn by their IDs; if n is larger,
// the others follow in the order of ties. choose receives the candidates' rows and returns
// positions in them.
func (t Ties) subsample(limit, n int, choose func(rows []int, own Ties, n int) []Pick) []Pick {
	rows := t.Some(limit)
	picks := choose(rows, t.of(rows), min(n, len(rows)))
	for k := range picks {
		picks[k].Index = rows[picks[k].Index]
	}
	if len(picks) < n {
		looked := make([]bool, len(t.IDs))
		for _, i := range rows {
			looked[i] = true
		}
		var rest []int
		for i, done := range looked {
			if !done {
				rest = append(rest, i)
			}
		}
		t.sort(rest)
		for _, i := range rest[:n-len(picks)] {
			picks = append(picks, Pick{Index: i})
		}
	}
	for k, p := range picks {
		picks[k].ID = t.IDs[p.Index]
	}
	return picks
}
