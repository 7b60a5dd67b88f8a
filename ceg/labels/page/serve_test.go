package page_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/labels/page"
	"github.com/ledg-go/ledg/internal/fatal"
)

// listen serves the page of a ledger in a folder until the test ends, or until it is stopped.
func listen(t *testing.T) (ledger string, place page.Place, ended <-chan error) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	root, dir := images(t, 1, 1), t.TempDir()
	o := options(t, folder(t, root), root, dir, animals)
	l, place := fatal.Get2(page.Listen(o.Ledger.Path(), page.Place{}))(t)
	o.Place = place
	s := fatal.Get(page.New(o))(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() { cancel(); s.Close() })
	return o.Ledger.Path(), place, done
}

// Another program on the last port does not learn the token, and a server that starts then has a
// new token.
func TestStrangerAtThePort(t *testing.T) {
	ledger, place, ended := listen(t)
	if r, ok := place.Alive(t.Context()); !ok || r.Process != os.Getpid() || len(r.Classes) != len(animals) {
		t.Fatalf("%+v, %v", r, ok)
	}
	fatal.If(t, place.Stop(t.Context()))
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", place.Port))
	if err != nil {
		t.Skip("the port was taken by somebody else:", err)
	}
	var mu sync.Mutex
	var heard []string
	stranger := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, fmt.Sprint(r.URL, r.Header, string(data)))
		if len(heard)%2 == 0 {
			http.Redirect(w, r, "/elsewhere/setup", http.StatusTemporaryRedirect)
			return
		}
		w.Header().Set("Signature", r.Header.Get("Signature"))
		fmt.Fprint(w, "{}")
	})}
	go stranger.Serve(l)
	defer stranger.Close()
	for range 4 {
		if _, ok := page.Remembered(ledger).Alive(t.Context()); ok {
			t.Error("a stranger is taken for the server")
		}
		if err := place.Stop(t.Context()); err == nil {
			t.Error("a stranger was stopped")
		}
	}
	mu.Lock()
	if text := strings.Join(heard, "\n"); len(heard) < 8 || strings.Contains(text, place.Token) {
		t.Errorf("the stranger has heard the token %s, or nothing:\n%s", place.Token, text)
	}
	mu.Unlock()
	again, next := fatal.Get2(page.Listen(ledger, page.Place{}))(t)
	defer again.Close()
	if next.Port == place.Port || next.Token == place.Token {
		t.Errorf("the new place is %+v, the old one %+v", next, place)
	}
	if now := page.Remembered(ledger); now != next {
		t.Errorf("remembered is %+v, want %+v", now, next)
	}
}

// What somebody else can have written is not remembered: a file or a folder that belongs to
// another user or that others can write to, and a link.
func TestPlantedPlace(t *testing.T) {
	cache, ledger := t.TempDir(), filepath.Join(t.TempDir(), "labels.jsonl")
	t.Setenv("XDG_CACHE_HOME", cache)
	l, place := fatal.Get2(page.Listen(ledger, page.Place{}))(t)
	l.Close()
	file := fatal.Get(page.CacheFile(ledger, ".json"))(t)
	dir := filepath.Dir(file)
	known := func() bool { return page.Remembered(ledger).Token == place.Token }
	if !known() {
		t.Fatal("the place is not remembered")
	}
	set := func(path string, mode fs.FileMode) {
		fatal.If(t, os.Chmod(path, mode))
	}
	for _, c := range []struct {
		title      string
		hurt, heal func()
	}{
		{"a file that others can write", func() { set(file, 0o622) }, func() { set(file, 0o600) }},
		{"a file that others can read", func() { set(file, 0o644) }, func() { set(file, 0o600) }},
		{"a folder that others can write to", func() { set(dir, 0o777) }, func() { set(dir, 0o700) }},
		{"a link", func() { os.Rename(file, file+"2"); os.Symlink(file+"2", file) }, func() { os.Remove(file + "2") }},
		{"a file of another user", func() { os.Chown(file, 65534, -1) }, func() { os.Chown(file, os.Geteuid(), -1) }},
		{"a folder of another user", func() { os.Chown(dir, 65534, -1) }, func() { os.Chown(dir, os.Geteuid(), -1) }},
	} {
		if strings.HasSuffix(c.title, "another user") && os.Geteuid() != 0 {
			continue // only root gives files away
		}
		c.hurt()
		if known() {
			t.Errorf("%s is believed", c.title)
		}
		l, again, err := page.Listen(ledger, page.Place{})
		if l != nil {
			l.Close()
		}
		if again.Token == place.Token || err != nil && !errors.Is(err, page.ErrForgotten) {
			t.Errorf("%s: the new place has the old secret, or %v", c.title, err)
		}
		c.heal()
		if err == nil { // a new file is in its place
			place = again
		}
		if !known() {
			t.Errorf("after %s: the place is not remembered", c.title)
		}
	}
}

// Only one process serves a ledger.
func TestClaim(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	ledger := filepath.Join(t.TempDir(), "labels.jsonl")
	release, ok, err := page.Claim(ledger)
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	if _, ok, err := page.Claim(ledger); ok || err != nil {
		t.Errorf("claimed twice: %v, %v", ok, err)
	}
	fatal.If(t, release())
	if release, ok, err := page.Claim(ledger); !ok || err != nil {
		t.Errorf("not free again: %v, %v", ok, err)
	} else if err := release(); err != nil {
		t.Error(err)
	}
}

// Connections that wait, and bodies that never end, keep nobody else out and are closed.
func TestConnectionsAreBounded(t *testing.T) {
	_, place, _ := listen(t)
	half := fatal.Get(net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", place.Port)))(t)
	defer half.Close()
	page := fatal.Get(url.Parse(place.Address("ann")))(t)
	fmt.Fprintf(half, "POST %sact HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", page.Path)
	open := 0
	for range 2000 {
		c := fatal.Get(net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", place.Port)))(t)
		defer c.Close()
		fmt.Fprintf(c, "GET /no HTTP/1.1\r\n") // and no more
		c.SetReadDeadline(time.Now().Add(time.Millisecond))
		if _, err := c.Read(make([]byte, 1)); os.IsTimeout(err) {
			open++
		}
	}
	if open < 100 || open > 1000 {
		t.Errorf("%d connections of 2000 are kept open", open)
	}
	if testing.Short() {
		t.Skip("waits for the server's time limits")
	}
	for begun := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		if _, ok := place.Alive(t.Context()); ok {
			break
		}
		if time.Since(begun) > 20*time.Second {
			t.Fatal("nobody else gets in")
		}
	}
	half.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.Copy(io.Discard, half); err != nil {
		t.Errorf("half a body is waited for: %v", err)
	}
}
