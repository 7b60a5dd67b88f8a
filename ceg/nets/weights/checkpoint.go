package weights

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nlpodyssey/gopickle/types"
)

// stateDictKeys are the entries under which training scripts keep the state
// dict of the network, in the order in which they are looked for.
var stateDictKeys = []string{"state_dict", "model_state_dict", "model", "net", "network", "weights"}

// maxNesting is how deep in dicts of dicts a state dict is looked for.
const maxNesting = 3

type entry struct{ key, value any }

// entriesOf returns the entries of either kind of Python dict.
func entriesOf(v any) ([]entry, bool) {
	switch d := v.(type) {
	case *types.Dict:
		out := make([]entry, len(*d))
		for i, e := range *d {
			out[i] = entry{e.Key, e.Value}
		}
		return out, true
	case *types.OrderedDict:
		out := make([]entry, 0, d.Len())
		for e := d.List.Front(); e != nil; e = e.Next() {
			oe := e.Value.(*types.OrderedDictEntry)
			out = append(out, entry{oe.Key, oe.Value})
		}
		return out, true
	}
	return nil, false
}

// takeStateDict finds the state dict in the value of a checkpoint and reads its tensors;
// File.Notes reports its position if it is not at the top.
func (w *File) takeStateDict(root any, l *loader) error {
	var where []string
	value := root
	for {
		entries, ok := entriesOf(value)
		if !ok {
			if len(where) == 0 {
				return errors.New("the checkpoint is not a dict of tensors")
			}
			return fmt.Errorf("the checkpoint's entry %q is not a dict of tensors", strings.Join(where, "."))
		}
		key, inner, err := w.descend(entries)
		// Beside a state dict there may be tensors of another kind, such as the
		// best accuracy so far.
		beside := err == nil && slices.Contains(stateDictKeys, key) && isStateDict(inner)
		if hasTensor(entries) && !beside {
			return w.takeEntries(entries, where, l)
		}
		if len(where) == maxNesting {
			return fmt.Errorf("no tensors in the checkpoint's entry %q", strings.Join(where, "."))
		}
		if err != nil {
			return err
		}
		where = append(where, key)
		value = inner
	}
}

// descend picks the entry that holds the state dict: the first of the usual
// keys, or else the only entry which is a dict of tensors.
func (w *File) descend(entries []entry) (string, any, error) {
	byKey := map[string]any{}
	var names, candidates []string
	for _, e := range entries {
		name, ok := e.key.(string)
		if !ok {
			continue
		}
		names = append(names, name)
		if _, ok := entriesOf(e.value); ok {
			byKey[name] = e.value
			if isStateDict(e.value) {
				candidates = append(candidates, name)
			}
		}
	}
	for _, key := range stateDictKeys {
		if v, ok := byKey[key]; ok {
			return key, v, nil
		}
	}
	if len(candidates) == 1 {
		return candidates[0], byKey[candidates[0]], nil
	}
	const most = 20
	if len(names) > most {
		names = append(names[:most], "...")
	}
	return "", nil, fmt.Errorf("no state dict found among the checkpoint's entries %q (looked for %q)", names, stateDictKeys)
}

func isStateDict(v any) bool {
	entries, ok := entriesOf(v)
	return ok && hasTensor(entries)
}

func hasTensor(entries []entry) bool {
	for _, e := range entries {
		if _, ok := e.value.(*view); ok {
			return true
		}
	}
	return false
}

func (w *File) takeEntries(entries []entry, where []string, l *loader) error {
	if len(where) > 0 {
		w.Notes = append(w.Notes, fmt.Sprintf("state dict taken from the checkpoint's entry %q", strings.Join(where, ".")))
	}
	seen := make(map[string]bool, len(entries))
	var other []string
	for _, e := range entries {
		name, ok := e.key.(string)
		if !ok {
			return errors.New("the state dict has a key that is no string")
		}
		if seen[name] {
			return fmt.Errorf("tensor %q occurs twice", name)
		}
		seen[name] = true
		v, ok := e.value.(*view)
		if !ok {
			other = append(other, name)
			continue
		}
		t, err := l.tensor(name, v)
		if err != nil {
			return fmt.Errorf("tensor %q: %w", name, err)
		}
		w.Tensors = append(w.Tensors, t)
	}
	if len(other) > 0 {
		w.Notes = append(w.Notes, fmt.Sprintf("entries of the state dict that are no tensors were left out: %q", other))
	}
	return nil
}
