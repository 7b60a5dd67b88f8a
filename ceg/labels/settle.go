package labels

import (
	"fmt"
	"slices"
	"strings"
)

// Rule combines several annotators' labels of an image.
type Rule uint8

const (
	// Newest takes the newest label.
	Newest Rule = iota
	// Majority takes the most frequent label; ties go to the newest. Unsure without a class does
	// not vote.
	Majority
	// Unanimous takes a unanimous label; otherwise the image IsDisputed until it is corrected or
	// the annotators agree.
	Unanimous
)

var ruleNames = []string{"newest", "majority", "ask"}

// String returns the name that ParseRule takes.
func (r Rule) String() string { return ruleNames[r] }

// ParseRule returns the rule called newest, majority or ask.
func ParseRule(name string) (Rule, error) {
	if k := slices.Index(ruleNames, name); k >= 0 {
		return Rule(k), nil
	}
	return 0, fmt.Errorf("there is no rule %q to settle labels that differ; choose one of %s", name, strings.Join(ruleNames, ", "))
}

// SetRule changes the rule for all readers of the ledger.
func (l *Ledger) SetRule(rule Rule, by, tool string) error {
	_, err := l.Update(func(s *State) ([]Event, error) {
		if s.rule == rule {
			return nil, nil
		}
		return []Event{{Kind: Ruled, Rule: rule.String(), By: by, Tool: tool}}, nil
	})
	return err
}

// Rule returns the rule in effect.
func (s *State) Rule() Rule { return s.rule }

// decide returns the status that opinions, newest first, give an image, and the record
// of the one that holds, -1 if none does.
func (s *State) decide(list []int32) (Status, int32) {
	chosen := list[0]
	if s.rule != Newest {
		voters := slices.DeleteFunc(slices.Clone(list), func(i int32) bool { _, ok := s.vote(i); return !ok })
		votes := make(map[int32]int)
		most := 0
		for _, i := range voters {
			v, _ := s.vote(i)
			votes[v]++
			most = max(most, votes[v])
		}
		if s.rule == Unanimous && len(votes) > 1 {
			return IsDisputed, -1
		}
		for _, i := range voters {
			if v, _ := s.vote(i); votes[v] == most {
				chosen = i
				break
			}
		}
	}
	switch r := &s.records[chosen]; {
	case r.is(Bad):
		return IsBad, chosen
	case r.is(None):
		return IsNone, chosen
	case r.is(Unsure):
		return IsUnsure, chosen
	}
	return IsLabelled, chosen
}

// vote returns the class of an opinion as a number, -1 for a bad image and -2 for none of the
// classes; ok is false if it is no vote.
func (s *State) vote(i int32) (v int32, ok bool) {
	r := &s.records[i]
	if r.is(Bad) {
		return -1, true
	}
	if r.is(None) {
		return -2, true
	}
	return r.class, r.class != 0
}
