package pypi

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"math"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ledg-go/ledg/datasets/regular"
)

// File is a file of a PyPI project.
type File struct {
	Project string // in its normal form: lower case, with dashes
	Name    string // of the file
	SHA256  string // of its content, in hexadecimal
	Size    int64  // in bytes
}

// Client downloads files according to its Config, one at a time.
type Client struct {
	config Config
	http   *http.Client
	// Progress reports the number of downloaded bytes of a file; it may be nil.
	Progress func(done, size int64)
	// pause is the wait before the first repetition; it doubles.
	pause time.Duration
	// lost holds unreachable hosts, which are not tried again.
	lost map[string]error
}

// NewClient returns a client for c. Unreadable certificates and an invalid proxy are errors.
func NewClient(c Config) (*Client, error) {
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: c.Timeout}
	if c.Cert != "" {
		pool, err := certificates(c.Cert)
		if err != nil {
			return nil, fmt.Errorf("pip's certificates: %w", err)
		}
		t.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	if c.Proxy != "" {
		u, err := url.Parse(c.Proxy)
		if err != nil {
			return nil, fmt.Errorf("pip's proxy: %w", err)
		}
		t.Proxy = http.ProxyURL(u)
	}
	client := &Client{config: c, http: &http.Client{Transport: Stalls{t, c.Timeout}}, pause: 250 * time.Millisecond, lost: map[string]error{}}
	if len(c.TrustedHosts) > 0 {
		lax := t.Clone()
		if lax.TLSClientConfig == nil {
			lax.TLSClientConfig = &tls.Config{}
		}
		lax.TLSClientConfig.InsecureSkipVerify = true // what comes is checked by its digest
		client.http.Transport = Stalls{trusting{hosts: c.TrustedHosts, strict: t, lax: lax}, c.Timeout}
	}
	return client, nil
}

// certificates reads the PEM files at path, a file or a folder.
func certificates(path string) (*x509.CertPool, error) {
	files := []string{path}
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if info.IsDir() {
		if files, err = filepath.Glob(filepath.Join(path, "*")); err != nil {
			return nil, err
		}
	}
	pool, any := x509.NewCertPool(), false
	for _, file := range files {
		pem, err := regular.Read(file, 16<<20)
		if err != nil && len(files) == 1 {
			return nil, err
		}
		any = pool.AppendCertsFromPEM(pem) || any
	}
	if !any {
		return nil, fmt.Errorf("%s: it has no certificate in PEM", path)
	}
	return pool, nil
}

// trusting asks some hosts without checking their certificates.
type trusting struct {
	hosts       []string
	strict, lax http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t trusting) RoundTrip(r *http.Request) (*http.Response, error) {
	if slices.Contains(t.hosts, r.URL.Host) || slices.Contains(t.hosts, r.URL.Hostname()) {
		return t.lax.RoundTrip(r)
	}
	return t.strict.RoundTrip(r)
}

// Fetch downloads f to a new file at path and returns its source. It tries the sources in order
// until one has the file with the right digest; the error gives the reason for each. On an error
// no file is left at path.
func (c *Client) Fetch(ctx context.Context, f File, path string) (from string, err error) {
	var reasons []error
	for _, link := range c.config.FindLinks {
		from, err := c.fromLinks(ctx, f, link, path)
		if err == nil {
			return from, nil
		}
		if !errors.Is(err, errNotThere) {
			reasons = append(reasons, err)
		}
	}
	for _, index := range c.config.Indexes {
		page := strings.TrimSuffix(index, "/") + "/" + f.Project + "/"
		from, err := c.fromPage(ctx, f, page, path)
		if err == nil {
			return from, nil
		}
		reasons = append(reasons, err)
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if len(reasons) == 0 {
		return "", fmt.Errorf("%s: pip's configuration names no index (no-index), and find-links does not have it", f.Name)
	}
	return "", errors.Join(reasons...)
}

// errNotThere is that a source does not have a file.
var errNotThere = errors.New("it is not there")

// fromLinks fetches f from an entry of find-links: a folder, or the URL of a page.
func (c *Client) fromLinks(ctx context.Context, f File, link, to string) (string, error) {
	folder := link
	if u, err := url.Parse(link); err == nil && u.Scheme != "" {
		if u.Scheme != "file" {
			return c.fromPage(ctx, f, link, to)
		}
		folder = u.Path
	}
	file := filepath.Join(folder, f.Name)
	in, err := regular.Open(file, math.MaxInt64)
	if err != nil {
		return "", fmt.Errorf("%s: %w", file, errNotThere)
	}
	defer in.Close()
	return file, c.keep(f, in, to)
}

// fromPage fetches f from a page of links, which is HTML (PEP 503) or JSON (PEP 691).
func (c *Client) fromPage(ctx context.Context, f File, page, to string) (string, error) {
	var link *url.URL
	err := c.get(ctx, page, func(r *http.Response) error {
		body, err := io.ReadAll(io.LimitReader(r.Body, maxPage+1))
		if err != nil {
			return err
		}
		if len(body) > maxPage {
			return &contentError{"size", "larger", fmt.Sprintf("a page of links of at most %d bytes", maxPage)}
		}
		link, err = findLink(body, r.Header.Get("Content-Type"), r.Request.URL, f.Name)
		return err
	})
	if err != nil {
		return "", err
	}
	if base, err := url.Parse(page); err == nil && link.User == nil && link.Host == base.Host {
		link.User = base.User // as pip does
	}
	link.Fragment = ""
	err = c.get(ctx, link.String(), func(r *http.Response) error {
		return c.keep(f, r.Body, to)
	})
	return link.Redacted(), err
}

// maxPage limits a page of links; PyPI's largest have a few MB.
const maxPage = 16 << 20

// hrefs finds the targets of links in HTML, quoted in one way or the other.
var hrefs = regexp.MustCompile(`(?i)<a\s[^>]*?href\s*=\s*(?:"([^"]*)"|'([^']*)')`)

// findLink returns the URL of the file with a name on a page.
func findLink(body []byte, contentType string, page *url.URL, name string) (*url.URL, error) {
	at := func(link string) *url.URL {
		if u, err := page.Parse(link); err == nil && path.Base(u.Path) == name {
			return u
		}
		return nil
	}
	if strings.Contains(contentType, "json") {
		var list struct {
			Files []struct{ Filename, URL string }
		}
		if err := json.Unmarshal(body, &list); err != nil {
			return nil, err
		}
		for _, f := range list.Files {
			if f.Filename == name {
				if u := at(f.URL); u != nil {
					return u, nil
				}
			}
		}
	} else {
		for m := hrefs.FindSubmatchIndex(body); m != nil; m = hrefs.FindSubmatchIndex(body) {
			var link []byte
			if m[2] >= 0 {
				link = body[m[2]:m[3]]
			} else {
				link = body[m[4]:m[5]]
			}
			if u := at(html.UnescapeString(string(link))); u != nil {
				return u, nil
			}
			body = body[m[1]:]
		}
	}
	return nil, fmt.Errorf("%s: %w", name, errNotThere)
}

// get requests a URL and returns the response, with retries after a lost connection or from a
// busy server. Its errors name the URL without a password.
func (c *Client) get(ctx context.Context, address string, use func(*http.Response) error) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	if err := c.lost[u.Host]; err != nil {
		return fmt.Errorf("%s: %w", u.Redacted(), err)
	}
	pause := c.pause
	for try := 0; ; try++ {
		again, err := c.getOnce(ctx, address, use)
		if err == nil {
			return nil
		}
		if !again || try >= c.config.Retries || ctx.Err() != nil {
			if again {
				c.lost[u.Host] = err
			}
			return fmt.Errorf("%s: %w", u.Redacted(), err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		pause = min(2*pause, 10*time.Second)
	}
}

// getOnce says whether trying again may help.
func (c *Client) getOnce(ctx context.Context, address string, use func(*http.Response) error) (again bool, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false, err
	}
	request.Header.Set("Accept", "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1, */*;q=0.01")
	r, err := c.http.Do(request)
	if err != nil {
		var unwrapped *url.Error
		if errors.As(err, &unwrapped) { // it names the URL, and so will get
			err = unwrapped.Err
		}
		var certificate *tls.CertificateVerificationError
		return !errors.As(err, &certificate), err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return r.StatusCode >= 500 || r.StatusCode == http.StatusTooManyRequests, errors.New(r.Status)
	}
	err = use(r)
	var wrong *contentError
	var disk *fs.PathError
	return !errors.As(err, &wrong) && !errors.As(err, &disk) && !errors.Is(err, errNotThere), err
}

// contentError is the error of a file with unexpected content.
type contentError struct{ what, got, want string }

func (e *contentError) Error() string {
	return fmt.Sprintf("its %s is %s, want %s", e.what, e.got, e.want)
}

// keep writes what in has to a new file and checks it.
func (c *Client) keep(f File, in io.Reader, to string) (err error) {
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, out.Close())
		if err != nil {
			os.Remove(to)
		}
	}()
	sum := sha256.New()
	counted := &counter{size: f.Size, tell: c.Progress}
	n, err := io.Copy(io.MultiWriter(out, sum, counted), io.LimitReader(in, f.Size+1))
	switch got := fmt.Sprintf("%x", sum.Sum(nil)); {
	case err != nil:
		return err
	case n < f.Size:
		return fmt.Errorf("%s ends after %d bytes of %d: %w", f.Name, n, f.Size, io.ErrUnexpectedEOF)
	case n > f.Size:
		return &contentError{"size", fmt.Sprintf("more than %d bytes", f.Size), fmt.Sprint(f.Size)}
	case got != f.SHA256:
		return &contentError{"SHA-256", got, f.SHA256}
	}
	return nil
}

// counter tells how much was written to it.
type counter struct {
	done, size int64
	tell       func(done, size int64)
}

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	c.done += int64(len(p))
	if c.tell != nil {
		c.tell(c.done, c.size)
	}
	return len(p), nil
}
