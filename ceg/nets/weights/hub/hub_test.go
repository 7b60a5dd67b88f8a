package hub

import (
	"context"
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
)

const (
	commit = "0123456789abcdef0123456789abcdef01234567"
	body   = "the network"
)

// server is a hub with one repository, who/net, of one file, model.onnx. Its fields are its lies.
type server struct {
	listing  func(n int) string // of the n-th request, from 1
	header   map[string]string
	body     string
	redirect string
	listings int
}

func (s *server) start(t *testing.T) {
	t.Helper()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/models/who/net/revision/") {
			s.listings++
			fmt.Fprint(w, s.listing(s.listings))
			return
		}
		if s.redirect != "" && r.URL.Path != "/moved" {
			http.Redirect(w, r, s.redirect, http.StatusFound)
			return
		}
		w.Header().Set("ETag", `"abc"`)
		for k, v := range s.header {
			w.Header().Set(k, v)
		}
		if r.Method == http.MethodGet {
			fmt.Fprint(w, s.body)
		}
	}))
	t.Cleanup(h.Close)
	t.Setenv("HF_ENDPOINT", h.URL)
}

func honest() *server {
	return &server{listing: lists(commit, "model.onnx", len(body)), body: body}
}

func lists(sha, name string, size int) func(int) string {
	return func(int) string {
		return fmt.Sprintf(`{"id":"who/net","sha":%q,"siblings":[{"rfilename":%q,"size":%d}],"cardData":{"license":["mit","x"]}}`, sha, name, size)
	}
}

// fetch downloads model.onnx, and returns the names of all files outside of the cache.
func fetch(t *testing.T) (path string, outside []string, err error) {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "a", "b", "c", "cache")
	r, err := Open(t.Context(), dir, "who/net", "")
	if err == nil {
		var paths []string
		if paths, err = r.Download(t.Context(), "model.onnx"); err == nil {
			path = paths[0]
		}
	}
	filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasPrefix(p, dir+string(filepath.Separator)) {
			outside = append(outside, p)
		}
		return nil
	})
	return path, outside, err
}

func TestDownload(t *testing.T) {
	for name, change := range map[string]func(*server){
		"plain":     func(*server) {},
		"weak ETag": func(s *server) { s.header = map[string]string{"ETag": `W/"abc"`} },
		"redirect":  func(s *server) { s.redirect = "/moved" },
	} {
		t.Run(name, func(t *testing.T) {
			s := honest()
			change(s)
			s.start(t)
			path, outside, err := fetch(t)
			if err != nil || outside != nil {
				t.Fatal(outside, err)
			}
			if b, err := os.ReadFile(path); string(b) != body {
				t.Errorf("got %q, %v", b, err)
			}
		})
	}
	honest().start(t)
	r, err := Open(t.Context(), t.TempDir(), "who/net", "main")
	if err != nil || r.Commit != commit || r.Licence != "mit, x" || r.Size("model.onnx") != int64(len(body)) || len(r.Names()) != 1 {
		t.Errorf("got %+v, %v", r, err)
	}
	if _, err := r.Download(t.Context(), "other"); err == nil || !strings.Contains(err.Error(), `no file "other"`) {
		t.Errorf("got %v", err)
	}
}

// A hub that lies is refused in one line, and writes nothing outside of the cache.
func TestLies(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for name, c := range map[string]struct {
		change func(*server)
		want   string
	}{
		"ETag that climbs":        {func(s *server) { s.header = map[string]string{"ETag": `"../../../../../planted"`} }, "ETag"},
		"ETag of a folder":        {func(s *server) { s.header = map[string]string{"ETag": `"x/planted"`} }, "ETag"},
		"absolute ETag":           {func(s *server) { s.header = map[string]string{"ETag": `"/tmp/planted"`} }, "ETag"},
		"hidden ETag":             {func(s *server) { s.header = map[string]string{"ETag": `".planted"`} }, "ETag"},
		"Windows ETag":            {func(s *server) { s.header = map[string]string{"ETag": `"..\..\planted"`} }, "ETag"},
		"linked ETag that climbs": {func(s *server) { s.header = map[string]string{"X-Linked-Etag": `"../../../../../planted"`} }, "ETag"},
		"long ETag":               {func(s *server) { s.header = map[string]string{"ETag": `"` + strings.Repeat("a", 4000) + `"`} }, "ETag"},
		"another commit":          {func(s *server) { s.header = map[string]string{"X-Repo-Commit": "../../x"} }, "of commit"},
		"commit that climbs":      {func(s *server) { s.listing = lists("../../../planted", "model.onnx", len(body)) }, "names the commit"},
		"short commit":            {func(s *server) { s.listing = lists("abc", "model.onnx", len(body)) }, "names the commit"},
		"later another commit": {func(s *server) {
			first := s.listing
			s.listing = func(n int) string {
				if n == 1 {
					return first(n)
				}
				return lists("../../../planted", "model.onnx", len(body))(n)
			}
		}, "names the commit"},
		"last another commit": {func(s *server) {
			first := s.listing
			s.listing = func(n int) string {
				if n < 3 {
					return first(n)
				}
				return lists(strings.Repeat("f", 40), "model.onnx", len(body))(n)
			}
		}, "names the commit"},
		"name that climbs":   {func(s *server) { s.listing = lists(commit, "../../planted", len(body)) }, "no name in a repository"},
		"absolute name":      {func(s *server) { s.listing = lists(commit, "/planted", len(body)) }, "no name in a repository"},
		"more than listed":   {func(s *server) { s.body += long; s.header = map[string]string{"Trailer": "X"} }, "more of"},
		"more, with length":  {func(s *server) { s.body += "!" }, "sends 12 bytes"},
		"less than listed":   {func(s *server) { s.body = "the" }, "sends 3 bytes"},
		"no size":            {func(s *server) { s.listing = lists(commit, "model.onnx", -1) }, "no size"},
		"size of 10^18":      {func(s *server) { s.listing = lists(commit, "model.onnx", 1e18) }, "above 64 GiB"},
		"listing of 40 MB":   {func(s *server) { s.listing = func(int) string { return strings.Repeat(long, 40) } }, "more than 32 MB"},
		"listing of null":    {func(s *server) { s.listing = func(int) string { return "null" } }, "names the commit"},
		"listing of nothing": {func(s *server) { s.listing = func(int) string { return "" } }, "listing"},
		"redirect by HTTP":   {func(s *server) { s.redirect = "http://example.invalid/x" }, "not HTTPS"},
		"redirect elsewhere": {func(s *server) { s.redirect = "ftp://example.invalid/x" }, "not HTTPS"},
		"endless redirects":  {func(s *server) { s.redirect = "/again" }, "redirects more than"},
	} {
		t.Run(name, func(t *testing.T) {
			s := honest()
			c.change(s)
			s.start(t)
			path, outside, err := fetch(t)
			if outside != nil {
				t.Errorf("it wrote %q", outside)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 1000 || strings.Contains(err.Error(), scheme) {
				t.Errorf("got %q, %.2000v, want an error with %q", path, err, c.want)
			}
		})
	}
}

// Plain HTTP is for this machine alone.
func TestEndpoint(t *testing.T) {
	for endpoint, want := range map[string]string{
		"http://example.invalid": "plain HTTP", "http://127.0.0.1.example.invalid/x": "plain HTTP",
		"ftp://127.0.0.1": "want an address", "example.invalid": "want an address", "http://": "want an address",
	} {
		t.Setenv("HF_ENDPOINT", endpoint)
		if _, err := Open(t.Context(), t.TempDir(), "who/net", ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", endpoint, err, want)
		}
	}
	for _, name := range []string{"net", "../net", "who/..", "who/net/x", "who/net\n"} {
		if _, err := Open(t.Context(), t.TempDir(), name, ""); err == nil {
			t.Errorf("%q is taken", name)
		}
	}
}

// A redirect from elsewhere to this machine is not followed.
func TestRedirectInside(t *testing.T) {
	c, err := newCheck(t.Context(), "who/net", "main") // of huggingface.co
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	for address, want := range map[string]string{
		"https://localhost/x": "this machine", "https://[::1]/": "this machine", "http://127.0.0.1/": "this machine",
		"http://example.invalid/": "not HTTPS", "https://example.invalid/": "",
	} {
		r, _ := http.NewRequest(http.MethodGet, address, nil)
		err := c.redirect(r, nil)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", address, err, want)
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
