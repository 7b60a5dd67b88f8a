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
	rankSum, own           = "r", "score"
)

// Question returns the query for a strategy's pick, with CEG's scores if it has them. With registered, the
// strategy is one that the program registered, and the query has its score, if that is finite.
func Question(p active.Pick, registered bool) labels.Question {
	scores := map[string]float64{}
	if p.Scored {
		scores = map[string]float64{scoreU: p.Su, scoreR: p.Sr, scoreD: p.Sd,
			rankU: float64(p.RankSu), rankR: float64(p.RankSr), rankD: float64(p.RankSd), rankSum: p.R}
	}
	if registered && p.Score-p.Score == 0 {
		scores[own] = p.Score
	}
	if len(scores) == 0 {
		return labels.Question{ID: p.ID}
	}
	return labels.Question{ID: p.ID, QueryInfo: &labels.QueryInfo{Scores: scores}}
}

// recorded enters the scores of a question in its record.
func recorded(q labels.Question, record *result.Query) {
	if q.QueryInfo == nil {
		return
	}
	s := q.QueryInfo.Scores
	if _, ok := s[rankSum]; ok {
		record.Scores = &result.Scores{Su: s[scoreU], Sr: s[scoreR], Sd: s[scoreD],
			RankU: int(s[rankU]), RankR: int(s[rankR]), RankD: int(s[rankD]), R: s[rankSum]}
	}
	if v, ok := s[own]; ok {
		record.Score = &v
	}
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
