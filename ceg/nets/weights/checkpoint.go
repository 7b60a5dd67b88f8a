package weights

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// stateDictKeys are the entries under which training scripts keep the state
// dict of the network, in the order in which they are looked for.
var stateDictKeys = []string{"state_dict", "model_state_dict", "model", "net", "network", "weights"}

// maxNesting is how deep in dicts of dicts a state dict is looked for.
const maxNesting = 3

func entriesOf(v any) ([]entry, bool) {
	d, ok := v.(*dict)
	if !ok {
		return nil, false
	}
	return d.entries, true
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
		beside := err == nil && (key == w.entry || slices.Contains(stateDictKeys, key)) && isStateDict(inner)
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
// keys after the requested one, or else the only entry which is a dict of tensors.
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
	choice := ""
	if len(candidates) == 1 {
		choice = candidates[0]
	}
	for _, key := range slices.Backward(append([]string{w.entry}, stateDictKeys...)) {
		if _, ok := byKey[key]; ok {
			choice = key
		}
	}
	if choice != "" {
		w.others = append(w.others, slices.DeleteFunc(candidates, func(name string) bool { return name == choice })...)
		w.found = w.found || choice == w.entry
		return choice, byKey[choice], nil
	}
	const most = 20
	if len(names) > most {
		names = append(names[:most], "...")
	}
	if len(candidates) > 0 {
		return "", nil, fmt.Errorf("the checkpoint has several state dicts: choose one, such as %s:%s (among its entries %q)", w.Name, candidates[0], names)
	}
	return "", nil, fmt.Errorf("no state dict found among the checkpoint's entries %q (looked for %q)", names, stateDictKeys)
}

// isStateDict reports whether a value is a dict of tensors.
func isStateDict(v any) bool {
	entries, ok := entriesOf(v)
	return ok && hasTensor(entries)
}

// choose keeps the tensors below a prefix, for a requested entry that is no dict of its own.
func (w *File) choose() error {
	if w.entry == "" || w.found {
		return nil
	}
	var kept StateDict
	for _, t := range w.Tensors {
		if name, ok := strings.CutPrefix(t.Name, w.entry+"."); ok {
			t.Name = name
			kept = append(kept, t)
		}
	}
	if len(kept) == 0 {
		return fmt.Errorf("no entry %q", w.entry)
	}
	w.Tensors = kept
	return nil
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
		note := fmt.Sprintf("state dict taken from the checkpoint's entry %q", strings.Join(where, "."))
		if len(w.others) > 0 {
			note += fmt.Sprintf("; it has %q, too: choose one by FILE:ENTRY, such as %s:%s", w.others, w.Name, w.others[0])
		}
		w.Notes = append(w.Notes, note)
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
