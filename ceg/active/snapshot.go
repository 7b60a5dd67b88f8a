package active

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Snapshot is a pool as plain data, for a checkpoint. Equal pools have equal
// snapshots, and equal snapshots equal JSON.
type Snapshot struct {
	Domains int      `json:"domains"` // how many
	Classes int      `json:"classes"` // how many
	IDs     []string `json:"ids"`     // every sample
	Domain  []int    `json:"domain"`  // of each
	// Labelled is the ledger, in the order in which labels were given.
	Labelled []Label `json:"labelled"`
}

// Snapshot returns a copy of the pool.
func (p *Pool) Snapshot() Snapshot {
	s := Snapshot{p.domainN, p.classN, slices.Clone(p.ids), slices.Clone(p.domains), slices.Clone(p.labelled)}
	if s.Labelled == nil {
		s.Labelled = []Label{} // [] in JSON, not null
	}
	return s
}

// Restore returns the pool of a snapshot, which is not retained. What no sequence
// of rounds could have led to is an error.
func Restore(s Snapshot) (*Pool, error) {
	p, err := NewPool(s.IDs, s.Domain, s.Domains, s.Classes)
	if err != nil {
		return nil, err
	}
	for i, l := range s.Labelled {
		if err := p.Record(l.Oracle, l.Round, []string{l.ID}, []int{l.Class}); err != nil {
			return nil, fmt.Errorf("pool: label %d: %w", i, err)
		}
	}
	return p, nil
}

// ReadPool reads the JSON of one [Snapshot] to the end of r and restores it.
// Unknown fields and anything after it are errors.
func ReadPool(r io.Reader) (*Pool, error) {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	var s Snapshot
	if err := d.Decode(&s); err != nil {
		return nil, fmt.Errorf("pool: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("pool: more data after the snapshot")
	}
	return Restore(s)
}
