package result

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Tally counts predictions: Correct of Total. It is exact, and its JSON is the array [correct,
// total], followed by the number of unknown ones if there are any.
type Tally struct {
	Correct, Total int
	// Unknown is the number of predictions, in addition to Total, on images of unknown class.
	Unknown int
}

// Count adds a prediction for an image of class truth; a negative truth is unknown.
func (t *Tally) Count(predicted, truth int) {
	switch {
	case truth < 0:
		t.Unknown++
		return
	case predicted == truth:
		t.Correct++
	}
	t.Total++
}

// All returns the number of predictions, on images of known and unknown class.
func (t Tally) All() int { return t.Total + t.Unknown }

// Share returns Correct/Total in [0, 1], and 0 for an empty tally.
func (t Tally) Share() float64 {
	if t.Total == 0 {
		return 0
	}
	return float64(t.Correct) / float64(t.Total)
}

// Add returns the sum of two tallies.
func (t Tally) Add(u Tally) Tally {
	return Tally{Correct: t.Correct + u.Correct, Total: t.Total + u.Total, Unknown: t.Unknown + u.Unknown}
}

// Compare returns -1, 0 or +1 if t's share is below, equal to or above u's, without rounding.
// The share of an empty tally is 0.
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

// String returns "correct/total", with the total count if some are unknown.
func (t Tally) String() string {
	s := strconv.Itoa(t.Correct) + "/" + strconv.Itoa(t.Total)
	if t.Unknown > 0 {
		s += " of " + strconv.Itoa(t.All())
	}
	return s
}

// MarshalJSON returns [correct,total] or [correct,total,unknown]; an invalid tally is an error.
func (t Tally) MarshalJSON() ([]byte, error) {
	if err := t.validate(); err != nil {
		return nil, err
	}
	if t.Unknown > 0 {
		return fmt.Appendf(nil, "[%d,%d,%d]", t.Correct, t.Total, t.Unknown), nil
	}
	return fmt.Appendf(nil, "[%d,%d]", t.Correct, t.Total), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Tally) UnmarshalJSON(data []byte) error {
	var list []int
	if err := json.Unmarshal(data, &list); err != nil || len(list) < 2 || len(list) > 3 {
		return fmt.Errorf("tally is %s, want [correct,total] or [correct,total,unknown]", data)
	}
	*t = Tally{Correct: list[0], Total: list[1]}
	if len(list) == 3 {
		if t.Unknown = list[2]; t.Unknown == 0 {
			return fmt.Errorf("tally is %s, want no number of unknown ones where there are none", data)
		}
	}
	return t.validate()
}

func (t Tally) validate() error {
	if t.Correct < 0 || t.Correct > t.Total {
		return fmt.Errorf("tally is [%d,%d], want 0 <= correct <= total", t.Correct, t.Total)
	}
	if t.Unknown < 0 {
		return fmt.Errorf("tally is [%d,%d,%d], want unknown >= 0", t.Correct, t.Total, t.Unknown)
	}
	return nil
}
