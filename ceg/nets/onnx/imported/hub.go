package imported

import (
	"context"
	"fmt"
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
	main, err := chooseFile(repo.Names())
	if err != nil {
		return f, err
	}
	f.Name, f.Repository, f.Commit, f.Licence = id+"@"+repo.Commit[:7], id, repo.Commit, repo.Licence
	if size := repo.Size(main); size > most {
		return f, fmt.Errorf("%s has %d bytes, more than the %d GiB of an ONNX file", main, size, most>>30)
	}
	f.Path = repo.Path(main)
	download := func(what string, files ...string) error {
		var size uint64
		for _, name := range files {
			if _, err := os.Stat(repo.Path(name)); err != nil {
				size += uint64(max(0, repo.Size(name)))
			}
		}
		if h.Say != nil && size > 0 {
			h.Say(fmt.Sprintf(what, humanize.Bytes(size)))
		}
		_, err := repo.Download(ctx, files...)
		return err
	}
	licence := "no licence"
	if f.Licence != "" {
		licence = "licence " + strings.ReplaceAll(f.Licence, "%", "%%")
	}
	if err := download(fmt.Sprintf("fetching %s (%s, %%s, %s) from the Hugging Face hub, once, into %s", f.Name, main, licence, strings.ReplaceAll(h.Dir, "%", "%%")), main); err != nil {
		return f, err
	}
	files, err := filesBeside(f.Path, main)
	if err != nil {
		return f, err
	}
	if err := download("fetching its weights (%s)", files...); err != nil || !slices.Contains(repo.Names(), PreprocessorFile) {
		return f, err
	}
	_, err = repo.Download(ctx, PreprocessorFile)
	return f, err
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
