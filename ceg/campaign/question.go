package campaign

import (
	"cmp"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/result"
)

// The names of scores in a ledger, as in queries.csv.
const (
	scoreU, scoreR, scoreD = "s_u", "s_r", "s_d"
	rankU, rankR, rankD    = "rank_u", "rank_r", "rank_d"
	score                  = "r"
)

// Question returns the query for a strategy's pick, with its scores.
func Question(p active.Pick) labels.Question {
	q := labels.Question{ID: p.ID}
	if p.Scored {
		q.QueryInfo = &labels.QueryInfo{Scores: map[string]float64{scoreU: p.Su, scoreR: p.Sr, scoreD: p.Sd,
			rankU: float64(p.RankSu), rankR: float64(p.RankSr), rankD: float64(p.RankSd), score: p.R}}
	}
	return q
}

// recorded returns the scores of a question as queries.csv has them; nil without.
func recorded(q labels.Question) *result.Scores {
	if q.QueryInfo == nil || len(q.QueryInfo.Scores) == 0 {
		return nil
	}
	s := q.QueryInfo.Scores
	return &result.Scores{Su: s[scoreU], Sr: s[scoreR], Sd: s[scoreD],
		RankU: int(s[rankU]), RankR: int(s[rankR]), RankD: int(s[rankD]), R: s[score]}
}

// Name returns an annotator's name in a pool, "somebody" for an empty one.
func Name(by string) string { return cmp.Or(by, "somebody") }

// Replace returns an Instead that keeps to the image's domain: choose returns up to n queries of
// a domain, best first.
func Replace(vacant []string, domain func(id string) int, choose func(domain, n int) ([]labels.Question, error)) ([]labels.Question, error) {
	list := make([]labels.Question, len(vacant))
	places := map[int][]int{}
	var order []int // of domains
	for i, id := range vacant {
		d := domain(id)
		if places[d] == nil {
			order = append(order, d)
		}
		places[d] = append(places[d], i)
	}
	for _, d := range order {
		questions, err := choose(d, len(places[d]))
		if err != nil {
			return nil, err
		}
		for k, q := range questions {
			list[places[d][k]] = q
		}
	}
	return list, nil
}
