package page

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

// A server proves to a program that it knows the token before the program sends it: another
// program that has taken the page's port must not learn the secret. The program sends a nonce;
// the reply is the HMAC-SHA256 of port and nonce under the token.

// proofPath is the path of a proof, followed by the nonce.
const proofPath = "/prove/"

// nonceSize is the length of a nonce, in characters.
const nonceSize = 26

// proof returns the proof of the server at a port.
func (p Place) proof(nonce string) string {
	h := hmac.New(sha256.New, []byte(p.Token))
	fmt.Fprintf(h, "ledg label %d %s", p.Port, nonce)
	return hex.EncodeToString(h.Sum(nil))
}

// prove replies to a request for a proof; ok is false if it is none.
func (s *Server) prove(w http.ResponseWriter, r *http.Request) (ok bool) {
	nonce, ok := strings.CutPrefix(r.URL.Path, proofPath)
	at, known := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok || !known || len(nonce) != nonceSize || r.Method != http.MethodGet || !s.ownName(r) {
		return false
	}
	io.WriteString(w, Place{Port: at.Port, Token: s.o.Place.Token}.proof(nonce))
	return true
}

// maxReply limits the size of a server's reply: a setup with all its classes.
const maxReply = 64 << 20

// call calls the server at a place and decodes its reply. The server proves its identity over the
// same connection.
func (p Place) call(ctx context.Context, method, path string, into any) error {
	if p.Token == "" {
		return errors.New("no server is known")
	}
	origin := p.origin(p.dialled())
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", p.at(p.dialled()))
	if err != nil {
		return err
	}
	defer conn.Close()
	fresh := make(chan net.Conn, 1)
	fresh <- conn
	client := http.Client{
		// The proof below identifies the server; a certificate for any name would not.
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DialContext: func(context.Context, string, string) (net.Conn, error) {
			select {
			case c := <-fresh:
				return c, nil
			default:
				return nil, errors.New("the server has closed the connection") // another one would have to prove itself
			}
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	send := func(method, address string) ([]byte, error) {
		r, err := http.NewRequestWithContext(ctx, method, address, nil)
		if err != nil {
			return nil, err
		}
		if method == http.MethodPost {
			r.Header.Set("Content-Type", "application/json")
		}
		reply, err := client.Do(r)
		if err != nil {
			return nil, err
		}
		defer reply.Body.Close()
		if reply.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("the server says %s", reply.Status)
		}
		return io.ReadAll(io.LimitReader(reply.Body, maxReply))
	}
	nonce := rand.Text()
	proof, err := send(http.MethodGet, origin+proofPath+nonce)
	if err != nil {
		return err
	}
	if !hmac.Equal(proof, []byte(p.proof(nonce))) {
		return fmt.Errorf("another program listens at port %d", p.Port)
	}
	data, err := send(method, origin+"/"+p.Token+"/"+path)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}
