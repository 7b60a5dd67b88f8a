package run

import (
	"fmt"
	"time"
)

// greedy lists the strategies that scan the features of all candidates for every queried label,
// with the number of scans.
var greedy = map[string]int{"coreset": 1, "badge": 1, "kmeans": 1, "ceg-batch": 1, "bait": 2, "bait-equal": 2}

const (
	// featureBytes is about how much of the features one processor goes over in a
	// second.
	featureBytes = 1e10
	// worthSaying is the expected duration from which a query is reported in advance.
	worthSaying = time.Minute
)

// greedyNote returns a sentence with the minimum duration of a query of n labels if it is long;
// otherwise it is empty. Other strategies take about as long for all labels as these for one.
func greedyNote(strategy string, n, candidates, features, processors int) string {
	times := greedy[strategy]
	if times == 0 {
		return ""
	}
	bytes := 4 * float64(times) * float64(n) * float64(candidates) * float64(features)
	expected := time.Duration(bytes / featureBytes / float64(processors) * float64(time.Second))
	if expected < worthSaying {
		return ""
	}
	return fmt.Sprintf("%s goes over the features of all %d candidates %s for each of the %d labels, %.1f TB in all: expect %v or more on %d processors; ceg and uniform do not grow with the labels",
		strategy, candidates, []string{"once", "twice"}[times-1], n, bytes/1e12, expected.Round(time.Minute), processors)
}
