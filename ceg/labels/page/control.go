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
	"strconv"
	"strings"
	"time"
)

// Programs of the user control a server by signed requests, and its replies are signed: another
// program may have taken the page's port, and must learn no secret. A request holds for one port
// and half a minute.

// controlPath is the path of a signed request, followed by running, report or stop.
const controlPath = "/control/"

// signedTime is how long a signed request holds.
const signedTime = 30 * time.Second

// sign returns the HMAC-SHA256 of a text under the secret of the server at a port.
func (p Place) sign(text ...string) string {
	h := hmac.New(sha256.New, []byte(p.Token))
	fmt.Fprintf(h, "ledg label %d %q", p.Port, text)
	return hex.EncodeToString(h.Sum(nil))
}

// control replies to a signed request; ok is false if it is none.
func (s *Server) control(w http.ResponseWriter, r *http.Request) (ok bool) {
	f := map[string]func(*http.Request) (any, error){"running": s.running, "report": s.report, "stop": s.halt}[strings.TrimPrefix(r.URL.Path, controlPath)]
	at, known := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if f == nil || !known || r.Method != http.MethodPost || !s.ownName(r) {
		return false
	}
	p, nonce := Place{Port: at.Port, Token: s.o.Place.Token}, r.Header.Get("Nonce")
	begun, _, _ := strings.Cut(nonce, ".")
	sent, _ := strconv.ParseInt(begun, 10, 64)
	signed := hmac.Equal([]byte(r.Header.Get("Signature")), []byte(p.sign("request", nonce, r.URL.RequestURI())))
	if !signed || time.Since(time.Unix(sent, 0)).Abs() > signedTime {
		return false
	}
	status, data := answer(f, r)
	w.Header().Set("Signature", p.sign("reply", nonce, string(data)))
	w.WriteHeader(status)
	w.Write(data)
	return true
}

// maxReply limits the size of a server's reply: a description with all its classes.
const maxReply = 64 << 20

// call calls the server at a place and decodes its reply.
func (p Place) call(ctx context.Context, path string, into any) error {
	if p.Token == "" {
		return errors.New("no server is known")
	}
	path = controlPath + path
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.origin(p.dialled())+path, nil)
	if err != nil {
		return err
	}
	nonce := fmt.Sprintf("%d.%s", time.Now().Unix(), rand.Text())
	r.Header.Set("Nonce", nonce)
	r.Header.Set("Signature", p.sign("request", nonce, path))
	client := http.Client{
		// The signature identifies the server; a certificate for any name would not.
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	reply, err := client.Do(r)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	data, err := io.ReadAll(io.LimitReader(reply.Body, maxReply))
	switch {
	case err != nil:
		return err
	case !hmac.Equal([]byte(reply.Header.Get("Signature")), []byte(p.sign("reply", nonce, string(data)))):
		return fmt.Errorf("another program listens at port %d", p.Port)
	case reply.StatusCode != http.StatusOK:
		return fmt.Errorf("the server says %s", reply.Status)
	}
	return json.Unmarshal(data, into)
}
