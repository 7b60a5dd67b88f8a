package active

import (
	"cmp"
	"slices"
)

// Ties orders candidates of equal score by a hash of the seed and the ID. Row order plays no
// role: rows follow file names, and these follow domains.
type Ties struct {
	Seed uint64
	IDs  []string
}

func (t Ties) of(rows []int) Ties { return Ties{t.Seed, take(t.IDs, rows)} }

// sort puts rows into the order of ties.
func (t Ties) sort(rows []int) {
	if len(rows) < 2 {
		return
	}
	type tied struct {
		hash uint64
		row  int
	}
	list := make([]tied, len(rows))
	for k, i := range rows {
		list[k] = tied{t.hash(i), i}
	}
	slices.SortFunc(list, func(a, b tied) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(t.IDs[a.row], t.IDs[b.row]))
	})
	for k, x := range list {
		rows[k] = x.row
	}
}

// before reports whether row a comes before row b.
func (t Ties) before(a, b int) bool {
	x, y := t.hash(a), t.hash(b)
	return x < y || x == y && t.IDs[a] < t.IDs[b]
}

// hash is FNV-1a of the ID from a start that depends on the seed, and then the
// finalizer of SplitMix64, since similar names have similar FNV values.
func (t Ties) hash(row int) uint64 {
	h := mix(t.Seed) ^ 0xcbf29ce484222325
	for _, b := range []byte(t.IDs[row]) {
		h = (h ^ uint64(b)) * 0x100000001b3
	}
	return mix(h)
}

func mix(h uint64) uint64 {
	h += 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
