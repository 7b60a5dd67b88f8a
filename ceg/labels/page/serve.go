package page

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Place is where the page of a ledger is served, or was: a server that is started
// again takes the same address, so that open pages go on.
type Place struct {
	Port  int    `json:"port"`
	Token string `json:"token"`
}

// Address returns the address of the page.
func (p Place) Address() string { return fmt.Sprintf("http://127.0.0.1:%d/%s/", p.Port, p.Token) }

// placeFile is the file that remembers the place of a ledger. It holds a secret: it is
// in the user's own cache, and readable by nobody else.
func placeFile(ledger string) (string, error) {
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
	return filepath.Join(cache, "ledg", "label", fmt.Sprintf("%x.json", sha256.Sum256([]byte(path)))), nil
}

// Remembered returns the place where the page of a ledger's file was served last; the
// zero Place if there is none.
func Remembered(ledger string) Place {
	file, err := placeFile(ledger)
	if err != nil {
		return Place{}
	}
	data, err := os.ReadFile(file)
	var p Place
	if err != nil || json.Unmarshal(data, &p) != nil || len(p.Token) < minToken || strings.ContainsFunc(p.Token, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') }) {
		return Place{}
	}
	return p
}

// remember is the counterpart of Remembered.
func remember(ledger string, p Place) error {
	file, err := placeFile(ledger)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), "*.tmp") // for nobody else's eyes
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

// Running is a server that answers.
type Running struct {
	Process int
	// By is the annotator whose answers it takes.
	By string
}

// Alive returns the server at a place; ok is false if none answers.
func (p Place) Alive(ctx context.Context) (r Running, ok bool) {
	if p.Token == "" {
		return r, false
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.Address()+"setup", nil)
	if err != nil {
		return r, false
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return r, false
	}
	defer reply.Body.Close()
	var s setupReply
	if reply.StatusCode != http.StatusOK || json.NewDecoder(reply.Body).Decode(&s) != nil {
		return r, false
	}
	return Running{s.Process, s.By}, true
}

// Stop ends the server at a place, and waits until it does not answer any more.
func (p Place) Stop(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.Address()+"stop", nil)
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("the server says %s", reply.Status)
	}
	for begun := time.Now(); time.Since(begun) < stopTimeout; time.Sleep(10 * time.Millisecond) {
		if _, alive := p.Alive(ctx); !alive {
			return ctx.Err()
		}
	}
	return fmt.Errorf("the server still answers after %v", stopTimeout)
}

// stopTimeout is how long a server may take to end, which waits for requests.
const stopTimeout = 10 * time.Second

// Listen takes a port of the loopback: the given one, or where 0 is given that of last
// time if it is free, or any. The token of last time stays.
func Listen(ledger string, port int) (net.Listener, Place, error) {
	p := Remembered(ledger)
	if p.Token == "" {
		p.Token = NewToken()
	}
	listen := func(port int) (net.Listener, error) { return net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port)) }
	var l net.Listener
	var err error
	switch {
	case port != 0:
		l, err = listen(port)
	case p.Port != 0:
		if l, err = listen(p.Port); err == nil {
			break
		}
		fallthrough
	default:
		l, err = listen(0)
	}
	if err != nil {
		return nil, p, err
	}
	p.Port = l.Addr().(*net.TCPAddr).Port
	if err := remember(ledger, p); err != nil {
		return l, p, fmt.Errorf("%w: %w", ErrForgotten, err)
	}
	return l, p, nil
}

// ErrForgotten is wrapped by Listen's error when all is well but for the memory of the
// address: pages that are open will not find a server that is started again.
var ErrForgotten = errors.New("the address cannot be remembered")

// Serve serves the page on l until ctx is done or somebody calls Stop.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	s.stop = cancel
	s.mu.Unlock()
	h := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10}
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
		h.Close() // a browser that keeps a connection does not keep the server
	}
	return nil
}
