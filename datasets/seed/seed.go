// Package seed derives independent random streams from one seed.
//
// Every random choice in ledg draws from a stream that is named by its purpose. New(7, "weak
// view", epoch, example) is independent of New(7, "strong view", epoch, example), and neither
// changes when other code draws more or fewer numbers. A stream depends only on its name. So
// work can be done in any order, in parallel, or again after a crash, and a checkpoint needs no
// random state beyond seed and epoch.
package seed

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// New returns the stream for a purpose under a seed, further distinguished by integers (an
// epoch, an example's index). Equal arguments give equal streams on every machine and Go
// version; zero is a valid seed. The generator is ChaCha8 keyed with the SHA-256 of the
// arguments.
func New(seed uint64, purpose string, n ...uint64) *rand.Rand {
	h := sha256.New()
	var b [8]byte
	put := func(v uint64) {
		binary.LittleEndian.PutUint64(b[:], v)
		h.Write(b[:])
	}
	put(seed)
	put(uint64(len(purpose)))
	h.Write([]byte(purpose))
	for _, v := range n {
		put(v)
	}
	return rand.New(rand.NewChaCha8([32]byte(h.Sum(nil))))
}
