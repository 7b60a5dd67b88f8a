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
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/labels/page"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// listen serves the page of a ledger in a folder until the test ends, or until it is stopped.
func listen(t *testing.T) (ledger string, running page.Running, ended <-chan error) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	root, dir := images(t, 1, 1), t.TempDir()
	o := options(t, folder(t, root), root, dir, animals)
	release, ok := fatal.Get2(page.Claim(o.Ledger.Path()))(t)
	if !ok {
		t.Fatal("it is claimed already")
	}
	l, running := fatal.Get2(page.Listen(o.Ledger.Path(), page.Running{By: o.By, Classes: animals}))(t)
	o.Running = running
	if _, ok := page.Serving(o.Ledger.Path()); ok || page.Stop(t.Context(), o.Ledger.Path()) == nil {
		t.Error("a server is known before it can serve")
	}
	s := fatal.Get(page.New(o))(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- errors.Join(s.Serve(ctx, l), release()) }()
	t.Cleanup(func() { cancel(); s.Close() })
	return o.Ledger.Path(), running, done
}

// A server is known to other programs until it is stopped. One that starts while another program
// has its last port has a new token.
func TestStop(t *testing.T) {
	ledger, first, ended := listen(t)
	if r, ok := page.Serving(ledger); !ok || r.Process != os.Getpid() || len(r.Classes) != len(animals) {
		t.Fatalf("%+v, %v", r, ok)
	}
	fatal.If(t, page.Stop(t.Context(), ledger))
	fatal.If(t, <-ended)
	if r, ok := page.Serving(ledger); ok {
		t.Errorf("%+v still serves", r)
	}
	stranger, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", first.Port))
	if err != nil {
		t.Skip("the port was taken by somebody else:", err)
	}
	defer stranger.Close()
	l, next := fatal.Get2(page.Listen(ledger, page.Running{}))(t)
	defer l.Close()
	if next.Port == first.Port || next.Token == first.Token || page.Remembered(ledger).Address != next.Address {
		t.Errorf("the new address is %+v, the old one %+v", next, first)
	}
	if _, ok := page.Serving(ledger); ok {
		t.Error("a process serves without a claim")
	}
}

// What somebody else can have written is not remembered: a file or a folder that belongs to
// another user or that others can write to, and a link.
func TestPlantedPlace(t *testing.T) {
	cache, ledger := t.TempDir(), filepath.Join(t.TempDir(), "labels.jsonl")
	t.Setenv("XDG_CACHE_HOME", cache)
	l, place := fatal.Get2(page.Listen(ledger, page.Running{}))(t)
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
		l, again, err := page.Listen(ledger, page.Running{})
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
	client := http.Client{Timeout: 2 * time.Second}
	half := fatal.Get(net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", place.Port)))(t)
	defer half.Close()
	page := fatal.Get(url.Parse(place.Link("ann")))(t)
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
		if reply, err := client.Get(place.Link("ann")); err == nil {
			reply.Body.Close()
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
