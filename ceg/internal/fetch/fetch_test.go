package fetch

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// What is fetched is whole and pinned, or the file keeps what it had.
func TestUnpack(t *testing.T) {
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	w := fatal.Get(z.Create("a/lib.so"))(t)
	fatal.Get(w.Write([]byte("library")))(t)
	fatal.If(t, z.Close())
	saved := stall
	stall = 100 * time.Millisecond
	t.Cleanup(func() { stall = saved })
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/x.whl":
			w.Write(packed.Bytes())
		case "/long":
			w.Write(append(packed.Bytes(), 0))
		case "/stalls":
			w.Write(packed.Bytes()[:1])
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case "/away":
			http.Redirect(w, r, "http://example.com/x.whl", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	defer s.Close()
	good := File{Size: int64(packed.Len()), SHA256: fmt.Sprintf("%x", sha256.Sum256(packed.Bytes()))}
	other, short := good, good
	other.SHA256 = strings.Repeat("0", 64)
	short.Size++
	path := filepath.Join(t.TempDir(), "new", "lib.so")
	for _, c := range []struct {
		of                File
		url, member, want string
	}{
		{good, "/x.whl", "a/lib.so", ""},
		{good, "/x.whl", "b", "file does not exist"},
		{other, "/x.whl", "a/lib.so", "want 0000"},
		{short, "/x.whl", "a/lib.so", "bytes"},
		{good, "/long", "a/lib.so", "bytes"},
		{good, "/stalls", "a/lib.so", "nothing has come"},
		{good, "/away", "a/lib.so", "want HTTPS"},
		{good, "/gone", "a/lib.so", "404"},
	} {
		c.of.URL = s.URL + c.url
		err := c.of.Unpack(t.Context(), c.member, path, nil)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q", c.url, err, c.want)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != "library" {
			t.Errorf("%s: the file has %q, %v", c.url, got, err)
		}
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("left behind: %v, %v", files, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Text(ctx, s.URL+"/x.whl", 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	fatal.Says(t, fatal.Err(Text(t.Context(), s.URL+"/x.whl", 10)), "more than 10 bytes")
}

func TestSafe(t *testing.T) {
	for address, want := range map[string]bool{
		"https://a.org/b": true, "http://localhost:80": true, "http://127.0.0.1": true, "http://[::1]/": true,
		"http://a.org": false, "ftp://a.org": false, "https:///b": false, "http://127.0.0.1.a.org": false,
	} {
		u, err := url.Parse(address)
		if err != nil || Safe(u) != want {
			t.Errorf("%s: %v, %v", address, Safe(u), err)
		}
	}
}
