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
	own         *annotatorView // of Options.Blind, nil otherwise
}

// tokenOf returns the token of an annotator's page. It follows from the server's secret, so
// that a server that is started again has the same links, also when somebody else is added;
// none of them tells the secret, or another.
func tokenOf(secret, by string) string {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte("annotator " + by))
	return base32.StdEncoding.EncodeToString(h.Sum(nil))[:nonceSize]
}

// annotatorKey is where a request's context has its annotator.
type annotatorKey struct{}

// who returns the annotator whose token a request has.
func who(r *http.Request) *annotator { return r.Context().Value(annotatorKey{}).(*annotator) }

// as returns a request with its annotator.
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
