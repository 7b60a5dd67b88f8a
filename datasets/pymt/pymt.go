// Package pymt is the generator of Python's random module: the Mersenne Twister
// MT19937 with Python's seeding, randrange and shuffle.
//
// It exists to redraw splits that published Python code has drawn. For anything
// new use ceg/seed, whose streams are independent of one another.
package pymt

import "math/bits"

const (
	words  = 624 // of the state
	middle = 397
)

// Source is a generator in a state. It is not safe for concurrent use.
type Source struct {
	state [words]uint32
	next  int // the word to be given out next; words means none is left
}

// New returns the generator after Python's random.seed(seed), for a seed of 0 or
// above.
func New(seed uint64) *Source {
	key := []uint32{uint32(seed)}
	if high := uint32(seed >> 32); high != 0 {
		key = append(key, high)
	}
	s := &Source{next: words}
	s.initByArray(key)
	return s
}

// initByArray is init_by_array of Matsumoto and Nishimura's mt19937ar.c.
func (s *Source) initByArray(key []uint32) {
	m := &s.state
	m[0] = 19650218
	for i := 1; i < words; i++ {
		m[i] = 1812433253*(m[i-1]^m[i-1]>>30) + uint32(i)
	}
	i, j := 1, 0
	step := func() {
		i++
		if i == words {
			m[0] = m[words-1]
			i = 1
		}
	}
	for range max(words, len(key)) {
		m[i] = (m[i] ^ (m[i-1]^m[i-1]>>30)*1664525) + key[j] + uint32(j)
		step()
		j = (j + 1) % len(key)
	}
	for range words - 1 {
		m[i] = (m[i] ^ (m[i-1]^m[i-1]>>30)*1566083941) - uint32(i)
		step()
	}
	m[0] = 1 << 31
}

// Uint32 returns 32 random bits: Python's getrandbits(32).
func (s *Source) Uint32() uint32 {
	if s.next == words {
		s.twist()
	}
	y := s.state[s.next]
	s.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// twist makes the next 624 words.
func (s *Source) twist() {
	m := &s.state
	for i := range m {
		y := m[i]&(1<<31) | m[(i+1)%words]&(1<<31-1)
		v := m[(i+middle)%words] ^ y>>1
		if y&1 == 1 {
			v ^= 0x9908b0df
		}
		m[i] = v
	}
	s.next = 0
}

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
