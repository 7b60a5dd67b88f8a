package imported

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/nets/weights/hub"
	"github.com/ledg-go/ledg/datasets/regular"
)

// Hub downloads and caches networks from the Hugging Face hub. The environment variable
// HF_ENDPOINT names a mirror.
type Hub struct {
	// Dir is the cache; empty means ledg/networks in the user's cache folder.
	Dir string
	// Say, if not nil, receives one line before a download.
	Say func(string)
}

// Fetched is a downloaded network.
type Fetched struct {
	// Path is the ONNX file, with preprocessor_config.json, if any, in the same or the parent
	// folder. Name is OWNER/NAME@COMMIT with a shortened commit. Licence is the licence in the
	// repository's card, or empty.
	Path, Name, Licence string
	// Repository is OWNER/NAME, Commit the full commit.
	Repository, Commit string
}

var (
	hubName  = regexp.MustCompile(`^([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?:@([A-Za-z0-9][\w.-]*))?$`)
	hubFiles = []string{config.HubFile, "onnx/" + config.HubFile}
)

// Fetch downloads the network of a name that begins with [config.HubPrefix]: model.onnx or
// onnx/model.onnx, its external weight files and its preprocessor_config.json. Cached files are
// not downloaded again, and the commit of a revision (by default main) is resolved once.
func (h Hub) Fetch(ctx context.Context, name string) (Fetched, error) {
	m := hubName.FindStringSubmatch(strings.TrimPrefix(name, config.HubPrefix))
	if m == nil || strings.Contains(name, "..") {
		return Fetched{}, fmt.Errorf("%s: want %sOWNER/NAME or %sOWNER/NAME@REVISION", name, config.HubPrefix, config.HubPrefix)
	}
	f, err := h.fetch(ctx, m[1], m[2])
	if err != nil {
		return f, fmt.Errorf("%s: %s", name, firstLine(err))
	}
	return f, nil
}

func (h Hub) fetch(ctx context.Context, id, revision string) (f Fetched, err error) {
	if h.Dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return f, err
		}
		h.Dir = filepath.Join(user, "ledg", "networks")
	}
	repo, err := hub.Open(ctx, filepath.Join(h.Dir, "hub"), id, revision)
	if err != nil {
		return f, err
	}
	there := repo.Names()
	main, err := chooseFile(there)
	if err != nil {
		return f, err
	}
	f.Name, f.Repository, f.Commit, f.Licence = id+"@"+repo.Commit[:7], id, repo.Commit, repo.Licence
	folder := filepath.Join(h.Dir, strings.ReplaceAll(id, "/", "--")+"@"+repo.Commit)
	f.Path = filepath.Join(folder, filepath.FromSlash(main))
	if _, err := os.Stat(f.Path); err == nil {
		return f, nil
	}
	if size := repo.Size(main); size > most {
		return f, fmt.Errorf("%s has %d bytes, more than the %d GiB of an ONNX file", main, size, most>>30)
	}
	if h.Say != nil {
		licence := "no licence"
		if f.Licence != "" {
			licence = "licence " + f.Licence
		}
		h.Say(fmt.Sprintf("fetching %s (%s, %s, %s) from the Hugging Face hub, once, into %s", f.Name, main, humanize.Bytes(uint64(max(0, repo.Size(main)))), licence, folder))
	}
	network, err := repo.Download(ctx, main)
	if err != nil {
		return f, err
	}
	files, err := filesBeside(network[0], main)
	if err != nil {
		return f, err
	}
	if h.Say != nil && len(files) > 0 {
		var bytes uint64
		for _, name := range files {
			bytes += uint64(max(0, repo.Size(name)))
		}
		h.Say(fmt.Sprintf("fetching its weights (%s)", humanize.Bytes(bytes)))
	}
	if slices.Contains(there, PreprocessorFile) {
		files = append(files, PreprocessorFile)
	}
	files = append(files, main) // the last one: if it exists, the download is complete
	paths, err := repo.Download(ctx, files...)
	if err != nil {
		return f, err
	}
	for i, p := range paths {
		if err := place(p, filepath.Join(folder, filepath.FromSlash(files[i]))); err != nil {
			return f, err
		}
	}
	return f, nil
}

// filesBeside returns the external weight files that the network main needs, by name in the
// repository.
func filesBeside(network, main string) (files []string, err error) {
	b, err := regular.Read(network, most)
	if err != nil {
		return nil, err
	}
	m, err := parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s is not an ONNX network that can be read: %w", main, err)
	}
	if files, err = filesOf(m); err != nil {
		return nil, fmt.Errorf("%s: %w", main, err)
	}
	for i, name := range files {
		files[i] = path.Join(path.Dir(main), name)
	}
	return files, nil
}

// chooseFile chooses the network among the files of a repository.
func chooseFile(there []string) (string, error) {
	if i := slices.IndexFunc(hubFiles, func(s string) bool { return slices.Contains(there, s) }); i >= 0 {
		return hubFiles[i], nil
	}
	var others []string
	for _, s := range there {
		if strings.HasSuffix(s, ".onnx") && len(others) < 8 {
			others = append(others, s)
		}
	}
	if others == nil {
		return "", fmt.Errorf("it has neither %s", strings.Join(hubFiles, " nor "))
	}
	return "", fmt.Errorf("it has neither %s, but %s: fetch one and name the file", strings.Join(hubFiles, " nor "), strings.Join(others, ", "))
}

// place links or copies a file of the hub's cache, which is a symbolic link, to a regular path:
// external weights are read only if no link leads out of the folder.
func place(from, to string) error {
	real, err := filepath.EvalSymlinks(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o777)
	}
	if err != nil {
		return err
	}
	if err := os.Link(real, to); err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	return regular.CopyFile(real, to)
}
