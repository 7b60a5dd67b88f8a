package ceg

import (
	"fmt"
	"slices"
	"time"
)

// greedy are the strategies that go over the features of all candidates once for
// every label that they ask for.
var greedy = []string{"coreset", "badge", "kmeans", "ceg-batch"}

const (
	// featureBytes is about how much of the features one processor goes over in a
	// second.
	featureBytes = 1e10
	// worthSaying is how long a query must be expected to take to be announced.
	worthSaying = time.Minute
)

// greedyNote says how long a query of n labels will take at least, if it is long;
// otherwise it is empty. The other strategies take about as long for all labels as
// these for one.
func greedyNote(strategy string, n, candidates, features, processors int) string {
	if !slices.Contains(greedy, strategy) {
		return ""
	}
	bytes := 4 * float64(n) * float64(candidates) * float64(features)
	expected := time.Duration(bytes / featureBytes / float64(processors) * float64(time.Second))
	if expected < worthSaying {
		return ""
	}
	return fmt.Sprintf("%s goes over the features of all %d candidates once for each of the %d labels, %.1f TB in all: expect %v or more on %d processors; ceg and uniform do not grow with the labels",
		strategy, candidates, n, bytes/1e12, expected.Round(time.Minute), processors)
}
