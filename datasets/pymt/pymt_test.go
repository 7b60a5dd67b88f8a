package pymt

import (
	"fmt"
	"testing"
)

// The expected values were printed by Python 3.11's random module.
func TestAgainstPython(t *testing.T) {
	for _, c := range []struct {
		seed uint64
		want [3]uint32
	}{
		{0, [3]uint32{3626764237, 1654615998, 3255389356}},
		{1, [3]uint32{577090037, 2444712010, 3639700191}},
		{5, [3]uint32{2675342405, 1097127993, 3185950873}},
		{4294967296, [3]uint32{485306839, 1508871100, 1794561286}},
		{1099511627783, [3]uint32{2635837658, 3209733218, 3500038837}},
		{18446744073709551615, [3]uint32{93740670, 1068495656, 1452108352}},
	} {
		s := New(c.seed)
		for i, want := range c.want {
			if got := s.Uint32(); got != want {
				t.Errorf("seed %d: output %d is %d, want %d", c.seed, i, got, want)
			}
		}
	}
	s := New(12)
	for range 1000 { // past the first twist
		s.Uint32()
	}
	if got, want := s.Uint32(), uint32(4190299960); got != want {
		t.Errorf("output 1001 of seed 12 is %d, want %d", got, want)
	}
	s = New(9)
	for i, n := range []int{1, 2, 3, 7, 8, 1000, 1 << 30, 1 << 31} {
		if got, want := s.IntN(n), []int{0, 1, 1, 1, 2, 887, 13819176, 1453097014}[i]; got != want {
			t.Errorf("IntN(%d) is %d, want %d", n, got, want)
		}
	}
}

func TestIntNPanics(t *testing.T) {
	for _, n := range []int{0, -1, 1<<31 + 1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("IntN(%d) did not panic", n)
				}
			}()
			New(1).IntN(n)
		}()
	}
}

func ExampleSource_Shuffle() {
	// random.seed(1); x = list("abcdef"); random.shuffle(x)
	x := []string{"a", "b", "c", "d", "e", "f"}
	New(1).Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
	fmt.Println(x)
	// Output: [c d f a e b]
}
