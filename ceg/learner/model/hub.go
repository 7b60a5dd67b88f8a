package model

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/nets/onnx/imported"
	"github.com/ledg-go/ledg/ceg/nets/preprocess"
	"github.com/ledg-go/ledg/ceg/nets/weights/hub"
)

// FetchedNetwork is an ONNX network from the Hugging Face hub, or the mirror in HF_ENDPOINT.
type FetchedNetwork struct {
	// Path is the ONNX file, with preprocessor_config.json, if any, in the same or the parent
	// folder. Name is OWNER/NAME@COMMIT with a shortened commit. Licence is the licence in the
	// repository's card, or empty.
	Path, Name, Licence string
	// Repository is OWNER/NAME, Commit the full commit.
	Repository, Commit string
}

var hubFiles = []string{config.HubFile, "onnx/" + config.HubFile}

// FetchNetwork downloads the network of a name that begins with [config.HubPrefix]: model.onnx or
// onnx/model.onnx, its external weight files and its preprocessor_config.json. Files in the cache
// dir, by default ledg/networks in the user's cache folder, are not downloaded again, and the
// commit of a revision (by default main) is resolved once. say, if not nil, receives one line
// before a download.
func FetchNetwork(ctx context.Context, name, dir string, say func(string)) (f FetchedNetwork, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
	}()
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return f, err
		}
		dir = filepath.Join(user, "ledg", "networks")
	}
	id, revision, _ := strings.Cut(strings.TrimPrefix(name, config.HubPrefix), "@")
	repo, err := hub.Open(ctx, filepath.Join(dir, "hub"), id, revision)
	if err != nil {
		return f, err
	}
	main, err := chooseFile(repo)
	if err != nil {
		return f, err
	}
	if main.Size > imported.MaxFile {
		return f, fmt.Errorf("%s has %d bytes, more than the %d GiB of an ONNX file", main.Name, main.Size, imported.MaxFile>>30)
	}
	f = FetchedNetwork{Path: repo.Path(main.Name), Name: id + "@" + repo.Commit[:7], Licence: repo.Licence, Repository: id, Commit: repo.Commit}
	download := func(what, rest string, names ...string) error {
		var size uint64
		for _, name := range names {
			if _, err := os.Stat(repo.Path(name)); err != nil {
				file, _ := repo.Lookup(name)
				size += uint64(max(0, file.Size))
			}
		}
		if say != nil && size > 0 {
			say("fetching " + what + humanize.Bytes(size) + rest)
		}
		_, err := repo.Download(ctx, names...)
		return err
	}
	licence := "no licence"
	if f.Licence != "" {
		licence = "licence " + f.Licence
	}
	if err := download(f.Name+" ("+main.Name+", ", ", "+licence+") from the Hugging Face hub, once, into "+dir, main.Name); err != nil {
		return f, err
	}
	files, err := imported.WeightFiles(f.Path)
	if err != nil {
		return f, err
	}
	for i, name := range files {
		files[i] = path.Join(path.Dir(main.Name), name)
	}
	if err := download("its weights (", ")", files...); err != nil {
		return f, err
	}
	if _, ok := repo.Lookup(preprocess.File); ok {
		_, err = repo.Download(ctx, preprocess.File)
	}
	return f, err
}

// chooseFile chooses the network among the files of a repository.
func chooseFile(r *hub.Repo) (hub.File, error) {
	for _, name := range hubFiles {
		if f, ok := r.Lookup(name); ok {
			return f, nil
		}
	}
	neither := "it has neither " + strings.Join(hubFiles, " nor ")
	var others []string
	for _, f := range r.Files {
		if strings.HasSuffix(f.Name, ".onnx") && len(others) < 8 {
			others = append(others, f.Name)
		}
	}
	if others != nil {
		neither += ", but " + strings.Join(others, ", ") + ": fetch one and name the file"
	}
	return hub.File{}, errors.New(neither)
}
