package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// sameConfig returns nil if the config in a run's directory says the same as
// the one that this process has, and otherwise names the first difference.
func sameConfig(stored, own []byte) error {
	if bytes.Equal(stored, own) {
		return nil
	}
	stored, err := upgrade(stored)
	if err != nil {
		return err
	}
	a, err := decodeNumbers(stored)
	if err != nil {
		return err
	}
	b, err := decodeNumbers(own)
	if err != nil {
		return err
	}
	return firstDifference("", a, b)
}

// decodeNumbers decodes JSON with its numbers as they are written: seeds do not
// fit into a float64.
func decodeNumbers(data []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// firstDifference names the first place, in the order of sorted keys, where
// stored and own differ.
func firstDifference(path string, stored, own any) error {
	a, aIsObject := stored.(map[string]any)
	b, bIsObject := own.(map[string]any)
	if aIsObject && bIsObject {
		keys := slices.Sorted(maps.Keys(a))
		for key := range b {
			if _, ok := a[key]; !ok {
				keys = append(keys, key)
			}
		}
		slices.Sort(keys)
		for _, key := range keys {
			va, inA := a[key]
			vb, inB := b[key]
			switch {
			case !inA:
				return fmt.Errorf("it lacks %q, which this run sets, or another version of ledg wrote it", path+key)
			case !inB:
				return fmt.Errorf("it has %q, which this run does not set, or another version of ledg wrote it", path+key)
			}
			if err := firstDifference(path+key+".", va, vb); err != nil {
				return err
			}
		}
		return nil
	}
	got, err := json.Marshal(stored)
	if err != nil {
		return err
	}
	want, err := json.Marshal(own)
	if err != nil {
		return err
	}
	if bytes.Equal(got, want) {
		return nil
	}
	return fmt.Errorf("it has %s = %s, this run has %s", path[:max(0, len(path)-1)], got, want)
}
