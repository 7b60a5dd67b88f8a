package labels

import (
	"errors"
	"slices"
)

// Errors of Undo and Redo; test with errors.Is.
var (
	ErrNothingToUndo = errors.New("there is nothing to undo")
	ErrNothingToRedo = errors.New("there is nothing to redo")
)

// stack holds the acts of an annotator that can be undone and redone, the next one
// last. A new act leaves nothing to redo.
type stack struct{ done, undone []int64 }

func (s *State) stack(by int32) *stack {
	st := s.stacks[by]
	if st == nil {
		st = new(stack)
		s.stacks[by] = st
	}
	return st
}

func (st *stack) push(act int64) { st.done, st.undone = append(st.done, act), nil }

func (st *stack) undo(act int64) {
	st.done = without(st.done, act)
	st.undone = append(st.undone, act)
}

func (st *stack) redo(act int64) {
	st.undone = without(st.undone, act)
	st.done = append(st.done, act)
}

// without removes v from a list at whose end it probably is.
func without(list []int64, v int64) []int64 {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == v {
			return slices.Delete(list, i, i+1)
		}
	}
	return list
}

// CanUndo returns the act that Undo would revert: the annotator's newest act that is not undone,
// or 0.
func (s *State) CanUndo(by string) int64 {
	return s.top(by, func(st *stack) []int64 { return st.done })
}

// CanRedo returns the act that Redo would restore: the last undone one, unless the annotator has
// acted since; else 0.
func (s *State) CanRedo(by string) int64 {
	return s.top(by, func(st *stack) []int64 { return st.undone })
}

func (s *State) top(by string, list func(*stack) []int64) int64 {
	k, ok := s.names.number[by]
	if !ok || s.stacks[k] == nil {
		return 0
	}
	l := list(s.stacks[k])
	if len(l) == 0 {
		return 0
	}
	return l[len(l)-1]
}

// Undo reverts the annotator's newest act that is not undone, and returns its events, or
// ErrNothingToUndo. It can be repeated without limit.
func (l *Ledger) Undo(by, tool string) ([]Event, error) {
	return l.turn(Undone, by, tool, (*State).CanUndo, ErrNothingToUndo)
}

// Redo restores the act that Undo reverted last, and returns its events. The error is
// ErrNothingToRedo if there is none, or if the annotator has acted since.
func (l *Ledger) Redo(by, tool string) ([]Event, error) {
	return l.turn(Redone, by, tool, (*State).CanRedo, ErrNothingToRedo)
}

func (l *Ledger) turn(kind Kind, by, tool string, act func(*State, string) int64, none error) ([]Event, error) {
	var events []Event
	_, err := l.Update(func(s *State) ([]Event, error) {
		n := act(s, by)
		if n == 0 {
			return nil, none
		}
		events = s.Act(n)
		return []Event{{Kind: kind, By: by, Tool: tool, Of: n}}, nil
	})
	if err != nil {
		return nil, err
	}
	return events, nil
}
