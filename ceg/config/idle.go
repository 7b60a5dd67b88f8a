package config

import (
	"fmt"
	"strings"

	"github.com/ledg-go/ledg/ceg/active"
)

// choosing are the settings of how later labels are chosen.
var choosing = []string{"exploration.strategy", "exploration.weight_u", "exploration.gamma1", "exploration.gamma2"}

// Idle returns a sentence about settings of the spec that have no effect in config c: settings
// of the query strategy when all labels are queried before training. It is empty if there are
// none.
func (s Spec) Idle(c Config) string {
	if len(c.Schedule.QueryAfter) > 0 {
		return ""
	}
	specified, err := s.specified()
	if err != nil {
		return ""
	}
	if strategy, _, both := strings.Cut(s.Method, "+"); both {
		specified["exploration.strategy"] = strategy
	}
	var idle []string
	for _, path := range choosing {
		v, ok := specified[path]
		if ok && v != (active.Uniform{}).Name() && v != c.Exploration.Initial {
			idle = append(idle, fmt.Sprintf("%s %v", path, v))
		}
	}
	if idle == nil {
		return ""
	}
	return fmt.Sprintf("no effect of %s: all labels are queried before training (schedule.timing %s, schedule.epochs %d)",
		strings.Join(idle, " and "), c.Schedule.Timing, c.Schedule.Epochs)
}
