package weights

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func TestSaveRoundTrip(t *testing.T) {
	for _, name := range []string{"tiny.pth", "tiny_legacy.pth", "tiny_views.pth", "tiny.safetensors"} {
		t.Run(name, func(t *testing.T) {
			in := fatal.Get(Open(filepath.Join("testdata", name)))(t)
			meta := map[string]string{"data": "nothing", "format": "pt"}
			path := filepath.Join(t.TempDir(), "out.safetensors")
			fatal.If(t, os.WriteFile(path, []byte("an older file"), 0o644))
			digest := fatal.Get(Save(path, in.Tensors, meta))(t)
			out := fatal.Get(Open(path))(t)
			if !reflect.DeepEqual(out.Tensors, in.Tensors) || !reflect.DeepEqual(out.Metadata, meta) {
				t.Errorf("got %+v %v", out.Tensors, out.Metadata)
			}
			raw := fatal.Get(os.ReadFile(path))(t)
			if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != digest || out.Digest != digest {
				t.Errorf("digest %s, read back %s, want %x", digest, out.Digest, sum)
			}
			if again, err := Save(path, out.Tensors, out.Metadata); err != nil || again != digest {
				t.Errorf("saved again: digest %s, %v, want %s", again, err, digest)
			}
			if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
				t.Errorf("files left: %v", left)
			}
		})
	}
}

// TestSaveFails: an error leaves the old file and nothing else.
func TestSaveFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "w.safetensors")
	fatal.If(t, os.WriteFile(path, []byte("old"), 0o644))
	twice := StateDict{FromFloat32("a", nil, []float32{1}), FromFloat32("a", nil, []float32{2})}
	fatal.Says(t, fatal.Err(Save(path, twice, nil)), `"a" occurs twice`)
	if raw, err := os.ReadFile(path); err != nil || string(raw) != "old" {
		t.Errorf("the old file holds %q, %v", raw, err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("files left: %v", left)
	}
	if _, err := Save(filepath.Join(dir, "none", "w.safetensors"), nil, nil); err == nil {
		t.Error("saved into a directory that does not exist")
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	fatal.Says(t, fatal.Err(Open(dir)), "it is a folder, want a regular file")
	if _, err := Open(filepath.Join(dir, "none.pth")); !os.IsNotExist(err) && (err == nil || !strings.Contains(err.Error(), "none.pth")) {
		t.Errorf("no file: got %v", err)
	}
	sparse := filepath.Join(dir, "huge.pth")
	f := fatal.Get(os.Create(sparse))(t)
	defer f.Close()
	if err := f.Truncate(MaxFile + 1); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	fatal.Says(t, fatal.Err(Open(sparse)), "too large")
	empty := filepath.Join(dir, "e.safetensors")
	fatal.Get(Save(empty, nil, nil))(t)
	fatal.Says(t, fatal.Err(Open(empty)), "no tensors")
}

func TestFromFloat32Panics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	FromFloat32("w", []int{2, 2}, make([]float32, 3))
}
