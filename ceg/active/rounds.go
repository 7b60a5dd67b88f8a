package active

import "fmt"

// EvenRounds divides labels evenly among query rounds. After round i, floor((i+1)*labels/rounds)
// labels have been queried, so with fewer labels than rounds the empty rounds are spread over
// the run and the last round is not empty. (The paper queries in every epoch after pre-training
// and gives no counts.)
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
// ceil(labels/rounds) in each round, and the remainder in the last. Where the last number would
// be negative (7 labels in 6 rounds: the published code then queries almost the whole pool),
// later rounds get the labels that remain, down to 0.
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
