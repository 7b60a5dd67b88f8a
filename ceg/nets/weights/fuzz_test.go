package weights

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// check reads b and checks what must hold for any file that is accepted.
func fuzzRead(t *testing.T, b []byte, name string) {
	f, err := readBytes(b, name)
	if err != nil {
		return
	}
	seen := map[string]bool{}
	for _, ts := range f.Tensors {
		if seen[ts.Name] {
			t.Fatalf("tensor %q twice", ts.Name)
		}
		seen[ts.Name] = true
		fatal.If(t, ts.check())
	}
	if len(f.Tensors) == 0 || len(f.Digest) != 64 {
		t.Fatalf("%d tensors, digest %q", len(f.Tensors), f.Digest)
	}
}

func seeds(f *testing.F, names ...string) {
	for _, name := range names {
		b := fatal.Get(os.ReadFile(filepath.Join("testdata", name)))(f)
		f.Add(b)
	}
}

func FuzzRead(f *testing.F) {
	seeds(f, "tiny.pth", "tiny_legacy.pth", "tiny_views.pth", "tiny.safetensors")
	f.Fuzz(func(t *testing.T, b []byte) { fuzzRead(t, b, "a.pth") })
}

// FuzzPickle fuzzes the pickle inside a sound archive, where the fuzzer need not
// keep the CRC-32 right.
func FuzzPickle(f *testing.F) {
	six := pair{"0", floats(0, 1, 2, 3, 4, 5)}
	on := onStorage("FloatStorage", "0", 6)
	f.Add([]byte(dictOf(str("w"), tensorOn(on, 1, []int{2, 2}, []int{1, 2}))))
	f.Add([]byte(dictOf(str("state_dict"), glob("collections", "OrderedDict")+")R("+str("w")+vector("0", 6)+"u}b")))
	f.Add([]byte("\x8c\x0bcollections\x94\x8c\x0bOrderedDict\x94\x93\x94)R(" + str("w") + vector("0", 6) + "u"))
	f.Add([]byte(glob("os", "system") + tupleOf(str("true")) + "R"))
	f.Add([]byte("]q\x00h\x00a]}\x8fC\x01xG12345678I01\nF1\nL5L\nS'a'\nV\\u0041\nlp5\ng5\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		fuzzRead(t, checkpoint(t, string(body), six), "a.pth")
		fuzzRead(t, legacy(string(body), six), "a.pth")
	})
}
