package hub

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

const (
	commit = "0123456789abcdef0123456789abcdef01234567"
	body   = "the network"
)

// serve is a hub with one repository, who/net, whose file model.onnx has the given content.
func serve(t *testing.T, listing, content string) (requests *int) {
	t.Helper()
	requests = new(int)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*requests++
		if strings.HasPrefix(r.URL.Path, "/api/models/who/net/revision/") {
			fmt.Fprint(w, listing)
			return
		}
		fmt.Fprint(w, content)
	}))
	t.Cleanup(h.Close)
	t.Setenv("HF_ENDPOINT", h.URL)
	return requests
}

func lists(sha, name string, size int, digest string) string {
	return fmt.Sprintf(`{"id":"who/net","sha":%q,"siblings":[{"rfilename":%q,"size":%d,"lfs":{"sha256":%q}}],"cardData":{"license":["mit"]}}`, sha, name, size, digest)
}

func TestDownload(t *testing.T) {
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte(body)))
	requests := serve(t, lists(commit, "onnx/model.onnx", len(body), digest), body)
	dir := t.TempDir()
	for range 2 { // the second time from the cache
		r, err := Open(t.Context(), dir, "who/net", "")
		if err != nil || r.Commit != commit || r.Licence != "mit" || len(r.Files) != 1 || r.Files[0].Name != "onnx/model.onnx" || r.Files[0].Size != int64(len(body)) {
			t.Fatalf("got %+v, %v", r, err)
		}
		paths := fatal.Get(r.Download(t.Context(), "onnx/model.onnx"))(t)
		if b, err := os.ReadFile(paths[0]); string(b) != body {
			t.Errorf("got %q, %v", b, err)
		}
		fatal.Says(t, fatal.Err(r.Download(t.Context(), "other")), `no file "other"`)
	}
	if *requests != 2 {
		t.Errorf("%d requests, want 2", *requests)
	}
}

// A hub that lies is refused in one line, and writes nothing outside of the cache.
func TestLies(t *testing.T) {
	for name, c := range map[string]struct{ listing, content, want string }{
		"commit that climbs": {lists("../../../planted", "model.onnx", 11, ""), body, "names the commit"},
		"short commit":       {lists("abc", "model.onnx", 11, ""), body, "names the commit"},
		"name that climbs":   {lists(commit, "../../planted", 11, ""), body, "no name in a repository"},
		"absolute name":      {lists(commit, "/planted", 11, ""), body, "no name in a repository"},
		"Windows name":       {lists(commit, `a\..\planted`, 11, ""), body, "no name in a repository"},
		"more than listed":   {lists(commit, "model.onnx", 11, ""), body + "!", "want 11"},
		"less than listed":   {lists(commit, "model.onnx", 11, ""), "the", "want 11"},
		"other content":      {lists(commit, "model.onnx", 11, strings.Repeat("0", 64)), body, "SHA-256"},
		"negative size":      {lists(commit, "model.onnx", -1, ""), body, "at most 64 GiB"},
		"size of 10^18":      {lists(commit, "model.onnx", 1e18, ""), body, "at most 64 GiB"},
		"long listing":       {strings.Repeat(" ", maxListing+1), body, "more than"},
		"listing of null":    {"null", body, "names the commit"},
		"listing of nothing": {"", body, "listing"},
	} {
		t.Run(name, func(t *testing.T) {
			serve(t, c.listing, c.content)
			root := t.TempDir()
			dir := filepath.Join(root, "a", "b", "c", "cache")
			r, err := Open(t.Context(), dir, "who/net", "")
			if err == nil {
				_, err = r.Download(t.Context(), "model.onnx")
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 1000 {
				t.Errorf("got %.2000v, want an error with %q", err, c.want)
			}
			filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() && p != filepath.Join(Folder(dir, "who/net"), "info", "main") {
					t.Errorf("it wrote %s", p)
				}
				return nil
			})
		})
	}
}

// Plain HTTP is for this machine alone, and names have two words.
func TestEndpoint(t *testing.T) {
	for _, endpoint := range []string{"http://example.invalid", "http://127.0.0.1.example.invalid/x", "ftp://127.0.0.1", "example.invalid", "http://"} {
		t.Setenv("HF_ENDPOINT", endpoint)
		fatal.Says(t, fatal.Err(Open(t.Context(), t.TempDir(), "who/net", "")), "HF_ENDPOINT")
	}
	for _, name := range []string{"net", "../net", "who/..", "who/net/x", "who/net\n"} {
		if _, err := Open(t.Context(), t.TempDir(), name, ""); err == nil || strings.Contains(err.Error(), "HF_ENDPOINT") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// A hub that does not answer holds nobody up.
func TestCancelled(t *testing.T) {
	stop := make(chan struct{})
	h := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stop }))
	defer h.Close()
	defer close(stop)
	t.Setenv("HF_ENDPOINT", h.URL)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := Open(ctx, t.TempDir(), "who/net", ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
