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

	"github.com/ledg-go/ledg/datasets/registers"
)

// New returns the stream for a purpose under a seed, further distinguished by integers (an
// epoch, an example's index). Equal arguments give equal streams on every machine and Go
// version; zero is a valid seed. The generator is ChaCha8 keyed with the SHA-256 of the
// arguments. The key is computed at the first draw, so an unused stream costs little.
func New(seed uint64, purpose string, n ...uint64) *rand.Rand {
	b := make([]byte, 0, 8*(2+len(n))+len(purpose))
	b = binary.LittleEndian.AppendUint64(b, seed)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(purpose)))
	b = append(b, purpose...)
	for _, v := range n {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return rand.New(&stream{name: b})
}

// stream is a ChaCha8 that is keyed when the first number is drawn.
type stream struct {
	name []byte
	from *rand.ChaCha8
}

func (s *stream) Uint64() uint64 {
	if s.from == nil {
		registers.ClearUpper() // for the hash
		s.from, s.name = rand.NewChaCha8(sha256.Sum256(s.name)), nil
	}
	return s.from.Uint64()
}
