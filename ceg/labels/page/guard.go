package page

import (
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
)

// policy lets the page load its own files and nothing else, and lets Jupyter, when it
// runs on this machine, show it in a cell.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors http://localhost:* http://127.0.0.1:* https://localhost:* https://127.0.0.1:*; " +
	"require-trusted-types-for 'script'"

// maxBody is the longest request that is read: a page of the grid has 30 images.
const maxBody = 1 << 20

// ServeHTTP serves the page to whoever has its address, on this machine alone.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	rest, status := s.admit(r)
	if status == http.StatusNotFound && s.prove(w, r) {
		return
	}
	if status != 0 {
		h.Set("Connection", "close")
		w.WriteHeader(status) // and nothing more
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	r2 := new(http.Request)
	*r2 = *r
	u := *r.URL
	u.Path, u.RawPath = rest, ""
	r2.URL = &u
	s.mux.ServeHTTP(w, r2)
}

// admit returns the path below the token, or the status to refuse a request with.
func (s *Server) admit(r *http.Request) (rest string, status int) {
	if !loopbackName(r.Host) {
		return "", http.StatusForbidden // a name that somebody made point here
	}
	token, rest, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1 || !ok {
		return "", http.StatusNotFound
	}
	if crossOrigin(r) {
		return "", http.StatusForbidden
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodPost:
		// A form of another site cannot send this type without asking first.
		if r.Header.Get("Content-Type") != "application/json" {
			return "", http.StatusUnsupportedMediaType
		}
	default:
		return "", http.StatusMethodNotAllowed
	}
	return "/" + rest, 0
}

// crossOrigin reports whether a browser makes a request for a page of another origin.
// Such a page may open this one, in a frame as far as policy allows, but neither
// change anything nor load any of it: net/http's check, which is for writing, is asked
// about reading too.
func crossOrigin(r *http.Request) bool {
	reading := r.Method == http.MethodGet || r.Method == http.MethodHead
	if reading && r.Header.Get("Sec-Fetch-Mode") == "navigate" {
		return false
	}
	write := r.WithContext(r.Context())
	write.Method = http.MethodPost
	return new(http.CrossOriginProtection).Check(write) != nil
}

// loopbackName reports whether a request's host is this machine's own name for
// itself. The port does not matter: it is another one at the end of an SSH tunnel.
func loopbackName(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	return name == "localhost" || name == "127.0.0.1" || name == "::1"
}
