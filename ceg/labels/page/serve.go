package page

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ledg-go/ledg/datasets/regular"
)

// Address is where a ledger's page is served. A restarted server reuses its last address if the
// port is free, so that open pages continue. On another port it has a new token, since another
// program may listen on the old one.
type Address struct {
	// Host is the name or IP address to listen at, empty for the loopback; Name is the public
	// name, if different. TLS is true for an encrypted connection.
	Host string `json:"host,omitempty"`
	Name string `json:"name,omitempty"`
	Port int    `json:"port"`
	TLS  bool   `json:"tls,omitempty"`
	// Token is the server's secret, from which annotators' tokens are derived.
	Token string `json:"token"`
}

// Running is the last server of a ledger. Programs of the user know and stop it by this file in
// the user's cache folder, and by the lock that the server holds.
type Running struct {
	Address
	// Process is the server's, from [New] on; 0 if it is to stop.
	Process int `json:"process,omitempty"`
	// By lists its annotators, Classes its classes.
	By      []string `json:"by,omitempty"`
	Classes []string `json:"classes,omitempty"`

	file string // empty if it cannot be stored
}

// Link returns the address of an annotator's page.
func (a Address) Link(by string) string {
	scheme, host := "http", cmp.Or(a.Name, a.Host)
	if a.TLS {
		scheme = "https"
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return scheme + "://" + net.JoinHostPort(host, strconv.Itoa(a.Port)) + "/" + tokenOf(a.Token, by) + "/"
}

// outward returns the IP address from which this machine reaches others, or its name.
func outward() string {
	if c, err := net.Dial("udp4", "192.0.2.1:9"); err == nil { // looks up a route, and sends nothing
		defer c.Close()
		return c.LocalAddr().(*net.UDPAddr).IP.String()
	}
	name, _ := os.Hostname()
	return name
}

// CacheFile returns the path of this machine's cache file for a ledger's server, with a suffix.
// The content is secret, so a folder that another user owns or can write to is an error.
func CacheFile(ledger, suffix string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	path, err := filepath.Abs(ledger)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	dir := filepath.Join(cache, "ledg", "label")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err == nil && !info.IsDir() {
		err = errors.New("it is no folder")
	}
	if err == nil {
		err = regular.CheckOwner(info, 0o022)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w; name a folder of your own in XDG_CACHE_HOME", dir, err)
	}
	host, _ := os.Hostname()
	return filepath.Join(dir, fmt.Sprintf("%x%s", sha256.Sum256([]byte(host+"\x00"+path)), suffix)), nil
}

// maxStored is the largest size of a cache file, which has all classes, in bytes.
const maxStored = 64 << 20

// load reads a cache file, unless another user could have written it.
func load(ledger, suffix string, into any) (file string, err error) {
	if file, err = CacheFile(ledger, suffix); err != nil {
		return "", err
	}
	data, err := regular.ReadPrivate(file, maxStored)
	if err != nil {
		return file, err
	}
	return file, json.Unmarshal(data, into)
}

// store replaces a cache file.
func store(file string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), "*.tmp") // readable by this user only
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// Remembered returns the last server of a ledger; the zero Running if there is none, or if another
// user could have written the file.
func Remembered(ledger string) (r Running) {
	file, err := load(ledger, ".json", &r)
	if err != nil || len(r.Token) < minToken || strings.ContainsFunc(r.Token, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') }) {
		r = Running{}
	}
	r.file = file
	return r
}

// Claim makes this process the only server of a ledger on this machine, until release is called
// or it ends; ok is false if there is another. An error beside ok is that of forgetting the last one.
func Claim(ledger string) (release func() error, ok bool, err error) {
	file, err := CacheFile(ledger, ".lock")
	if err != nil {
		return nil, false, err
	}
	lock := regular.NewLock(file)
	if ok, err = lock.TryLock(); ok {
		err = endProcess(ledger) // of a server that was killed
	}
	return lock.Close, ok, err
}

// endProcess stores that no process serves a ledger.
func endProcess(ledger string) error {
	r := Remembered(ledger)
	if r.Process == 0 {
		return nil
	}
	r.Process = 0
	return store(r.file, r)
}

// claimed reports whether a process on this machine has claimed a ledger.
func claimed(ledger string) bool {
	file, err := CacheFile(ledger, ".lock")
	if err != nil {
		return false
	}
	lock := regular.NewLock(file)
	defer lock.Close()
	free, err := lock.TryRLock() // of several that look, each finds it free
	return !free && err == nil
}

// Serving returns the server of a ledger; ok is false if none runs.
func Serving(ledger string) (r Running, ok bool) {
	r = Remembered(ledger)
	return r, r.Process != 0 && claimed(ledger)
}

// Stop asks the server of a ledger to stop, and waits for its end. One that has not begun is an
// error.
func Stop(ctx context.Context, ledger string) error {
	if Remembered(ledger).Process == 0 {
		return errors.New("no server is known")
	}
	if err := endProcess(ledger); err != nil {
		return err
	}
	for begun := time.Now(); time.Since(begun) < stopTimeout; time.Sleep(10 * time.Millisecond) {
		if !claimed(ledger) || ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return fmt.Errorf("the server still runs after %v", stopTimeout)
}

const (
	// stopTimeout limits how long a stopping server waits for open requests.
	stopTimeout = 10 * time.Second
	// stopPoll is how often a server looks whether it is to stop.
	stopPoll = 100 * time.Millisecond
)

// Listen opens a port at the host of want, for its annotators and classes: want's port, or for
// port 0 the last one if free, or any. The last token is reused with the same host and port.
func Listen(ledger string, want Running) (net.Listener, Running, error) {
	last := Remembered(ledger)
	listen := func(port int) (net.Listener, error) {
		return net.Listen("tcp", net.JoinHostPort(cmp.Or(want.Host, "127.0.0.1"), strconv.Itoa(port)))
	}
	l, err := listen(cmp.Or(want.Port, last.Port))
	if err != nil && want.Port == 0 {
		l, err = listen(0)
	}
	if err != nil {
		return nil, last, err
	}
	at := l.Addr().(*net.TCPAddr)
	want.Port, want.Token, want.Process, want.file = at.Port, last.Token, 0, last.file
	if at.IP.IsUnspecified() && want.Name == "" {
		want.Name = outward()
	}
	if want.Address != last.Address {
		want.Token = rand.Text()
	}
	if _, err = CacheFile(ledger, ""); err == nil {
		err = store(want.file, want)
	}
	if err != nil {
		want.file = ""
		return l, want, fmt.Errorf("%w: %w", ErrForgotten, err)
	}
	return l, want, nil
}

// ErrForgotten is wrapped by Listen's error if the address cannot be stored: the server works,
// but open pages will not find it after a restart.
var ErrForgotten = errors.New("the address cannot be remembered")

// maxConnections is the maximum number of open connections: a browser has six.
const maxConnections = 256

// Serve serves the page on l until ctx is done or Stop is called.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go s.awaitStop(ctx, cancel)
	return Bounded(ctx, l, maxConnections, &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 2 * time.Minute,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10})
}

// Bounded serves h on l until ctx is done, and closes connections beyond most at a time.
func Bounded(ctx context.Context, l net.Listener, most int32, h *http.Server) error {
	var open atomic.Int32
	h.ConnState = func(c net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			if open.Add(1) > most {
				c.Close() // and closed is what it becomes
			}
		case http.StateClosed:
			open.Add(-1)
		}
	}
	done := make(chan error, 1)
	go func() { done <- h.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	out, stop := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer stop()
	if err := h.Shutdown(out); err != nil {
		h.Close() // ends idle connections of browsers
	}
	return nil
}
