// Package hub downloads files from repositories on the Hugging Face hub, or its mirror in
// HF_ENDPOINT. Neither is trusted: names stay in the repository, and a file has the size and, if
// it is large, the SHA-256 of the listing. go-huggingface checks none of these, so it is not used;
// the cache has its layout, which Python shares. No token is sent.
package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/internal/fetch"
	"github.com/ledg-go/ledg/datasets/regular"
)

const (
	publicHub  = "https://huggingface.co"
	maxListing = 32 << 20 // bytes
	maxFile    = 64 << 30 // bytes
)

// Repo is a repository at one commit.
type Repo struct {
	// ID is OWNER/NAME, Commit the commit's hexadecimal hash.
	ID, Commit string
	// Licence is the licence in the repository's card, or empty. It is untrusted text.
	Licence string

	// Files are the repository's files.
	Files []File

	dir string
}

// File is a file in the hub's listing of a repository: its name, with slashes, and its size in
// bytes.
type File struct {
	Name string `json:"rfilename"`
	Size int64  `json:"size"`
	LFS  struct {
		SHA256 string `json:"sha256"`
	} `json:"lfs"`
}

var (
	idName       = regexp.MustCompile(`^[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*$`)
	revisionName = regexp.MustCompile(`^[A-Za-z0-9][\w.-]*$`)
	commitName   = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
)

// Folder is where the cache in dir keeps a repository.
func Folder(dir, id string) string {
	return filepath.Join(dir, "models--"+strings.ReplaceAll(id, "/", "--"))
}

func endpoint() (string, error) {
	address := strings.TrimSuffix(cmp.Or(os.Getenv("HF_ENDPOINT"), publicHub), "/")
	u, err := url.Parse(address)
	if err != nil || !fetch.Safe(u) {
		return "", fmt.Errorf("HF_ENDPOINT is %.200q, want an address such as %s; plain HTTP is allowed to this machine only", address, publicHub)
	}
	return address, nil
}

// Open resolves a revision of a repository to a commit; an empty revision means main. The cache
// in dir stores the result, which is not requested again.
func Open(ctx context.Context, dir, id, revision string) (*Repo, error) {
	revision = cmp.Or(revision, "main")
	if !idName.MatchString(id) || !revisionName.MatchString(revision) || strings.Contains(id+revision, "..") {
		return nil, fmt.Errorf("want %sOWNER/NAME or %[1]sOWNER/NAME@REVISION", config.HubPrefix)
	}
	r := &Repo{ID: id, dir: Folder(dir, id)}
	cached := filepath.Join(r.dir, "info", revision)
	text, err := regular.Read(cached, maxListing)
	if err == nil {
		return r, r.read(text, revision)
	}
	base, err := endpoint()
	if err != nil {
		return nil, err
	}
	if text, err = fetch.Text(ctx, base+"/api/models/"+id+"/revision/"+revision+"?blobs=true", maxListing); err != nil {
		return nil, err
	}
	if err := r.read(text, revision); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(cached), 0o777); err != nil {
		return nil, err
	}
	return r, regular.Write(cached, text)
}

// read takes and checks what the hub lists of the repository.
func (r *Repo) read(text []byte, revision string) error {
	var list struct {
		SHA      string `json:"sha"`
		Siblings []File `json:"siblings"`
		CardData struct {
			License any `json:"license"` // one text, or several
		} `json:"cardData"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("the hub's listing of %s: %w", r.ID, err)
	}
	if !commitName.MatchString(list.SHA) || commitName.MatchString(revision) && list.SHA != revision {
		return fmt.Errorf("the hub names the commit %.80q for %s, want 40 or 64 hexadecimal digits", list.SHA, revision)
	}
	for _, f := range list.Siblings {
		if !filepath.IsLocal(filepath.FromSlash(f.Name)) || strings.Contains(f.Name, "..") || strings.Contains(f.Name, `\`) {
			return fmt.Errorf("the hub lists a file %.200q, which is no name in a repository", f.Name)
		}
	}
	r.Commit, r.Files = list.SHA, list.Siblings
	switch licence := list.CardData.License.(type) {
	case string:
		r.Licence = licence
	case []any:
		r.Licence = strings.Trim(fmt.Sprint(licence), "[]")
	}
	return nil
}

// Lookup returns a file by name.
func (r *Repo) Lookup(name string) (File, bool) {
	i := slices.IndexFunc(r.Files, func(f File) bool { return f.Name == name })
	if i < 0 {
		return File{}, false
	}
	return r.Files[i], true
}

// Path is where [Repo.Download] puts a file.
func (r *Repo) Path(name string) string {
	return filepath.Join(r.dir, "snapshots", r.Commit, filepath.FromSlash(name))
}

// Download downloads files into the cache and returns their paths, in order. A file that the
// repository does not list, or whose content differs from the listed one, is an error.
func (r *Repo) Download(ctx context.Context, names ...string) (paths []string, err error) {
	for _, name := range names {
		f, ok := r.Lookup(name)
		if !ok {
			return nil, fmt.Errorf("the repository has no file %q", name)
		}
		if f.Size < 0 || f.Size > maxFile {
			return nil, fmt.Errorf("the hub lists %q with %d bytes, want at most %d GiB", name, f.Size, maxFile>>30)
		}
		path := r.Path(name)
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() != f.Size {
			err = Save(ctx, r.ID, r.Commit, name, fetch.File{Size: f.Size, SHA256: f.LFS.SHA256}, path)
		}
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// Save downloads a file of a repository to path. Its content has to be as pin says.
func Save(ctx context.Context, id, commit, name string, pin fetch.File, path string) error {
	base, err := endpoint()
	if err != nil {
		return err
	}
	pin.URL = base + "/" + id + "/resolve/" + commit + "/" + (&url.URL{Path: name}).EscapedPath()
	return pin.Save(ctx, path, nil)
}
