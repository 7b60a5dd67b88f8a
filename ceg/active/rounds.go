package active

import "fmt"

// EvenRounds divides labels among rounds as evenly as can be: the paper asks in
// every epoch after pre-training and does not say how many. After round i,
// floor((i+1)*labels/rounds) have been asked, so fewer labels than rounds leave
// some rounds with none, spread over the run, and the last is never one of them.
func EvenRounds(labels, rounds int) ([]int, error) {
	if err := checkRounds(labels, rounds); err != nil {
		return nil, err
	}
	counts := make([]int, rounds)
	each, rest := labels/rounds, labels%rounds
	for i := range counts {
		counts[i] = each + (i+1)*rest/rounds - i*rest/rounds
	}
	return counts, nil
}

// PublishedRounds divides labels as the published code does (trainers/adg.py):
// ceil(labels/rounds) in each round, the last one taking what remains. Where that
// would leave the last a negative number (7 labels in 6 rounds: the code then
// takes almost the whole pool), later rounds get what there still is, down to 0.
func PublishedRounds(labels, rounds int) ([]int, error) {
	if err := checkRounds(labels, rounds); err != nil {
		return nil, err
	}
	each := labels / rounds
	if labels%rounds > 0 {
		each++
	}
	counts := make([]int, rounds)
	for i := range counts {
		counts[i] = min(each, labels)
		labels -= counts[i]
	}
	return counts, nil
}

func checkRounds(labels, rounds int) error {
	if labels < 0 || rounds < 1 {
		return fmt.Errorf("active: %d labels in %d rounds, want 0 or more in at least 1", labels, rounds)
	}
	return nil
}
