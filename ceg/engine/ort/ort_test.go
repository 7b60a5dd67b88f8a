package ort

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// library is ONNX Runtime, where scripts/test.sh --all has fetched it.
func library(t *testing.T) *Library {
	t.Helper()
	file := os.Getenv("LEDG_TEST_ORT")
	if file == "" {
		t.Skip("ONNX Runtime not tested: LEDG_TEST_ORT names no library; scripts/test.sh --all fetches one")
	}
	l, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func network(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "nets", "onnx", "imported", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ramp is an input of n images.
func ramp(n int) Tensor {
	x := Tensor{Kind: Float32, Dims: []int64{int64(n), 3, 32, 32}}
	for i := range n * 3 * 32 * 32 {
		x.Data = binary.NativeEndian.AppendUint32(x.Data, math.Float32bits(float32(i%(3*32*32))/1000-1))
	}
	return x
}

// Calls at a time compute what one does, of other numbers of images, with other threads, and
// after many: memory that is freed too early would show.
func TestRun(t *testing.T) {
	l := library(t)
	if !strings.HasPrefix(l.Version, "1.") {
		t.Errorf("version %q", l.Version)
	}
	var want Tensor
	for _, threads := range []int{1, 2} {
		s, err := l.Open(network(t, "resnet.onnx"), Options{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if want.Data == nil {
			if want, err = s.Run("pixels", "features", ramp(1)); err != nil {
				t.Fatal(err)
			}
			if want.Kind != Float32 || len(want.Dims) != 2 || want.Dims[0] != 1 || len(want.Data) != int(4*want.Dims[1]) {
				t.Fatalf("got %+v", want)
			}
		}
		var all sync.WaitGroup
		for worker := range 3 {
			all.Go(func() {
				for i := range 50 {
					n := 1 + (worker+i)%3
					got, err := s.Run("pixels", "features", ramp(n))
					if err != nil {
						t.Error(err)
						return
					}
					if string(got.Data) != strings.Repeat(string(want.Data), n) {
						t.Errorf("%d images with %d threads: %v, want %v", n, threads, got.Data, want.Data)
						return
					}
					if i%10 == 0 {
						runtime.GC()
					}
				}
			})
		}
		all.Wait()
	}
}

// What goes wrong is an error of one line.
func TestErrors(t *testing.T) {
	l := library(t)
	s, err := l.Open(network(t, "vit.onnx"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	small := ramp(1)
	small.Dims, small.Data = []int64{1, 3, 16, 32}, small.Data[:len(small.Data)/2]
	short := ramp(1)
	short.Data = short.Data[4:]
	whole := ramp(1)
	whole.Kind, whole.Dims = 7, []int64{1, 3, 16, 32}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"shape":   {second(s.Run("pixels", "pooled", small)), "index: 2 Got: 16 Expected: 32"},
		"bytes":   {second(s.Run("pixels", "pooled", short)), "not enough space"},
		"kind":    {second(s.Run("pixels", "pooled", whole)), "Unexpected input data type"},
		"empty":   {second(s.Run("pixels", "pooled", Tensor{})), "no numbers"},
		"input":   {second(s.Run("images", "pooled", ramp(1))), "Invalid input name: images"},
		"output":  {second(s.Run("pixels", "logits", ramp(1))), "Invalid output name: logits"},
		"damaged": {second(l.Open([]byte("nothing"), Options{})), "protobuf"},
		"nothing": {second(l.Open(nil, Options{})), "no bytes"},
		"weights": {second(l.Open(network(t, "outside.onnx"), Options{Folder: t.TempDir()})), "outside.bin"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) || strings.Contains(c.err.Error(), "\n") {
			t.Errorf("%s: error %v, want one line with %s", name, c.err, c.want)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// What is no library is an error that names it.
func TestLoad(t *testing.T) {
	if Unbuilt != nil {
		t.Skip(Unbuilt)
	}
	path := filepath.Join(t.TempDir(), File())
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("one that is not there: %v", err)
	}
	if err := os.WriteFile(path, []byte("text"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a text: %v", err)
	}
}
