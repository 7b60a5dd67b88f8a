package weights

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
)

// The helpers of this file write pickles and checkpoints, well-formed or not.

// str, num and tuple give the operations that push a value.
func str(s string) string {
	return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s
}

func num(n int) string {
	return "J" + string(binary.LittleEndian.AppendUint32(nil, uint32(int32(n))))
}

func tupleOf(items ...string) string {
	out := "("
	for _, s := range items {
		out += s
	}
	return out + "t"
}

func nums(ns ...int) string {
	items := make([]string, len(ns))
	for i, n := range ns {
		items[i] = num(n)
	}
	return tupleOf(items...)
}

func glob(module, name string) string { return "c" + module + "\n" + name + "\n" }

func dictOf(items ...string) string {
	out := "}("
	for _, s := range items {
		out += s
	}
	return out + "u"
}

func proto2(body string) []byte { return []byte("\x80\x02" + body + ".") }

// onStorage pushes a storage, tensorOn a tensor on it.
func onStorage(class, key string, n int) string {
	return tupleOf(str("storage"), glob("torch", class), str(key), str("cpu"), num(n)) + "Q"
}

func tensorOn(on string, offset int, shape, strides []int) string {
	return glob("torch._utils", "_rebuild_tensor_v2") +
		tupleOf(on, num(offset), nums(shape...), nums(strides...), "\x89", glob("collections", "OrderedDict")+")R") + "R"
}

// vector pushes a contiguous float32 tensor of n elements with a storage of its own.
func vector(key string, n int) string {
	return tensorOn(onStorage("FloatStorage", key, n), 0, []int{n}, []int{1})
}

// floats is the content of a float32 storage.
func floats(values ...float32) string {
	return string(safetensors.AppendFloats(nil, values))
}

// pair is one entry of an archive.
type pair struct{ name, content string }

func archive(t testing.TB, method uint16, entries ...pair) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, e := range entries {
		f, err := w.CreateHeader(&zip.FileHeader{Name: e.name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(e.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// checkpoint is the zip container around a pickle's body and its storages.
func checkpoint(t testing.TB, body string, storages ...pair) []byte {
	t.Helper()
	entries := []pair{{"a/data.pkl", string(proto2(body))}}
	for _, s := range storages {
		entries = append(entries, pair{"a/data/" + s.name, s.content})
	}
	return archive(t, zip.Store, append(entries, pair{"a/version", "3\n"})...)
}

// legacy is the older container around a pickle's body and its storages.
func legacy(body string, storages ...pair) []byte {
	out := []byte("\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.")
	out = append(out, proto2(dictOf(str("little_endian"), "\x88"))...)
	out = append(out, proto2(body)...)
	keys := "]("
	for _, s := range storages {
		keys += str(s.name)
	}
	out = append(out, proto2(keys+"e")...)
	for _, s := range storages {
		out = binary.LittleEndian.AppendUint64(out, uint64(len(s.content)/4))
		out = append(out, s.content...)
	}
	return out
}

func readBytes(b []byte, name string) (*File, error) {
	return read(bytes.NewReader(b), int64(len(b)), name, "")
}

// data reads the only tensor of a checkpoint as float32.
func onlyTensor(t *testing.T, b []byte) (Tensor, []float32) {
	t.Helper()
	f, err := readBytes(b, "a.pth")
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Tensors) != 1 {
		t.Fatalf("got tensors %v, want one", f.Tensors.Names())
	}
	v, err := f.Tensors[0].Float32s()
	if err != nil {
		t.Fatal(err)
	}
	return f.Tensors[0], v
}
