// Package pymt draws from the generator of Python's random module, the Mersenne
// Twister MT19937, as Python does: its seeding, randrange and shuffle.
//
// It exists to redraw splits that published Python code has drawn. For anything
// new use ceg/seed, whose streams are independent of one another.
package pymt

import (
	"math/bits"

	"gonum.org/v1/gonum/mathext/prng"
)

// Source is a generator in a state. It is not safe for concurrent use.
type Source struct{ mt *prng.MT19937 }

// New returns the generator after Python's random.seed(seed), for a seed of 0 or
// above.
func New(seed uint64) *Source {
	key := []uint32{uint32(seed)}
	if high := uint32(seed >> 32); high != 0 {
		key = append(key, high)
	}
	s := &Source{prng.NewMT19937()}
	s.mt.SeedFromKeys(key)
	return s
}

// Uint32 returns 32 random bits: Python's getrandbits(32).
func (s *Source) Uint32() uint32 { return s.mt.Uint32() }

// IntN returns a number in [0, n): Python's randrange(n). It panics unless n is
// in 1..2^31.
func (s *Source) IntN(n int) int {
	if n < 1 || n > 1<<31 {
		panic("pymt: IntN needs n in 1..2^31")
	}
	// Python draws as many bits as n has, which for a power of two is one more
	// than needed, until they make a number below n.
	drop := 32 - bits.Len(uint(n))
	for {
		if v := int(s.Uint32() >> drop); v < n {
			return v
		}
	}
}

// Shuffle shuffles n elements as Python's random.shuffle does.
func (s *Source) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, s.IntN(i+1))
	}
}
