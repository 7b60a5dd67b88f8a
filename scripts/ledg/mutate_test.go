//go:build unix

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/ceg/testing/testall"
)

// mutatedVariable is the environment variable that says which networks TestMutatedNetworks makes, as 1000 for all before
// it, or 370-372.
const mutatedVariable = "LEDG_TEST_MUTATED"

// inside says what messages the fields of an ONNX file's messages hold, as far as they are mutated.
var inside = map[string]map[protowire.Number]string{
	"model": {7: "graph", 8: "opset"},
	"graph": {1: "node", 5: "tensor", 11: "value", 12: "value"},
	"node":  {5: "attribute"}, "attribute": {5: "tensor", 6: "graph"},
	"value": {2: "type"}, "type": {1: "shaped"}, "shaped": {2: "shape"}, "shape": {1: "dimension"},
}

// packed are fields of integers.
var packed = map[string]protowire.Number{"attribute": 8, "tensor": 1}

// mutator changes one place of a file, at -1 none.
type mutator struct {
	*rand.Rand
	at     int
	passed []string // values passed so far
	names  []string // of values, that take each other's places
}

var (
	odd        = []int64{0, 1, -1, 2, 3, 7, 8, 255, 300, 1000, 65536, 1e6, 1e9, 1e12, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64, -2, -1000}
	operations = strings.Fields(`Add Sub Mul Div Mod Pow MatMul Gemm Einsum Conv ConvTranspose MaxPool AveragePool GlobalAveragePool Concat Split Slice Gather GatherND GatherElements ScatterND ScatterElements
		Reshape Transpose Squeeze Unsqueeze Expand Tile Pad Resize Range ConstantOfShape Shape Cast Where ReduceMean ReduceSum Softmax LayerNormalization BatchNormalization Loop If CumSum TopK NonZero OneHot
		DepthToSpace Trilu Clip Relu Erf Exp Sqrt Identity Dropout`)
)

// here reports whether this is the place.
func (m *mutator) here(what string) bool {
	m.passed = append(m.passed, what)
	return len(m.passed)-1 == m.at
}

// message returns a message with its place changed, if it is in there.
func (m *mutator) message(kind string, b []byte) (out []byte) {
	for len(b) > 0 {
		field, wire, n := protowire.ConsumeTag(b)
		size := protowire.ConsumeFieldValue(field, wire, b[max(n, 0):])
		if n < 0 || size < 0 {
			return append(out, b...)
		}
		value := b[n : n+size]
		whole := b[:n+size]
		b = b[n+size:]
		what := fmt.Sprintf("%s.%d", kind, field)
		switch {
		case wire == protowire.VarintType:
			if m.here(what) {
				whole = protowire.AppendVarint(protowire.AppendTag(nil, field, wire), uint64(odd[m.IntN(len(odd))]))
			}
		case wire == protowire.BytesType:
			data, _ := protowire.ConsumeBytes(value)
			if data = m.bytes(kind, what, field, data); data == nil {
				continue
			}
			whole = protowire.AppendBytes(protowire.AppendTag(nil, field, wire), data)
		}
		out = append(out, whole...)
	}
	return out
}

// bytes returns a field of bytes, nil to leave it out.
func (m *mutator) bytes(kind, what string, field protowire.Number, data []byte) []byte {
	data = slices.Clone(data)
	switch {
	case inside[kind][field] != "":
		if (kind == "node" || kind == "value") && m.here(what+" left out") {
			return nil
		}
		return m.message(inside[kind][field], data)
	case kind == "node" && field == 4:
		if m.here(what) {
			return []byte(operations[m.IntN(len(operations))])
		}
	case kind == "node" && field == 1:
		m.names = append(m.names, string(data))
		if m.here(what) {
			return []byte(m.names[m.IntN(len(m.names))])
		}
	case packed[kind] == field:
		var list []byte
		for rest := data; len(rest) > 0; {
			v, n := protowire.ConsumeVarint(rest)
			if n < 0 {
				return data
			}
			if rest = rest[n:]; m.here(what) {
				v = uint64(odd[m.IntN(len(odd))])
			}
			list = protowire.AppendVarint(list, v)
		}
		return append(list, data[:0]...)
	case kind == "tensor" && field == 9 && len(data) >= 8 && len(data) <= 256 && len(data)%8 == 0:
		if m.here(what) {
			binary.LittleEndian.PutUint64(data[8*m.IntN(len(data)/8):], uint64(odd[m.IntN(len(odd))]))
		}
	}
	return append(data, []byte{}...)
}

// mutated is a network with one or two places changed, and which: every kind of place as often.
func mutated(r *rand.Rand, b []byte) ([]byte, string) {
	var did []string
	for range 1 + r.IntN(2) {
		all := &mutator{Rand: r, at: -1}
		all.message("model", b)
		kinds := slices.Compact(slices.Sorted(slices.Values(all.passed)))
		kind := kinds[r.IntN(len(kinds))]
		at := r.IntN(len(all.passed))
		for all.passed[at] != kind {
			at = (at + 1) % len(all.passed)
		}
		b = (&mutator{Rand: r, at: at}).message("model", b)
		did = append(did, kind)
	}
	return b, strings.Join(did, ", ")
}

// Networks with a few changed numbers, operations or names end within 10 s and 2 GB on both engines
// and in training, with features or one line. Go refuses what ONNX Runtime does.
func TestMutatedNetworks(t *testing.T) {
	from, to := 0, 6
	if testall.On() {
		to = 18
	}
	if n, err := fmt.Sscanf(os.Getenv(mutatedVariable), "%d-%d", &from, &to); n == 1 && err != nil {
		from, to = 0, from
	}
	seeds, err := filepath.Glob("../../ceg/nets/onnx/imported/testdata/train/*.onnx")
	if err != nil || len(seeds) < 5 {
		t.Fatalf("%d networks, %v", len(seeds), err)
	}
	backends := []string{"go"}
	t.Run("onnxruntime", func(t *testing.T) { backends = append(backends, enginetest.Runtime(t)) })
	root := photoFolder(t)
	ends := map[int]int{}
	for i := from; i < to; i++ {
		b := fatal.Get(os.ReadFile(seeds[i%len(seeds)]))(t)
		b, did := mutated(rand.New(rand.NewPCG(uint64(i), 47)), b)
		dir := t.TempDir()
		path := filepath.Join(dir, "n.onnx")
		fatal.If(t, os.WriteFile(path, b, 0o666))
		was := t.Failed()
		computed := map[string]bool{}
		for _, backend := range backends {
			_, errs, status := within(t, dir, "embed", "--dataset", "folder", "--root", root, "--net", path, "--preprocess", "vit", "--size", "32", "--backend", backend, "--quiet", "--out", "x.safetensors")
			computed[backend] = status == 0
			if ends[status]++; testing.Verbose() {
				t.Logf("%d: %s: %s", i, did, errs)
			}
			os.Remove(filepath.Join(dir, "x.safetensors"))
		}
		if len(backends) > 1 && computed["go"] && !computed[backends[1]] {
			t.Error("Go computes what ONNX Runtime refuses")
		}
		_, _, status := within(t, dir, "train", "--dataset", "folder", "--root", root, "--target", "none", "--net", path, "--image-size", "32", "--budget", "4", "--epochs", "1", "--backend", "go", "--quiet", "--out", "run")
		ends[status]++
		if t.Failed() && !was {
			saved := filepath.Join(os.TempDir(), fmt.Sprintf("ledg-mutated-%d.onnx", i))
			t.Errorf("network %d, %s with %s: %s, %v", i, seeds[i%len(seeds)], did, saved, os.WriteFile(saved, b, 0o666))
		}
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, b) {
			t.Errorf("the network %d was changed: %v", i, err)
		}
	}
	for _, status := range slices.Sorted(maps.Keys(ends)) {
		t.Logf("%d commands ended with status %d", ends[status], status)
	}
}
