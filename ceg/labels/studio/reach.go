package studio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strings"
	"time"

	"code.dny.dev/ssrf"
)

// reach decides which addresses this server requests, and requests them. Anybody who can write
// to the project can add addresses to tasks, so an address is requested only in two cases:
//
//   - It is a file of Label Studio: the origin is the configured one, and the path is below
//     /data/. Only such requests, and those of Label Studio's API, carry the token. A
//     redirect never does.
//   - Its host and port are allowed by the operator, and it resolves to a public address, or
//     to one in a network that the operator allowed.
//
// Every redirect is a new address to which both rules apply.
type reach struct {
	base   *url.URL        // Label Studio, nil if it is not known
	hosts  map[string]bool // allowed hosts, "name" for the ports 80 and 443 or "name:port"
	studio *http.Client    // for base
	others *http.Client    // for hosts
}

// Limits on requests that this server makes.
const (
	maxRedirects = 5
	dialTimeout  = 5 * time.Second
	fetchTimeout = 10 * time.Second
	apiTimeout   = 5 * time.Minute
)

// newReach returns the reach of a server for Label Studio at an address, empty if it is not
// known, and allowed hosts: NAME, NAME:PORT, an IP address, or a network such as 10.0.0.0/8.
func newReach(address string, allow []string) (*reach, error) {
	r := &reach{hosts: make(map[string]bool)}
	if address != "" {
		u, err := url.Parse(address)
		switch {
		case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
			return nil, fmt.Errorf("LABEL_STUDIO_URL is %q, want an address such as http://localhost:8080", address)
		case u.User != nil || u.RawQuery != "" || u.Fragment != "":
			return nil, errors.New("LABEL_STUDIO_URL has a user, a query or a fragment: want scheme, host, port and path alone")
		}
		u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/"), ""
		r.base = u
	}
	var v4, v6 []netip.Prefix
	for _, a := range allow {
		prefix, err := netip.ParsePrefix(a)
		if ip, bad := netip.ParseAddr(strings.Trim(a, "[]")); bad == nil {
			prefix, err = netip.PrefixFrom(ip.Unmap(), ip.Unmap().BitLen()), nil
			r.hosts[ip.String()] = true
		} else if at, bad := netip.ParseAddrPort(a); bad == nil {
			prefix, err = netip.PrefixFrom(at.Addr().Unmap(), at.Addr().Unmap().BitLen()), nil
			r.hosts[at.String()] = true
		}
		switch {
		case err != nil && !hostName(a):
			return nil, fmt.Errorf("--allow-host %q: want HOST, HOST:PORT, an IP address, or a network such as 10.0.0.0/8", a)
		case err != nil:
			r.hosts[strings.ToLower(a)] = true
		case prefix.Addr().Is4():
			v4 = append(v4, prefix)
		default:
			v6 = append(v6, prefix)
		}
	}
	// The dialer sees the address after resolution. A proxy would hide it.
	guard := ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...))
	r.others = client(fetchTimeout, &http.Transport{DialContext: (&net.Dialer{Timeout: dialTimeout, Control: guard.Safe}).DialContext})
	r.studio = client(apiTimeout, &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext})
	return r, nil
}

// hostName reports whether a text is a host name, with or without a port.
func hostName(text string) bool {
	u, err := url.Parse("http://" + text)
	return err == nil && u.Host == text && u.Hostname() != "" && !strings.ContainsAny(text, "/@?#* ")
}

// client returns a client that follows no redirects and stores no cookies.
func client(timeout time.Duration, t *http.Transport) *http.Client {
	t.TLSHandshakeTimeout, t.ResponseHeaderTimeout, t.MaxResponseHeaderBytes = dialTimeout, timeout, 64<<10
	t.IdleConnTimeout, t.MaxConnsPerHost, t.DisableCompression, t.ForceAttemptHTTP2 = time.Minute, 8, true, true
	return &http.Client{Timeout: timeout, Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// refused is an error about an address that was not requested. It follows from the address
// and from the configuration alone.
type refused string

func (e refused) Error() string { return string(e) }

// errUnread is the response for an address that could not be read. The reason could reveal which
// services exist, so it is only logged.
var errUnread = errors.New("it cannot be read; the log of ledg says why")

// resolve makes an address of a task absolute: one without a host is a file of Label Studio.
// own reports whether it is one.
func (r *reach) resolve(address string) (u *url.URL, own bool, err error) {
	u, err = url.Parse(address)
	if err != nil {
		return nil, false, refused("its address cannot be parsed")
	}
	if u.Scheme == "" && u.Host == "" {
		switch {
		case r.base == nil:
			return nil, false, refused("Label Studio has it, and its address is not known: set LABEL_STUDIO_URL and LABEL_STUDIO_API_KEY")
		case !r.data(u.Path):
			return nil, false, refused("its address is not below /data/ of Label Studio")
		}
		at := *r.base
		at.Path, at.RawQuery = u.Path, u.RawQuery
		if !strings.HasPrefix(u.Path, r.base.Path+"/data/") {
			at.Path = r.base.Path + u.Path
		}
		return &at, true, nil
	}
	return u, r.isOwn(u), nil
}

// isOwn reports whether an absolute address is of a file of Label Studio.
func (r *reach) isOwn(u *url.URL) bool {
	return r.base != nil && origin(u) == origin(r.base) && u.User == nil && strings.HasPrefix(u.Path, r.base.Path+"/data/") && r.data(u.Path)
}

// data reports whether a path is below /data/ of Label Studio, however a server reads it.
func (r *reach) data(p string) bool {
	p, _ = strings.CutPrefix(p, r.base.Path+"/")
	p = "/" + strings.TrimPrefix(p, "/")
	return strings.HasPrefix(p, "/data/") && strings.TrimSuffix(path.Clean(p), "/") == strings.TrimSuffix(p, "/") && !strings.ContainsAny(p, `%\`)
}

// origin returns scheme, host and port of an address.
func origin(u *url.URL) string {
	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port(u))
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// check returns an error if an address that is no file of Label Studio may not be requested.
func (r *reach) check(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" {
		return refused(fmt.Sprintf("its address begins with %q, want http or https", u.Scheme))
	}
	host := strings.ToLower(u.Hostname())
	if ip, err := netip.ParseAddr(host); err == nil {
		host = ip.String()
	}
	p := port(u)
	switch {
	case u.User != nil:
		return refused("its address has a user or a password")
	case r.hosts[net.JoinHostPort(host, p)], r.hosts[host] && (p == "80" || p == "443"):
		return nil
	}
	return refused(fmt.Sprintf("its host is not allowed: --allow-host %.100s", net.JoinHostPort(host, p)))
}

// open requests an address of a task, with authorize for the one request that may carry the
// token, and follows redirects. The caller closes the body.
func (r *reach) open(ctx context.Context, address string, authorize func(*http.Request) error) (*http.Response, error) {
	u, own, err := r.resolve(address)
	for hop := 0; err == nil; hop++ {
		c := r.studio
		if !own {
			c, err = r.others, r.check(u)
		}
		if err != nil {
			return nil, err
		}
		q, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err == nil && own && hop == 0 {
			err = authorize(q)
		}
		if err != nil {
			return nil, err
		}
		reply, err := c.Do(q)
		if err != nil {
			return nil, err
		}
		if reply.StatusCode == http.StatusOK {
			return reply, nil
		}
		reply.Body.Close()
		if reply.StatusCode/100 != 3 || reply.Header.Get("Location") == "" {
			return nil, fmt.Errorf("%s answers %s", u.Redacted(), reply.Status)
		}
		next, err := reply.Location()
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s redirects to an address that cannot be parsed", u.Redacted())
		case hop == maxRedirects:
			return nil, fmt.Errorf("%s: more than %d redirects", address, maxRedirects)
		}
		own = own && r.isOwn(next) // other redirects to Label Studio need --allow-host, too
		if !own {
			if err := r.check(next); err != nil {
				return nil, fmt.Errorf("%s redirects to %s: %v", u.Redacted(), next.Redacted(), err)
			}
		}
		u = next
	}
	return nil, err
}

// call requests the API of Label Studio, at a path that this program chose, and returns the
// body of a reply 200.
func (r *reach) call(ctx context.Context, method, path string, body io.Reader, authorize func(*http.Request) error) (io.ReadCloser, error) {
	q, err := http.NewRequestWithContext(ctx, method, r.base.String()+path, body)
	if err == nil && body != nil {
		q.Header.Set("Content-Type", "application/json")
	}
	if err == nil && authorize != nil {
		err = authorize(q)
	}
	if err != nil {
		return nil, err
	}
	reply, err := r.studio.Do(q)
	if err != nil {
		return nil, err
	}
	if reply.StatusCode != http.StatusOK {
		reply.Body.Close()
		return nil, fmt.Errorf("%s answers %s", q.URL.Redacted(), reply.Status)
	}
	return reply.Body, nil
}
