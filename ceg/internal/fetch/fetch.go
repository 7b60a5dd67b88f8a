// Package fetch downloads files whose size, and where known SHA-256, is pinned, so that their source
// need not be trusted. The environment names a proxy (HTTPS_PROXY) and certificates (SSL_CERT_FILE).
package fetch

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ledg-go/ledg/datasets/registers"
	"github.com/ledg-go/ledg/datasets/regular"
)

// stall is how long a server may send nothing.
var stall = time.Minute

// File is a file at a URL.
type File struct {
	URL    string
	Size   int64  // in bytes
	SHA256 string // in hexadecimal; "" for any
}

// Safe reports whether a URL is encrypted, or of this machine.
func Safe(u *url.URL) bool {
	host := u.Hostname()
	local := strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
	return u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" && local)
}

var client = http.Client{CheckRedirect: func(r *http.Request, via []*http.Request) error {
	if len(via) > 10 || !Safe(r.URL) {
		return fmt.Errorf("redirected to %.200q, want HTTPS after at most 10 redirections", r.URL.Redacted())
	}
	return nil
}}

// get calls use with the body of a response. Its errors name the URL.
func get(ctx context.Context, address string, use func(io.Reader) error) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(stall, func() { cancel(fmt.Errorf("nothing has come for %v", stall)) })
	defer timer.Stop()
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", address, err)
		}
	}()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	reply, err := client.Do(request)
	if err != nil {
		return errors.Unwrap(err) // of the *url.Error, which repeats the URL
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return errors.New(reply.Status)
	}
	return use(alive{reply.Body, timer})
}

// alive puts a timer back as long as something comes.
type alive struct {
	io.Reader
	timer *time.Timer
}

func (a alive) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	a.timer.Reset(stall)
	return n, err
}

// Text returns what a URL has, at most that many bytes.
func Text(ctx context.Context, address string, most int64) (text []byte, err error) {
	err = get(ctx, address, func(r io.Reader) (err error) {
		text, err = io.ReadAll(io.LimitReader(r, most+1))
		if err == nil && int64(len(text)) > most {
			err = fmt.Errorf("it has more than %d bytes", most)
		}
		return err
	})
	return text, err
}

// Save writes the file to path, in folders that it makes. On an error path keeps what it had. What
// comes is written to progress, too, if that is not nil.
func (f File) Save(ctx context.Context, path string, progress io.Writer) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	if progress == nil {
		progress = io.Discard
	}
	return get(ctx, f.URL, func(r io.Reader) error {
		return regular.WriteFile(path, func(w io.Writer) error {
			sum := registers.SHA256()
			n, err := io.Copy(io.MultiWriter(w, sum, progress), io.LimitReader(r, f.Size+1))
			digest := fmt.Sprintf("%x", sum.Sum(nil))
			switch {
			case err != nil:
				return err
			case n != f.Size:
				return fmt.Errorf("it has %d bytes or more, want %d", n, f.Size)
			case f.SHA256 != "" && digest != f.SHA256:
				return fmt.Errorf("its SHA-256 is %s, want %s", digest, f.SHA256)
			}
			return nil
		})
	})
}

// Unpack saves one file of a zip archive, such as a Python wheel, to path.
func (f File) Unpack(ctx context.Context, member, path string, progress io.Writer) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".download-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	packed := filepath.Join(dir, "archive.zip")
	if err := f.Save(ctx, packed, progress); err != nil {
		return err
	}
	z, err := zip.OpenReader(packed)
	if err != nil {
		return err
	}
	defer z.Close()
	in, err := z.Open(member)
	if err != nil {
		return err
	}
	defer in.Close()
	return regular.WriteFile(path, func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	})
}
