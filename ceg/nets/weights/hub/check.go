package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/ledg-go/ledg/ceg/engine/pypi"
)

// check is a proxy between the library and the hub for one call. The library uses ETags and
// commits from the hub as file names, and writes as many bytes as arrive. So the check passes
// only
//   - listings with a hexadecimal commit and names that stay in the repository;
//   - files of the listing, of the listed size, whose ETag is a plain name;
//   - responses by HTTPS, or by HTTP from this machine if HF_ENDPOINT names it.
//
// The library always uses [http.DefaultTransport]. The check is registered there under its own
// URL scheme, so no other request of the process is affected.
type check struct {
	ctx      context.Context
	key      string // the host in the library's URLs
	base     *url.URL
	id       string
	revision string

	mu    sync.Mutex
	sizes map[string]int64 // by the files' names, once they are listed
	first error
}

// scheme is the URL scheme of checked requests.
const scheme = "ledg-checked-hub"

const (
	publicHub    = "https://huggingface.co"
	stall        = time.Minute // without hardly any byte
	maxListing   = 32 << 20    // bytes
	maxFile      = 64 << 30    // bytes
	maxRedirects = 10
)

// checks are the calls in progress, by their keys.
var checks = struct {
	register sync.Once
	err      error
	mu       sync.Mutex
	last     int
	byKey    map[string]*check
}{byKey: map[string]*check{}}

func newCheck(ctx context.Context, id, revision string) (*check, error) {
	checks.register.Do(func() {
		last := http.DefaultTransport
		if s, ok := last.(pypi.Stalls); ok { // as the program ledg sets it
			last = s.Next
		}
		t, ok := last.(*http.Transport)
		if !ok {
			checks.err = errors.New("http.DefaultTransport was replaced, so that the hub's answers cannot be checked")
			return
		}
		t.RegisterProtocol(scheme, dispatch{})
	})
	if checks.err != nil {
		return nil, checks.err
	}
	endpoint := strings.TrimSuffix(os.Getenv("HF_ENDPOINT"), "/")
	if endpoint == "" {
		endpoint = publicHub
	}
	base, err := url.Parse(endpoint)
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" {
		return nil, fmt.Errorf("HF_ENDPOINT is %.200q, want an address such as %s", endpoint, publicHub)
	}
	if !private(base) {
		return nil, fmt.Errorf("HF_ENDPOINT is %q: plain HTTP is allowed to this machine only, want https://%s", base.Redacted(), base.Host)
	}
	checks.mu.Lock()
	defer checks.mu.Unlock()
	checks.last++
	c := &check{ctx: ctx, key: fmt.Sprint(checks.last), base: base, id: id, revision: revision}
	checks.byKey[c.key] = c
	return c, nil
}

func (c *check) close() {
	checks.mu.Lock()
	defer checks.mu.Unlock()
	delete(checks.byKey, c.key)
}

// endpoint is the hub's address for the library.
func (c *check) endpoint() string { return scheme + "://" + c.key }

// restore puts the true address into a message of the library.
func (c *check) restore(text string) string {
	return strings.ReplaceAll(text, c.endpoint()+"/", c.base.Redacted()+"/")
}

// failed is the first error of a request.
func (c *check) failed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.first
}

func (c *check) fail(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.first == nil {
		c.first = err
	}
	return err
}

// dispatch finds the check of a request.
type dispatch struct{}

// RoundTrip implements http.RoundTripper.
func (dispatch) RoundTrip(r *http.Request) (*http.Response, error) {
	checks.mu.Lock()
	c := checks.byKey[r.URL.Host]
	checks.mu.Unlock()
	if c == nil {
		return nil, errors.New("the download was cancelled")
	}
	reply, err := c.roundTrip(r)
	if err != nil {
		return nil, c.fail(err)
	}
	return reply, nil
}

// private reports whether the connection is encrypted or local.
func private(u *url.URL) bool { return u.Scheme == "https" || u.Scheme == "http" && local(u) }

// local reports whether an address is this machine's.
func local(u *url.URL) bool {
	host := u.Hostname()
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// redirect says whether a redirect is followed.
func (c *check) redirect(r *http.Request, via []*http.Request) error {
	switch to := r.URL.Redacted(); {
	case len(via) >= maxRedirects:
		return fmt.Errorf("the hub redirects more than %d times", maxRedirects)
	case !private(r.URL):
		return fmt.Errorf("the hub redirects to %.200q, which is not HTTPS", to)
	case local(r.URL) && !local(c.base):
		return fmt.Errorf("the hub redirects to %.200q, which is this machine", to)
	}
	return nil
}

// roundTrip sends the request to the hub and returns a checked response.
func (c *check) roundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	stop := context.AfterFunc(c.ctx, func() { cancel(context.Cause(c.ctx)) })
	request := r.Clone(ctx)
	u := *c.base
	u.Path, u.RawPath, u.RawQuery = c.base.Path+r.URL.Path, "", r.URL.RawQuery
	request.URL, request.Host = &u, ""
	client := http.Client{Transport: pypi.Stalls{Next: http.DefaultTransport, After: stall}, CheckRedirect: c.redirect}
	reply, err := client.Do(request)
	if err != nil {
		stop()
		cancel(nil)
		return nil, err
	}
	reply.Body = &ended{reply.Body, func() { stop(); cancel(nil) }}
	reply.Request = r
	if reply.StatusCode != http.StatusOK {
		return reply, nil // the library reports it, with a bounded piece of the body
	}
	if r.URL.Path == "/api/models/"+c.id+"/revision/"+c.revision {
		err = c.listing(reply)
	} else if name, ok := strings.CutPrefix(r.URL.Path, "/"+c.id+"/resolve/"+c.revision+"/"); ok {
		err = c.file(reply, name, r.Method)
	} else {
		err = fmt.Errorf("the library asks for %q", r.URL.Path)
	}
	if err != nil {
		reply.Body.Close()
		return nil, err
	}
	return reply, nil
}

// ended is a body that tells when it is closed.
type ended struct {
	io.ReadCloser
	then func()
}

// Close implements io.Closer.
func (e *ended) Close() error {
	defer e.then()
	return e.ReadCloser.Close()
}

// listing is the part of the hub's listing of a repository that is used here.
type listing struct {
	ID       string    `json:"id"`
	SHA      string    `json:"sha"`
	Siblings []sibling `json:"siblings"`
	CardData *card     `json:"cardData,omitempty"`
}

type sibling struct {
	Name string `json:"rfilename"`
	Size *int64 `json:"size,omitempty"`
}

type card struct {
	License text `json:"license"`
}

// text is a JSON string, or several in a list.
type text string

// UnmarshalJSON implements json.Unmarshaler. Other values than texts count as missing.
func (t *text) UnmarshalJSON(b []byte) error {
	var list []string
	if json.Unmarshal(b, (*string)(t)) != nil && json.Unmarshal(b, &list) == nil {
		*t = text(strings.Join(list, ", "))
	}
	return nil
}

// listing checks a listing and replaces it by what was checked.
func (c *check) listing(reply *http.Response) error {
	b, err := io.ReadAll(io.LimitReader(reply.Body, maxListing+1))
	if err := errors.Join(err, reply.Body.Close()); err != nil {
		return err
	}
	if len(b) > maxListing {
		return fmt.Errorf("the hub's listing of %s has more than %d MB", c.id, maxListing>>20)
	}
	var l listing
	if err := json.Unmarshal(b, &l); err != nil {
		return fmt.Errorf("the hub's listing of %s: %w", c.id, err)
	}
	if !commitName.MatchString(l.SHA) {
		return fmt.Errorf("the hub names the commit %.80q, want 40 or 64 hexadecimal digits", l.SHA)
	}
	if commitName.MatchString(c.revision) && l.SHA != c.revision {
		return fmt.Errorf("the hub names the commit %s, want %s", l.SHA, c.revision)
	}
	sizes := map[string]int64{}
	for _, f := range l.Siblings {
		if !filepath.IsLocal(filepath.FromSlash(f.Name)) || strings.Contains(f.Name, "..") || strings.Contains(f.Name, `\`) {
			return fmt.Errorf("the hub lists a file %.200q, which is no name in a repository", f.Name)
		}
		if f.Size != nil {
			sizes[f.Name] = *f.Size
		}
	}
	c.mu.Lock()
	c.sizes = sizes
	c.mu.Unlock()
	if b, err = json.Marshal(l); err != nil {
		return err
	}
	reply.Body, reply.ContentLength = io.NopCloser(bytes.NewReader(b)), int64(len(b))
	return nil
}

// plainTag is an ETag that is the name of a file and nothing else.
var plainTag = regexp.MustCompile(`^[A-Za-z0-9][\w.+=-]{0,127}$`)

// file checks the response for a file. The headers from which the library takes file names are
// replaced by checked values.
func (c *check) file(reply *http.Response, name, method string) error {
	c.mu.Lock()
	size, listed := c.sizes[name]
	c.mu.Unlock()
	if !listed || size < 0 || size > maxFile {
		return fmt.Errorf("the hub's listing has no size for %q, or one above %d GiB", name, maxFile>>30)
	}
	if commit := reply.Header.Get("X-Repo-Commit"); commit != "" && commit != c.revision {
		return fmt.Errorf("the hub answers %q of commit %.80q, want %s", name, commit, c.revision)
	}
	for _, key := range []string{"ETag", "X-Linked-Etag"} {
		tag := reply.Header.Get(key)
		if tag == "" {
			continue
		}
		plain := strings.Trim(strings.TrimPrefix(tag, "W/"), `"`)
		if !plainTag.MatchString(plain) {
			return fmt.Errorf("the hub's ETag for %q is %.200q, which is neither hexadecimal nor a plain name", name, tag)
		}
		reply.Header.Set(key, `"`+plain+`"`)
	}
	if method == http.MethodHead {
		return nil
	}
	if reply.ContentLength >= 0 && reply.ContentLength != size {
		return fmt.Errorf("the hub sends %d bytes of %q, which it lists with %d", reply.ContentLength, name, size)
	}
	reply.Body = &exact{ReadCloser: reply.Body, c: c, name: name, size: size, left: size}
	return nil
}

// exact is a body that is an error unless it has the listed size.
type exact struct {
	io.ReadCloser
	c          *check
	name       string
	size, left int64
}

// Read implements io.Reader.
func (e *exact) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	switch e.left -= int64(n); {
	case e.left < 0:
		return 0, e.c.fail(fmt.Errorf("the hub sends more of %q than the %d bytes that it lists", e.name, e.size))
	case err == io.EOF && e.left > 0:
		return n, e.c.fail(fmt.Errorf("the hub sends %d bytes of %q, which it lists with %d", e.size-e.left, e.name, e.size))
	case err != nil && err != io.EOF:
		return n, e.c.fail(fmt.Errorf("%s: %w", e.name, err))
	}
	return n, err
}
