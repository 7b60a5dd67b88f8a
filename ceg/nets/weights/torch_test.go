package weights

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// TestRefusedGlobals: nothing but what a state dict needs, in whichever way a
// pickle can ask for it, in either container, and named in the error.
func TestRefusedGlobals(t *testing.T) {
	call := tupleOf(str("touch /tmp/owned"))
	for _, c := range []struct{ name, body, global string }{
		{"os.system", glob("os", "system") + call + "R", "os.system"},
		{"posix.system", glob("posix", "system") + call + "R", "posix.system"},
		{"nt.system", glob("nt", "system") + call + "R", "nt.system"},
		{"builtins.eval", glob("builtins", "eval") + call + "R", "builtins.eval"},
		{"py2 eval", glob("__builtin__", "eval") + call + "R", "__builtin__.eval"},
		{"subprocess", glob("subprocess", "Popen") + call + "R", "subprocess.Popen"},
		{"never called", "(" + glob("os", "system") + "1" + dictOf(str("w"), vector("0", 1)), "os.system"},
		{"builtins.list", glob("builtins", "list") + ")R", "builtins.list"},
		{"builtins.dict", glob("builtins", "dict") + ")R", "builtins.dict"},
		{"object", glob("__builtin__", "object") + ")R", "__builtin__.object"},
		{"array", glob("array", "_array_reconstructor") + ")R", "array._array_reconstructor"},
		{"copy_reg", glob("copy_reg", "_reconstructor") + ")R", "copy_reg._reconstructor"},
		{"numpy scalar", glob("numpy.core.multiarray", "scalar") + ")R", "numpy.core.multiarray.scalar"},
		{"whole module", glob("torchvision.models.resnet", "ResNet") + ")\x81", "torchvision.models.resnet.ResNet"},
		{"torch.load", glob("torch.serialization", "load") + call + "R", "torch.serialization.load"},
		{"attribute of an allowed one", glob("torch", "Size.__class__") + ")R", "torch.Size.__class__"},
		{"dots moved", glob("torch._utils._rebuild", "tensor_v2") + ")R", "torch._utils._rebuild.tensor_v2"},
		{"stack global", "\x8c\x02os\x8c\x06system\x93" + call + "R", "os.system"},
		{"stack global, memoized", "\x8c\x02os\x94\x8c\x06system\x94\x93" + call + "R", "os.system"},
		{"stack global, from the memo", "\x8c\x02os\x94\x8c\x06system\x9400h\x00h\x01\x93" + call + "R", "os.system"},
		{"stack global, memo of PUT", "\x8c\x02osr\x07\x00\x00\x000j\x07\x00\x00\x00\x8c\x06system\x93" + call + "R", "os.system"},
	} {
		for kind, b := range map[string][]byte{
			"zip": checkpoint(t, c.body, pair{"0", floats(1)}), "legacy": legacy(c.body), "bare pickle": proto2(c.body),
			"protocol 0": []byte("(" + c.body + "."),
		} {
			t.Run(c.name+"/"+kind, func(t *testing.T) {
				_, err := readBytes(b, "evil.pth")
				var refused *RefusedGlobalError
				if !errors.As(err, &refused) {
					t.Fatalf("got %v, want a RefusedGlobalError", err)
				}
				if got := refused.Module + "." + refused.Name; got != c.global || !strings.Contains(err.Error(), c.global) {
					t.Errorf("refused %q in %q, want %q", got, err, c.global)
				}
			})
		}
	}
}

// TestRefusedOperations: ways to make a class or function that do not spell its
// name out, and operations that no state dict needs.
func TestRefusedOperations(t *testing.T) {
	for name, body := range map[string]string{
		"INST":                     "(ios\nsystem\n",
		"OBJ":                      "(" + glob("collections", "OrderedDict") + "o",
		"PERSID":                   "Pstorage\n",
		"EXT1":                     "\x82\x01",
		"EXT2":                     "\x83\x01\x00",
		"EXT4":                     "\x84\x01\x00\x00\x00",
		"NEWOBJ_EX":                glob("collections", "OrderedDict") + ")}\x92",
		"NEXT_BUFFER":              "\x97",
		"stack global, made names": tupleOf(str("os")) + str("system") + "\x93",
		"stack global, one name":   str("system") + "\x93",
		"stack global, DUP":        str("os") + "2\x93",
		"stack global, empty memo": str("os") + "h\x05\x93",
		"stack global, old memo":   "Sx\nq\x00" + "0" + str("os") + "h\x00\x93",
		"unknown":                  "\xff",
	} {
		t.Run(name, func(t *testing.T) {
			if f, err := readBytes(checkpoint(t, body), "a.pth"); err == nil {
				t.Errorf("accepted: %+v", f)
			}
		})
	}
}

// TestAllowedStackGlobal: pickle protocol 4 spells allowed names on the stack.
func TestAllowedStackGlobal(t *testing.T) {
	body := "\x8c\x0bcollections\x94\x8c\x0bOrderedDict\x94\x93\x94)R(" + str("w") + vector("0", 2) + "u"
	_, v := onlyTensor(t, checkpoint(t, body, pair{"0", floats(1, 2)}))
	if !slices.Equal(v, []float32{1, 2}) {
		t.Errorf("got %v", v)
	}
}

func TestViews(t *testing.T) {
	six := pair{"0", floats(0, 1, 2, 3, 4, 5)}
	on := onStorage("FloatStorage", "0", 6)
	for _, c := range []struct {
		name           string
		offset         int
		shape, strides []int
		want           []float32
	}{
		{"all", 0, []int{2, 3}, []int{3, 1}, []float32{0, 1, 2, 3, 4, 5}},
		{"transposed", 0, []int{3, 2}, []int{1, 3}, []float32{0, 3, 1, 4, 2, 5}},
		{"offset", 4, []int{2}, []int{1}, []float32{4, 5}},
		{"every other", 1, []int{3}, []int{2}, []float32{1, 3, 5}},
		{"scalar", 5, nil, nil, []float32{5}},
		{"expanded", 2, []int{2, 2}, []int{0, 1}, []float32{2, 3, 2, 3}},
		{"overlapping windows", 0, []int{3, 4}, []int{1, 1}, []float32{0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5}},
		{"axes of one, wild strides", 1, []int{1, 2, 1}, []int{77, 1, 1 << 30}, []float32{1, 2}},
		{"no elements", 6, []int{0, 3}, []int{3, 1}, []float32{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := dictOf(str("w"), tensorOn(on, c.offset, c.shape, c.strides))
			for kind, b := range map[string][]byte{"zip": checkpoint(t, body, six), "legacy": legacy(body, six)} {
				got, v := onlyTensor(t, b)
				if !slices.Equal(v, c.want) || !slices.Equal(got.Shape, c.shape) {
					t.Errorf("%s: got %v %v, want %v %v", kind, got.Shape, v, c.shape, c.want)
				}
			}
		})
	}
}

func TestViewsOutside(t *testing.T) {
	const big = 1<<31 - 1
	six := pair{"0", floats(0, 1, 2, 3, 4, 5)}
	on := onStorage("FloatStorage", "0", 6)
	for _, c := range []struct {
		name           string
		offset         int
		shape, strides []int
		want           string
	}{
		{"one too many", 0, []int{7}, []int{1}, "beyond the storage"},
		{"offset pushes it out", 1, []int{2, 3}, []int{3, 1}, "beyond the storage"},
		{"offset at the end", 6, nil, nil, "beyond the storage"},
		{"offset beyond", 7, []int{0}, []int{1}, "offset is out of range"},
		{"negative offset", -1, []int{1}, []int{1}, "offset is out of range"},
		{"negative stride", 5, []int{6}, []int{-1}, "negative"},
		{"negative shape", 0, []int{-1}, []int{1}, "negative"},
		{"ranks differ", 0, []int{1, 1}, []int{1}, "differ in length"},
		{"huge stride", 0, []int{2}, []int{big}, "beyond the storage"},
		{"overflowing reach", 0, []int{3, 3}, []int{1 << 30, 1 << 30}, "beyond the storage"},
		{"too many elements", 0, []int{big, big}, []int{big, big}, "too large"},
		{"overflowing count", 0, []int{big, big, big}, []int{0, 0, 0}, "too large"},
		{"too many axes", 0, make([]int, 65), make([]int, 65), "65 axes"},
		{"expanded into a bomb", 0, []int{big}, []int{0}, "far more memory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := dictOf(str("w"), tensorOn(on, c.offset, c.shape, c.strides))
			for kind, b := range map[string][]byte{"zip": checkpoint(t, body, six), "legacy": legacy(body, six)} {
				_, err := readBytes(b, "a.pth")
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: got %v, want an error containing %q", kind, err, c.want)
				}
			}
		})
	}
}

// Of several state dicts, one is taken and the others are named; FILE:ENTRY takes another.
func TestChosenEntry(t *testing.T) {
	w, m := dictOf(str("w"), vector("0", 1)), dictOf(str("w"), vector("1", 1))
	file := func(body string) string {
		path := filepath.Join(t.TempDir(), "a.pth")
		fatal.If(t, os.WriteFile(path, checkpoint(t, body, pair{"0", floats(1)}, pair{"1", floats(2)}), 0o666))
		return path
	}
	both, prefixed := file(dictOf(str("state_dict"), w, str("state_dict_ema"), m)), file(dictOf(str("state_dict"), dictOf(str("model.w"), vector("0", 1), str("ema.w"), vector("1", 1))))
	digests := map[string]bool{}
	for _, c := range []struct {
		path, entry string
		want        byte // the last one of 1 and 2 in float32
		note        string
	}{
		{both, "", 0x3f, `["state_dict_ema"], too`},
		{both, ":state_dict_ema", 0x40, `["state_dict"], too`},
		{file(dictOf(str("model_ema"), m, str("model"), w, str("args"), "}")), "", 0x3f, `["model_ema"], too`},
		{file(dictOf(str("student"), w, str("teacher"), m)), ":teacher", 0x40, `["student"], too`},
		{prefixed, ":ema", 0x40, ""},
		{prefixed, ":model", 0x3f, ""},
	} {
		f, err := Open(c.path + c.entry)
		if err != nil {
			t.Errorf("%s: %v", c.entry, err)
			continue
		}
		if v := f.Tensors[0]; v.Name != "w" || v.Data[3] != c.want || f.Name != "a.pth"+c.entry || !strings.Contains(strings.Join(f.Notes, ""), c.note) {
			t.Errorf("%s: tensor %+v, notes %q", f.Name, v, f.Notes)
		}
		digests[f.Digest] = true
	}
	if len(digests) != 6 {
		t.Errorf("%d digests, want 6", len(digests))
	}
	if f, err := Open(prefixed + ":nope"); err == nil || !strings.Contains(err.Error(), `no entry "nope"`) {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestStateDictIn(t *testing.T) {
	w, m := vector("0", 1), vector("1", 1)
	both := []pair{{"0", floats(1)}, {"1", floats(2)}}
	meta := "}" + str("_metadata") + glob("collections", "OrderedDict") + ")Rs" + "b" // OrderedDict.__dict__
	ordered := glob("collections", "OrderedDict") + ")R(" + str("w") + w + "u" + meta
	for _, c := range []struct {
		name, body string
		notes      []string
	}{
		{"top", dictOf(str("w"), w), nil},
		{"ordered, with _metadata", ordered, nil},
		{"state_dict", dictOf(str("epoch"), num(3), str("state_dict"), dictOf(str("w"), w)), []string{"state_dict"}},
		{"model before optimizer", dictOf(str("optimizer"), dictOf(str("m"), m), str("model"), ordered), []string{"model"}},
		{"net", dictOf(str("net"), dictOf(str("w"), w), str("acc"), "G\x3f\xf0\x00\x00\x00\x00\x00\x00"), []string{"net"}},
		{"tensors beside", dictOf(str("best_acc1"), m, str("state_dict"), dictOf(str("w"), w)), []string{"state_dict"}},
		{"a dict beside", dictOf(str("w"), w, str("model"), dictOf(str("name"), num(1))), []string{`left out: ["model"]`}},
		{"model_state_dict", dictOf(str("model_state_dict"), dictOf(str("w"), w)), []string{"model_state_dict"}},
		{"two levels", dictOf(str("model"), dictOf(str("state_dict"), dictOf(str("w"), w))), []string{"model.state_dict"}},
		{"unusual key, the only dict", dictOf(str("ema"), dictOf(str("w"), w), str("args"), "}"), []string{"ema"}},
		{"something else beside", dictOf(str("w"), w, str("extra"), num(1)), []string{`left out: ["extra"]`}},
		{"parameter", dictOf(str("w"), glob("torch._utils", "_rebuild_parameter")+tupleOf(w, "\x88", "}")+"R"), nil},
		{"old parameter", dictOf(str("w"), glob("torch.nn.parameter", "Parameter")+tupleOf(w)+"R"+tupleOf("\x88", "\x89", "}")+"b"), nil},
		{"older parameter", dictOf(str("w"), glob("torch.nn.parameter", "Parameter")+tupleOf(w)+"\x81"), nil},
		{"torch.Size", dictOf(str("w"), glob("torch._utils", "_rebuild_tensor")+
			tupleOf(onStorage("FloatStorage", "0", 1), num(0), glob("torch", "Size")+tupleOf(nums(1))+"R", nums(1))+"R"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := fatal.Get(readBytes(checkpoint(t, c.body, both...), "a.pth"))(t)
			if len(f.Notes) != len(c.notes) {
				t.Fatalf("notes %q, want %d", f.Notes, len(c.notes))
			}
			for i := range c.notes {
				if !strings.Contains(f.Notes[i], c.notes[i]) {
					t.Errorf("note %q, want one about %s", f.Notes[i], c.notes[i])
				}
			}
			if v, err := f.Tensors[0].Float32s(); err != nil || f.Tensors[0].Name != "w" || !slices.Equal(v, []float32{1}) {
				t.Errorf("got %s = %v, %v", f.Tensors[0].Name, v, err)
			}
		})
	}
}

// TestDamaged is a list of files that are refused, with a word of the reason.
func TestDamaged(t *testing.T) {
	w := dictOf(str("w"), vector("0", 2))
	two := pair{"0", floats(1, 2)}
	pkl := pair{"a/data.pkl", string(proto2(w))}
	good := checkpoint(t, w, two)
	flipped := bytes.Clone(good)
	flipped[bytes.Index(flipped, []byte(floats(1, 2)))+5] ^= 1
	encrypted := bytes.Clone(good)
	for i := bytes.Index(encrypted, []byte("PK\x01\x02")); i >= 0; i = -1 {
		encrypted[i+8] |= 1
	}
	self := "]q\x00h\x00a" // a list that holds itself
	for _, c := range []struct {
		name string
		b    []byte
		want string
	}{
		{"empty", nil, "empty"},
		{"text", []byte("hello, world"), "neither"},
		{"LFS pointer", []byte("version https://git-lfs.github.com/spec/v1\noid sha256:00\n"), "Git LFS"},
		{"web page", []byte("\n<!DOCTYPE html><html>"), "web page"},
		{"empty zip", archive(t, zip.Store), "without data.pkl"},
		{"zip of something else", archive(t, zip.Store, pair{"a.txt", "x"}), "without data.pkl"},
		{"TorchScript", archive(t, zip.Store, pkl, pair{"a/constants.pkl", ""}), "TorchScript"},
		{"two checkpoints", archive(t, zip.Store, pkl, pair{"b/data.pkl", "x"}), "more than one data.pkl"},
		{"entry twice", archive(t, zip.Store, pkl, pkl), "occurs twice"},
		{"big-endian", archive(t, zip.Store, pkl, pair{"a/byteorder", "big"}), "byte order"},
		{"compressed", archive(t, zip.Deflate, pkl, pair{"a/data/0", floats(1, 2)}), "compressed"},
		{"bit flipped", flipped, "checksum"},
		{"encrypted", encrypted, "encrypted"},
		{"storage missing", checkpoint(t, w), `no entry "a/data/0"`},
		{"storage short", checkpoint(t, w, pair{"0", floats(1)}), "has 4 bytes, want 8"},
		{"storage long", checkpoint(t, w, pair{"0", floats(1, 2, 3)}), "has 12 bytes, want 8"},
		{"bytes after the pickle", archive(t, zip.Store, pair{"a/data.pkl", pkl.content + "x"}), "after the pickle"},
		{"no pickle", archive(t, zip.Store, pair{"a/data.pkl", ""}), "too early"},
		{"a tensor", checkpoint(t, vector("0", 2), two), "not a dict of tensors"},
		{"a number", checkpoint(t, num(1)), "not a dict of tensors"},
		{"a list", checkpoint(t, "]"), "not a dict of tensors"},
		{"a storage", checkpoint(t, onStorage("FloatStorage", "0", 2), two), "not a dict of tensors"},
		{"no tensors", checkpoint(t, dictOf(str("a"), num(1))), `no state dict found among the checkpoint's entries ["a"]`},
		{"two candidates", checkpoint(t, dictOf(str("a"), w, str("b"), w), two), "several state dicts: choose one, such as a.pth:a"},
		{"empty dict", checkpoint(t, "}"), "no state dict found"},
		{"dict in itself", checkpoint(t, "}q\x00"+str("model")+"h\x00s"), "no tensors"},
		{"list in itself", checkpoint(t, self), "not a dict"},
		{"list in itself, called", checkpoint(t, self+")R"), "damaged pickle"},
		{"list in itself as a name", checkpoint(t, self+"}b"), "not a dict"},
		{"key is a number", checkpoint(t, dictOf(num(1), vector("0", 2)), two), "no string"},
		{"name twice", checkpoint(t, dictOf(str("w"), vector("0", 2), str("w"), vector("0", 2)), two), `"w" occurs twice`},
		{"odd number of items", checkpoint(t, dictOf(str("w"))), "damaged pickle"},
		{"empty stack", checkpoint(t, "R"), "damaged pickle"},
		{"no mark", checkpoint(t, "t"), "damaged pickle"},
		{"calling a number", checkpoint(t, num(1)+")R"), "damaged pickle"},
		{"calling a storage class", checkpoint(t, glob("torch", "FloatStorage")+")R"), "damaged pickle"},
		{"tensor without arguments", checkpoint(t, glob("torch._utils", "_rebuild_tensor_v2")+")R"), "from 0 arguments"},
		{"tensor on no storage", checkpoint(t, tensorOn(num(1), 0, nil, nil)), "without a storage"},
		{"shape of strings", checkpoint(t, glob("torch._utils", "_rebuild_tensor_v2")+
			tupleOf(onStorage("FloatStorage", "0", 2), num(0), tupleOf(str("2")), nums(1))+"R", two), "no integers"},
		{"shape of long integers", checkpoint(t, glob("torch._utils", "_rebuild_tensor_v2")+
			tupleOf(onStorage("FloatStorage", "0", 2), num(0), tupleOf("\x8a\x0a"+strings.Repeat("\x7f", 10)), nums(1))+"R", two), "no integers"},
		{"parameter of a number", checkpoint(t, glob("torch.nn.parameter", "Parameter")+tupleOf(num(1))+"R"), "no tensor"},
		{"size of a string", checkpoint(t, glob("torch", "Size")+tupleOf(str("x"))+"R"), "torch.Size"},
		{"persistent ID of no storage", checkpoint(t, tupleOf(str("module"))+"Q"), "no storage"},
		{"persistent ID, a number", checkpoint(t, num(1)+"Q"), "no storage"},
		{"storage of negative size", checkpoint(t, onStorage("FloatStorage", "0", -1)), "bad number of elements"},
		{"storage of 2^62 elements", checkpoint(t, tupleOf(str("storage"), glob("torch", "FloatStorage"), str("0"), str("cpu"),
			"\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x40")+"Q"), "bad number of elements"},
		{"string of 4 GiB", checkpoint(t, "X\xff\xff\xff\xff"), "too early"},
		{"bytes of 2^63", checkpoint(t, "\x8e\x00\x00\x00\x00\x00\x00\x00\x80"), "too early"},
		{"too many operations", checkpoint(t, strings.Repeat("(", maxOps)), "operations"},
		{"as many marks as may be", checkpoint(t, strings.Repeat("(", maxOps-2)), "not a dict"},
		{"too large a pickle", checkpoint(t, strings.Repeat(str(strings.Repeat("x", 1<<20)), 9)), "more than"},

		{"legacy, only the magic", legacy("")[:15], "too early"},
		{"legacy, no magic", proto2(num(1)), "no magic number"},
		{"legacy, other version", append(bytes.Clone(legacy("")[:15]), proto2(num(7))...), "version"},
		{"legacy, storage not listed", legacy(w), "no such storage"},
		{"legacy, storage of no tensor", legacy("}", two), "is of no tensor"},
		{"legacy, storage twice", legacy(w, two, two), "occurs twice"},
		{"legacy, other count", legacy(w, pair{"0", floats(1)}), "1 elements in the file, want 2"},
		{"legacy, bytes after", append(legacy(w, two), 0), "1 bytes after the last storage"},
		{"legacy, two types", legacy(dictOf(str("w"), vector("0", 2), str("v"), tensorOn(onStorage("IntStorage", "0", 2), 0, nil, nil)), two), "described in two ways"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := readBytes(c.b, "a.pth")
			if err == nil {
				t.Fatalf("accepted: %+v", f)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q does not contain %q", err, c.want)
			}
			if len(err.Error()) > 1000 {
				t.Errorf("error of %d bytes", len(err.Error()))
			}
		})
	}
}

// TestTruncated cuts each golden file at every length.
func TestTruncated(t *testing.T) {
	for _, name := range []string{"tiny.pth", "tiny_legacy.pth", "tiny_views.pth", "tiny.safetensors"} {
		b := fatal.Get(os.ReadFile(filepath.Join("testdata", name)))(t)
		for n := range b {
			if _, err := readBytes(b[:n], name); err == nil {
				t.Errorf("%s: accepted when cut to %d of %d bytes", name, n, len(b))
			}
		}
	}
}

// TestLegacyView: torch before 0.4 could store a slice of an array as a storage.
func TestLegacyView(t *testing.T) {
	on := tupleOf(str("storage"), glob("torch", "FloatStorage"), str("9"), str("cpu"), num(6),
		tupleOf(str("8"), num(2), num(3))) + "Q"
	six := pair{"9", floats(0, 1, 2, 3, 4, 5)}
	_, v := onlyTensor(t, legacy(dictOf(str("w"), tensorOn(on, 1, []int{2}, []int{1})), six))
	if !slices.Equal(v, []float32{3, 4}) {
		t.Errorf("got %v, want [3 4]", v)
	}
	if _, err := readBytes(legacy(dictOf(str("w"), tensorOn(on, 0, []int{4}, []int{1})), six), "a.pth"); err == nil {
		t.Error("a tensor beyond the view was accepted")
	}
}

// TestOverlappingEntries: many names for the same bytes of the archive must not
// multiply the memory. Every entry points at the local header of the first.
func TestOverlappingEntries(t *testing.T) {
	const n, elements = 200, 1 << 20
	content := strings.Repeat("\x00", 4*elements)
	items := []string{}
	for i := range n {
		items = append(items, str(fmt.Sprint("w", i)), vector(fmt.Sprint(i), elements))
	}
	entries := []pair{{"a/data.pkl", string(proto2(dictOf(items...)))}, {"a/data/0", content}}
	for i := 1; i < n; i++ {
		entries = append(entries, pair{fmt.Sprint("a/data/", i), ""})
	}
	b := archive(t, zip.Store, entries...)
	le := binary.LittleEndian
	var first []byte
	for at := bytes.Index(b, []byte("PK\x01\x02")); bytes.HasPrefix(b[at:], []byte("PK\x01\x02")); {
		e := b[at:]
		name := string(e[46 : 46+le.Uint16(e[28:])])
		if name == "a/data/0" {
			first = e
		} else if strings.HasPrefix(name, "a/data/") {
			copy(e[16:28], first[16:28]) // CRC-32 and sizes
			copy(e[42:46], first[42:46]) // offset of the local header
		}
		at += 46 + int(le.Uint16(e[28:])) + int(le.Uint16(e[30:])) + int(le.Uint16(e[32:]))
	}
	_, err := readBytes(b, "a.pth")
	if err == nil || !strings.Contains(err.Error(), "far more memory") {
		t.Errorf("got %v", err)
	}
}
