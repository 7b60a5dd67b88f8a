package page

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"net/http"
)

// annotator is a person who labels. The name is derived from the token in the request's path, so
// nobody can label under another's name.
type annotator struct {
	name, token string
	blind       bool // with Options.Blind
}

// tokenSize is the length of an annotator's token, in characters.
const tokenSize = 26

// tokenOf returns the token of an annotator's page. It is derived from the server's secret, so the
// links stay the same after a restart and when an annotator is added. A token reveals neither the
// secret nor another token.
func tokenOf(secret, by string) string {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte("annotator " + by))
	return base32.StdEncoding.EncodeToString(h.Sum(nil))[:tokenSize]
}

// annotatorKey is the key of the annotator in a request's context.
type annotatorKey struct{}

// who returns the annotator of a request.
func who(r *http.Request) *annotator { return r.Context().Value(annotatorKey{}).(*annotator) }

// as adds the annotator to a request's context.
func as(r *http.Request, a *annotator) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), annotatorKey{}, a))
}

// withToken returns the annotator of a token, nil for an unknown one.
func (s *Server) withToken(token string) (found *annotator) {
	for _, a := range s.people {
		if subtle.ConstantTimeCompare([]byte(token), []byte(a.token)) == 1 {
			found = a
		}
	}
	return found
}
