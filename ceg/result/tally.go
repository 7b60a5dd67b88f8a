package result

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Tally counts answers: Correct of Total. It is exact where a float would round,
// and is the JSON array [correct, total].
type Tally struct {
	Correct, Total int
}

// Share returns Correct/Total in [0, 1], and 0 for an empty tally.
func (t Tally) Share() float64 {
	if t.Total == 0 {
		return 0
	}
	return float64(t.Correct) / float64(t.Total)
}

// Add returns the tally of t's and u's answers together.
func (t Tally) Add(u Tally) Tally {
	return Tally{Correct: t.Correct + u.Correct, Total: t.Total + u.Total}
}

// Compare returns -1, 0 or +1 as t's share is below, equal to or above u's,
// without rounding. An empty tally has the share 0.
func (t Tally) Compare(u Tally) int {
	a, b := t.Correct*max(u.Total, 1), u.Correct*max(t.Total, 1)
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// String returns "correct/total".
func (t Tally) String() string {
	return strconv.Itoa(t.Correct) + "/" + strconv.Itoa(t.Total)
}

// MarshalJSON returns [correct,total]; a tally that cannot be is an error.
func (t Tally) MarshalJSON() ([]byte, error) {
	if err := t.validate(); err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "[%d,%d]", t.Correct, t.Total), nil
}

// UnmarshalJSON reads [correct,total].
func (t *Tally) UnmarshalJSON(data []byte) error {
	var pair []int
	if err := json.Unmarshal(data, &pair); err != nil || len(pair) != 2 {
		return fmt.Errorf("tally is %s, want [correct,total]", data)
	}
	*t = Tally{Correct: pair[0], Total: pair[1]}
	return t.validate()
}

func (t Tally) validate() error {
	if t.Correct < 0 || t.Correct > t.Total {
		return fmt.Errorf("tally is [%d,%d], want 0 <= correct <= total", t.Correct, t.Total)
	}
	return nil
}
