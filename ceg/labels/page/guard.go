package page

import (
	"net"
	"net/http"
	"strings"
)

// policy restricts the page to its own files, and lets a Jupyter on this machine show it in a
// cell.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors http://localhost:* http://127.0.0.1:* https://localhost:* https://127.0.0.1:*; " +
	"require-trusted-types-for 'script'"

// maxBody limits the size of a request: a page of the grid has 30 images.
const maxBody = 1 << 20

// ServeHTTP serves the page to requests with a valid token.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	a, rest, status := s.admit(r)
	if status != 0 {
		h.Set("Connection", "close")
		w.WriteHeader(status) // without a body
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	r2 := as(r, a)
	u := *r.URL
	u.Path, u.RawPath = rest, ""
	r2.URL = &u
	s.mux.ServeHTTP(w, r2)
}

// admit returns the annotator whose token is in the request, and the path after the token. For a
// refused request it returns the HTTP status.
func (s *Server) admit(r *http.Request) (a *annotator, rest string, status int) {
	if !s.ownName(r) {
		return nil, "", http.StatusForbidden // a foreign name that resolves to this machine (DNS rebinding)
	}
	token, rest, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if a = s.withToken(token); !ok || a == nil {
		return nil, "", http.StatusNotFound
	}
	if crossOrigin(r) {
		return nil, "", http.StatusForbidden
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodPost:
		// A form of another website cannot send this type without a CORS preflight request.
		if r.Header.Get("Content-Type") != "application/json" {
			return nil, "", http.StatusUnsupportedMediaType
		}
	default:
		return nil, "", http.StatusMethodNotAllowed
	}
	return a, "/" + rest, 0
}

// crossOrigin reports whether a browser makes a request for a page of another origin. Such a page
// may open this one, in a frame if policy permits, but neither change nor load anything: the check
// of net/http for requests that write is applied to reads, too.
func crossOrigin(r *http.Request) bool {
	reading := r.Method == http.MethodGet || r.Method == http.MethodHead
	if reading && r.Header.Get("Sec-Fetch-Mode") == "navigate" {
		return false
	}
	write := r.WithContext(r.Context())
	write.Method = http.MethodPost
	return new(http.CrossOriginProtection).Check(write) != nil
}

// ownName reports whether a request's host is this machine's own name for itself, or,
// where it listens on the network, the name that it listens by or the address that the
// request came to. The port does not matter: it is another one at the end of an SSH tunnel.
func (s *Server) ownName(r *http.Request) bool {
	name, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		name = strings.Trim(r.Host, "[]")
	}
	if name == "localhost" || name == "127.0.0.1" || name == "::1" {
		return true
	}
	if s.o.Running.Host == "" || name == "" {
		return false
	}
	at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	ip := net.ParseIP(name)
	return ip != nil && ok && ip.Equal(at.IP) || strings.EqualFold(name, s.o.Running.Host) || strings.EqualFold(name, s.o.Running.Name)
}
