package page

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ledg-go/ledg/datasets/regular"
)

// Place is the address of a ledger's page. A restarted server reuses its last address if the
// port is free, so that open pages continue. On another port it has a new token, since another
// program may listen on the old one.
type Place struct {
	// Host is the name or IP address to listen at, empty for the loopback; Name is the public
	// name, if different. TLS is true for an encrypted connection.
	Host string `json:"host,omitempty"`
	Name string `json:"name,omitempty"`
	Port int    `json:"port"`
	TLS  bool   `json:"tls,omitempty"`
	// Token is the server's secret, by which programs of this user call it. Annotators' tokens
	// are derived from it.
	Token string `json:"token"`
}

// Address returns the address of an annotator's page.
func (p Place) Address(by string) string {
	return p.origin(cmp.Or(p.Name, p.dialled())) + "/" + tokenOf(p.Token, by) + "/"
}

func (p Place) origin(host string) string {
	scheme := "http"
	if p.TLS {
		scheme = "https"
	}
	return scheme + "://" + p.at(host)
}

// at returns a host with the port.
func (p Place) at(host string) string { return net.JoinHostPort(host, strconv.Itoa(p.Port)) }

// dialled is the host for connections from this machine.
func (p Place) dialled() string {
	if ip := net.ParseIP(p.Host); p.Host == "" || ip != nil && ip.IsUnspecified() {
		return "127.0.0.1"
	}
	return p.Host
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

// CacheFile returns the path of a server's cache file for a ledger, with the given suffix:
// ".json" stores its place. The content is secret, so a folder that another user owns or can
// write to is an error.
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
	return filepath.Join(dir, fmt.Sprintf("%x%s", sha256.Sum256([]byte(path)), suffix)), nil
}

// Remembered returns the last place of a ledger's page; the zero Place if there is none, or if
// another user could have written the file.
func Remembered(ledger string) Place {
	file, err := CacheFile(ledger, ".json")
	if err != nil {
		return Place{}
	}
	data, err := regular.ReadPrivate(file, 1<<10)
	var p Place
	if err != nil || json.Unmarshal(data, &p) != nil || len(p.Token) < minToken || strings.ContainsFunc(p.Token, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') }) {
		return Place{}
	}
	return p
}

// remember is the counterpart of Remembered.
func remember(ledger string, p Place) error {
	file, err := CacheFile(ledger, ".json")
	if err != nil {
		return err
	}
	data, err := json.Marshal(p)
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

// Claim makes this process the only server of a ledger on this machine, until release is called
// or it ends; ok is false if there is another.
func Claim(ledger string) (release func() error, ok bool, err error) {
	host, _ := os.Hostname()
	file, err := CacheFile(ledger, "."+url.PathEscape(host)+".lock")
	if err != nil {
		return nil, false, err
	}
	lock := regular.NewLock(file)
	ok, err = lock.TryLock()
	return lock.Close, ok, err
}

// Running describes a running server.
type Running struct {
	Process int
	// By lists its annotators, Classes its classes.
	By      []string
	Classes []string
}

// Alive returns the server at a place; ok is false if there is no response, or if it does not
// accept the token.
func (p Place) Alive(ctx context.Context) (r Running, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	err := p.call(ctx, "running", &r)
	return r, err == nil
}

// Stop stops the server at a place and waits for its end.
func (p Place) Stop(ctx context.Context) error {
	if err := p.call(ctx, "stop", new(struct{})); err != nil {
		return err
	}
	for begun := time.Now(); time.Since(begun) < stopTimeout; time.Sleep(10 * time.Millisecond) {
		if _, alive := p.Alive(ctx); !alive {
			return ctx.Err()
		}
	}
	return fmt.Errorf("the server still runs after %v", stopTimeout)
}

// stopTimeout limits how long a stopping server waits for open requests.
const stopTimeout = 10 * time.Second

// Listen opens a port at the host of want: want's port, or for port 0 the last one if free, or
// any. The last token is reused with the same host and port.
func Listen(ledger string, want Place) (net.Listener, Place, error) {
	p := Remembered(ledger)
	listen := func(port int) (net.Listener, error) {
		return net.Listen("tcp", net.JoinHostPort(cmp.Or(want.Host, "127.0.0.1"), strconv.Itoa(port)))
	}
	l, err := listen(cmp.Or(want.Port, p.Port))
	if err != nil && want.Port == 0 {
		l, err = listen(0)
	}
	if err != nil {
		return nil, p, err
	}
	at := l.Addr().(*net.TCPAddr)
	want.Port, want.Token = at.Port, p.Token
	if at.IP.IsUnspecified() && want.Name == "" {
		want.Name = outward()
	}
	if want != p {
		want.Token = NewToken()
	}
	p = want
	if err := remember(ledger, p); err != nil {
		return l, p, fmt.Errorf("%w: %w", ErrForgotten, err)
	}
	return l, p, nil
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
	s.mu.Lock()
	s.stop = cancel
	s.mu.Unlock()
	var open atomic.Int32
	h := &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 2 * time.Minute,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10, ConnState: func(c net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				if open.Add(1) > maxConnections {
					c.Close() // closes the connection
				}
			case http.StateClosed:
				open.Add(-1)
			}
		}}
	done := make(chan error, 1)
	go func() { done <- h.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	out, stop := context.WithTimeout(context.Background(), 3*time.Second)
	defer stop()
	if err := h.Shutdown(out); err != nil {
		h.Close() // ends idle connections of browsers
	}
	return nil
}
