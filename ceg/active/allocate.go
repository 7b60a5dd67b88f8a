package active

import (
	"cmp"
	"fmt"
	"slices"
)

// stratified divides labels evenly among domains with sizes[k] candidates each; remaining labels
// go one each to the largest domains. Labels that exceed a domain's candidates are divided the
// same way among the other domains. Ties go to the lower index. More labels than candidates are
// an error.
func stratified(sizes []int, labels int) ([]int, error) {
	if err := checkSizes(sizes, labels); err != nil {
		return nil, err
	}
	counts := make([]int, len(sizes))
	for labels > 0 {
		var room []int
		for k, n := range sizes {
			if counts[k] < n {
				room = append(room, k)
			}
		}
		slices.SortStableFunc(room, func(a, b int) int { return cmp.Compare(sizes[b], sizes[a]) })
		each, rest := labels/len(room), labels%len(room)
		for i, k := range room {
			n := each
			if i < rest {
				n++
			}
			n = min(n, sizes[k]-counts[k])
			counts[k] += n
			labels -= n
		}
	}
	return counts, nil
}

// proportional divides labels among domains in proportion to their numbers of candidates, by the
// largest-remainder method; ties go to the lower index. More labels than candidates are an
// error.
func proportional(sizes []int, labels int) ([]int, error) {
	if err := checkSizes(sizes, labels); err != nil {
		return nil, err
	}
	all := 0
	for _, n := range sizes {
		all += n
	}
	counts, order := make([]int, len(sizes)), make([]int, len(sizes))
	left := labels
	if all == 0 {
		return counts, nil
	}
	for k, n := range sizes {
		order[k] = k
		counts[k] = labels * n / all
		left -= counts[k]
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(labels*sizes[b]%all, labels*sizes[a]%all)
	})
	for _, k := range order[:left] {
		counts[k]++
	}
	return counts, nil
}

func checkSizes(sizes []int, labels int) error {
	all := 0
	for k, n := range sizes {
		if n < 0 {
			return fmt.Errorf("domain %d has %d candidates", k, n)
		}
		all += n
	}
	if labels < 0 || labels > all {
		return fmt.Errorf("%d labels among domains of %d candidates", labels, all)
	}
	return nil
}
