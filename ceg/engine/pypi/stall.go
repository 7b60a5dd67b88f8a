package pypi

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Stalls is an http.RoundTripper that cancels stalled requests: the time limit applies to the
// response header and to each read of the body.
type Stalls struct {
	Next  http.RoundTripper
	After time.Duration // 0 for never
}

// trickle is what has to come of a body within the time, in bytes.
const trickle = 16 << 10

// RoundTrip implements http.RoundTripper.
func (s Stalls) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.After <= 0 {
		return s.Next.RoundTrip(r)
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	w := &watched{ctx: ctx, after: s.After}
	w.timer = time.AfterFunc(s.After, func() { cancel(fmt.Errorf("nothing, or hardly anything, has come for %v", s.After)) })
	reply, err := s.Next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		w.timer.Stop()
		return nil, w.cause(err)
	}
	w.ReadCloser, reply.Body = reply.Body, w
	w.timer.Reset(s.After)
	return reply, nil
}

// watched is a body that puts its timer back as long as it comes.
type watched struct {
	io.ReadCloser
	ctx   context.Context
	timer *time.Timer
	after time.Duration
	came  int
}

// cause returns the cause of ctx in place of its error.
func (w *watched) cause(err error) error {
	if err != nil && err != io.EOF && w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	return err
}

// Read implements io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if w.came += n; w.came >= trickle {
		w.came = 0
		w.timer.Reset(w.after)
	}
	return n, w.cause(err)
}

// Close implements io.Closer.
func (w *watched) Close() error {
	w.timer.Stop()
	return w.ReadCloser.Close()
}
