package active

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/ledg-go/ledg/datasets/registers"
)

// Snapshot is the state of a [Pool] as plain data, for checkpoints. Samples are numbered by
// their positions in the pool; a digest of the IDs identifies the pool. Equal pools have equal
// snapshots. Numbers and digests belong in a file's header, slices in its tensors: four bytes a
// sample and sixteen a label.
type Snapshot struct {
	Domains int `json:"domains"` // how many
	Classes int `json:"classes"` // how many
	Samples int `json:"samples"` // how many
	// Digest is the SHA-256, in hexadecimal, of the IDs in order, with their domains.
	Digest string `json:"digest"`
	// Oracles names the annotators, in the order of their first labels.
	Oracles []string `json:"oracles"`

	// Hashes is the CRC-32C of every ID; error messages use it to name what changed.
	Hashes []uint32 `json:"-"`
	// Sample, Class, Round and Oracle have one entry a label, in labelling order. Oracle indexes
	// Oracles.
	Sample []int32 `json:"-"`
	Class  []int32 `json:"-"`
	Round  []int32 `json:"-"`
	Oracle []int32 `json:"-"`
	// Gone lists the dropped samples.
	Gone []int32 `json:"-"`
}

// Snapshot returns a copy of the state.
func (p *Pool) Snapshot() Snapshot {
	s := Snapshot{Domains: p.domainN, Classes: p.classN, Samples: len(p.ids), Oracles: []string{}, Hashes: p.hashes(), Digest: p.digest()}
	for i, l := range p.label {
		if l == left {
			s.Gone = append(s.Gone, int32(i))
		}
	}
	n := len(p.labelled)
	s.Sample, s.Class, s.Round, s.Oracle = make([]int32, n), make([]int32, n), make([]int32, n), make([]int32, n)
	for i, l := range p.labelled {
		by := slices.Index(s.Oracles, l.Oracle)
		if by < 0 {
			by = len(s.Oracles)
			s.Oracles = append(s.Oracles, l.Oracle)
		}
		s.Sample[i], s.Class[i], s.Round[i], s.Oracle[i] = int32(p.index[l.ID]), int32(l.Class), int32(l.Round), int32(by)
	}
	return s
}

// Restore loads a snapshot into a pool without labels. A snapshot of other samples is an
// *OtherSamplesError. Labels that no sequence of rounds can produce are an error; the pool may
// then hold some of them.
func (p *Pool) Restore(s Snapshot) error {
	if len(p.labelled)+p.gone > 0 {
		return fmt.Errorf("pool: has %d labels already, and %d have left", len(p.labelled), p.gone)
	}
	if s.Domains != p.domainN || s.Classes != p.classN {
		return fmt.Errorf("pool: has %d domains and %d classes, the snapshot %d and %d", p.domainN, p.classN, s.Domains, s.Classes)
	}
	if s.Samples != len(p.ids) || s.Digest != p.digest() {
		return &OtherSamplesError{Then: s.Samples, Now: len(p.ids), Change: p.firstChange(s.Hashes)}
	}
	if n := len(s.Sample); len(s.Class) != n || len(s.Round) != n || len(s.Oracle) != n {
		return fmt.Errorf("pool: labels of %d samples, with %d classes, %d rounds and %d oracles", n, len(s.Class), len(s.Round), len(s.Oracle))
	}
	for i, at := range s.Sample {
		if at < 0 || int(at) >= len(p.ids) {
			return fmt.Errorf("pool: label %d: sample %d, want 0 to %d", i, at, len(p.ids)-1)
		}
		if by := s.Oracle[i]; by < 0 || int(by) >= len(s.Oracles) {
			return fmt.Errorf("pool: label %d: oracle %d, want 0 to %d", i, by, len(s.Oracles)-1)
		}
	}
	for first := 0; first < len(s.Sample); {
		last := first + 1
		for last < len(s.Sample) && s.Round[last] == s.Round[first] && s.Oracle[last] == s.Oracle[first] {
			last++
		}
		ids, classes := make([]string, 0, last-first), make([]int, 0, last-first)
		for i := first; i < last; i++ {
			ids, classes = append(ids, p.ids[s.Sample[i]]), append(classes, int(s.Class[i]))
		}
		if err := p.Record(s.Oracles[s.Oracle[first]], int(s.Round[first]), ids, classes); err != nil {
			return fmt.Errorf("pool: labels %d to %d: %w", first, last-1, err)
		}
		first = last
	}
	for _, at := range s.Gone {
		if at < 0 || int(at) >= len(p.ids) || p.label[at] != noLabel {
			return fmt.Errorf("pool: sample %d cannot have left", at)
		}
		if err := p.Drop(p.ids[at]); err != nil {
			return err
		}
	}
	return nil
}

// OtherSamplesError is the error of a snapshot that was made from a pool of other samples.
type OtherSamplesError struct {
	// Then and Now are the numbers of samples in the snapshot and in the pool.
	Then, Now int
	// Change describes one difference.
	Change string
}

func (e *OtherSamplesError) Error() string {
	return fmt.Sprintf("pool: other samples (%d then, %d now): %s", e.Then, e.Now, e.Change)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (p *Pool) hashes() []uint32 {
	h := make([]uint32, len(p.ids))
	for i, id := range p.ids {
		h[i] = crc32.Checksum([]byte(id), castagnoli)
	}
	return h
}

func (p *Pool) digest() string {
	h := registers.SHA256()
	var b []byte
	for i, id := range p.ids {
		b = binary.LittleEndian.AppendUint32(b[:0], uint32(p.domains[i]))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(id)))
		h.Write(append(b, id...))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// firstChange names a difference between the samples that had the hashes and the
// pool's. Those that are gone have left no name, but their neighbours have.
func (p *Pool) firstChange(then []uint32) string {
	now := p.hashes()
	count := make(map[uint32]int, len(then))
	for _, h := range then {
		count[h]++
	}
	for i, h := range now {
		if count[h]--; count[h] < 0 {
			return fmt.Sprintf("%s is now one", p.ids[i])
		}
	}
	// Nothing has come, so either something is gone or the order is another.
	for i, h := range now {
		if len(then) > len(now) && h != then[i] {
			return fmt.Sprintf("one before %s is no longer there", p.ids[i])
		}
	}
	if len(then) > len(now) {
		return fmt.Sprintf("one after %s is no longer there", p.ids[len(p.ids)-1])
	}
	return "they have another order, or other domains"
}
