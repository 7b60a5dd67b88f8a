package studio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
)

// reach requests files and the API of the configured Label Studio, and no other address. Anybody
// who can write to the project can add addresses to tasks, so an address in a task is requested
// only if its origin is Label Studio's and its path is below /data/. No redirect is followed, so
// the token goes nowhere else.
type reach struct {
	base   *url.URL // Label Studio, nil if it is not known
	client *http.Client
}

// Limits on requests that this server makes.
const (
	dialTimeout  = 5 * time.Second
	fetchTimeout = 10 * time.Second
	apiTimeout   = 5 * time.Minute
)

// newReach returns the reach of a server for Label Studio at an address, empty if it is not known.
func newReach(address string) (*reach, error) {
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout: dialTimeout, ResponseHeaderTimeout: apiTimeout, MaxResponseHeaderBytes: 64 << 10,
		IdleConnTimeout: time.Minute, MaxConnsPerHost: 8, DisableCompression: true, ForceAttemptHTTP2: true}
	r := &reach{client: &http.Client{Timeout: apiTimeout, Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if address == "" {
		return r, nil
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, fmt.Errorf("LABEL_STUDIO_URL is %q, want an address such as http://localhost:8080", address)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("LABEL_STUDIO_URL has a user, a query or a fragment: want scheme, host, port and path alone")
	}
	u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/"), ""
	r.base = u
	return r, nil
}

// file returns the absolute address of a file of Label Studio, from one in a task, which may have
// no host.
func (r *reach) file(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, errors.New("its address cannot be parsed")
	case r.base == nil:
		return nil, errors.New("only files of Label Studio are read, whose address is not known: set LABEL_STUDIO_URL and LABEL_STUDIO_API_KEY")
	case u.Scheme == "" && u.Host == "":
		at := *r.base
		at.Path, at.RawQuery = u.Path, u.RawQuery
		if !strings.HasPrefix(u.Path, r.base.Path+"/data/") {
			at.Path = r.base.Path + u.Path
		}
		u = &at
	case origin(u) != origin(r.base) || u.User != nil:
		return nil, errors.New("it is no file of Label Studio, and no other is read")
	}
	p, below := strings.CutPrefix(u.Path, r.base.Path)
	if !below || !strings.HasPrefix(p, "/data/") || strings.TrimSuffix(path.Clean(p), "/") != strings.TrimSuffix(p, "/") || strings.ContainsAny(p, `%\`) {
		return nil, errors.New("its address is not below /data/ of Label Studio")
	}
	return u, nil
}

// origin returns scheme, host and port of an address.
func origin(u *url.URL) string {
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// do requests an address of Label Studio, with the token if authorize adds it, and returns a reply
// with status 200. The caller closes its body.
func (r *reach) do(ctx context.Context, method, address string, body io.Reader, authorize func(*http.Request) error) (*http.Response, error) {
	q, err := http.NewRequestWithContext(ctx, method, address, body)
	if err == nil && body != nil {
		q.Header.Set("Content-Type", "application/json")
	}
	if err == nil && authorize != nil {
		err = authorize(q)
	}
	if err != nil {
		return nil, err
	}
	reply, err := r.client.Do(q)
	if err != nil {
		return nil, err
	}
	if reply.StatusCode != http.StatusOK {
		reply.Body.Close()
		return nil, fmt.Errorf("%s answers %s", q.URL.Redacted(), reply.Status)
	}
	return reply, nil
}
