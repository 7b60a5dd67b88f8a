// Package hub downloads files from repositories on the Hugging Face hub. [Open] resolves a
// revision to a commit, and [Repo.Download] fetches files with the library go-huggingface. The
// hub, or the mirror in HF_ENDPOINT, is not trusted: every response is checked before the
// library sees it (check.go). No token is sent.
package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gomlx/go-huggingface/hub"
)

// Repo is a repository at one commit.
type Repo struct {
	// ID is OWNER/NAME, Commit the commit's hexadecimal hash.
	ID, Commit string
	// Licence is the licence in the repository's card, or empty. It is untrusted text.
	Licence string

	dir   string
	names []string
	sizes map[string]int64
}

var (
	idName       = regexp.MustCompile(`^[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*$`)
	revisionName = regexp.MustCompile(`^[A-Za-z0-9][\w.-]*$`)
	commitName   = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
)

// Open resolves a revision of a repository to a commit; an empty revision means main. The cache
// in dir (go-huggingface's layout) stores the result, which is not requested again.
func Open(ctx context.Context, dir, id, revision string) (*Repo, error) {
	revision = cmp.Or(revision, "main")
	if !idName.MatchString(id) || !revisionName.MatchString(revision) || strings.Contains(id+revision, "..") {
		return nil, fmt.Errorf("%s@%s: want OWNER/NAME@REVISION", id, revision)
	}
	r := &Repo{ID: id, Commit: revision, dir: dir}
	err := r.do(ctx, func(repo *hub.Repo) error {
		if err := repo.DownloadInfo(false); err != nil {
			return err
		}
		return r.read(repo.Info(), revision)
	})
	return r, err
}

// read takes what the hub, or the cache, lists of the repository.
func (r *Repo) read(info *hub.RepoInfo, revision string) error {
	if !commitName.MatchString(info.CommitHash) {
		return fmt.Errorf("the hub names the commit %.80q, want 40 or 64 hexadecimal digits", info.CommitHash)
	}
	if commitName.MatchString(revision) && info.CommitHash != revision {
		return fmt.Errorf("the hub names the commit %s, want %s", info.CommitHash, revision)
	}
	r.Commit, r.names, r.sizes = info.CommitHash, nil, map[string]int64{}
	for _, f := range info.Siblings {
		if f == nil {
			continue
		}
		r.names = append(r.names, f.Name)
		r.sizes[f.Name] = f.Size
	}
	if info.CardData != nil {
		r.Licence = info.CardData.License
	}
	return nil
}

// Names lists the repository's files, with slashes.
func (r *Repo) Names() []string { return slices.Clone(r.names) }

// Size returns a file's size in bytes as listed by the hub, or 0.
func (r *Repo) Size(name string) int64 { return r.sizes[name] }

// Download downloads files into the cache and returns their paths, in order. A file that the
// repository does not list, or whose length differs from the listed one, is an error.
func (r *Repo) Download(ctx context.Context, names ...string) (paths []string, err error) {
	err = r.do(ctx, func(repo *hub.Repo) error {
		if err := repo.DownloadInfo(false); err != nil {
			return err
		}
		if err := r.read(repo.Info(), r.Commit); err != nil {
			return err
		}
		for _, name := range names {
			if !slices.Contains(r.names, name) {
				return fmt.Errorf("the repository has no file %q", name)
			}
		}
		paths, err = repo.DownloadFilesCtx(ctx, names...)
		return err
	})
	return paths, err
}

// do calls the library for the repository at r.Commit, through a check. The library sees the
// context between its reads only, so the wait for it ends with the context.
func (r *Repo) do(ctx context.Context, f func(*hub.Repo) error) error {
	c, err := newCheck(ctx, r.ID, r.Commit)
	if err != nil {
		return err
	}
	defer c.close()
	repo := hub.New(r.ID).WithEndpoint(c.endpoint()).WithRevision(r.Commit).WithCacheDir(filepath.ToSlash(r.dir))
	repo.Verbosity = 0
	done := make(chan error, 1)
	go func() { done <- f(repo) }()
	select {
	case err = <-done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if first := c.failed(); first != nil {
		return first
	}
	if err != nil {
		return errors.New(c.restore(err.Error()))
	}
	return nil
}
