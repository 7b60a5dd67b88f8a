package ceg

import (
	"fmt"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/result"
)

// oldCheckpoint is the JSON part of a checkpoint of form 1, which had all IDs in
// it. Such files are read, so that kept networks stay of use and unfinished runs
// can be finished; none are written.
type oldCheckpoint struct {
	Format int    `json:"format"`
	Epoch  int    `json:"epoch"`
	Steps  int    `json:"steps"`
	Round  int    `json:"round"`
	Images string `json:"images,omitempty"`
	Pool   struct {
		Domains  int            `json:"domains"`
		Classes  int            `json:"classes"`
		IDs      []string       `json:"ids"`
		Domain   []int          `json:"domain"`
		Labelled []active.Label `json:"labelled"`
	} `json:"pool"`
	Reliable       []string        `json:"reliable"`
	ReliableLabels []int           `json:"reliable_labels"`
	Engines        []result.Engine `json:"engines,omitempty"`
	Written        result.Lengths  `json:"written"`
}

// decodeOld reads the JSON part of form 1.
func (c *checkpoint) decodeOld(meta []byte) error {
	var o oldCheckpoint
	if err := result.Decode(meta, &o); err != nil {
		return fmt.Errorf("metadata %q: %w", metadataKey, err)
	}
	pool, err := active.NewPool(o.Pool.IDs, o.Pool.Domain, o.Pool.Domains, o.Pool.Classes)
	if err != nil {
		return err
	}
	for i, l := range o.Pool.Labelled {
		if err := pool.Record(l.Oracle, l.Round, []string{l.ID}, []int{l.Class}); err != nil {
			return fmt.Errorf("label %d: %w", i, err)
		}
	}
	*c = checkpoint{
		Format: checkpointFormat, Epoch: o.Epoch, Steps: o.Steps, Round: o.Round, Images: o.Images,
		Pool: pool.Snapshot(), Engines: o.Engines, Written: o.Written,
	}
	place := make(map[string]int32, len(o.Pool.IDs))
	for i, id := range o.Pool.IDs {
		place[id] = int32(i)
	}
	if len(o.Reliable) != len(o.ReliableLabels) {
		return fmt.Errorf("%d reliable images with %d labels", len(o.Reliable), len(o.ReliableLabels))
	}
	for i, id := range o.Reliable {
		at, ok := place[id]
		if !ok {
			return fmt.Errorf("the reliable set has %q, which the pool has not", id)
		}
		c.Reliable, c.ReliableLabels = append(c.Reliable, at), append(c.ReliableLabels, int32(o.ReliableLabels[i]))
	}
	return nil
}
