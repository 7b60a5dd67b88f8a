package model

import (
	"context"
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

// networkFiles are where a network is in a repository or a folder, in the order of preference: the image
// tower of a network of images and texts, or one file.
var networkFiles = []string{"onnx/vision_model.onnx", "vision_model.onnx", "visual/" + config.HubFile, config.HubFile, "onnx/" + config.HubFile}

// variant is a file of another number format, such as vision_model_fp16.onnx.
func variant(file, of string) string {
	if of == "" {
		return file
	}
	return strings.TrimSuffix(file, ".onnx") + "_" + of + ".onnx"
}

// variants are networkFiles of a number format.
func variants(of string) (list []string) {
	for _, name := range networkFiles {
		list = append(list, variant(name, of))
	}
	return list
}

// instead says which networks are there; name stands for the name that they can be chosen by.
func instead(there []string, name string) string {
	if len(there) == 0 {
		return ""
	}
	return fmt.Sprintf("; there is %s: name its number format, such as %s:fp16, or the file", strings.Join(there[:min(len(there), 8)], ", "), name)
}

// NetworkInFolder finds the network in a folder, as [FetchNetwork] does in a repository. ok is false for what
// is no folder.
func NetworkInFolder(folder string) (path string, ok bool, err error) {
	of := ""
	if info, err := os.Stat(folder); err != nil || !info.IsDir() { // FOLDER:fp16, but for a drive's letter
		if at := strings.LastIndexByte(folder, ':'); at > 1 {
			folder, of = folder[:at], folder[at+1:]
		}
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return "", false, nil
	}
	for _, name := range variants(of) {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, true, nil
		}
	}
	var there []string
	for _, pattern := range []string{"*.onnx", "onnx/*.onnx"} {
		list, _ := filepath.Glob(filepath.Join(folder, filepath.FromSlash(pattern)))
		for _, path := range list {
			there = append(there, filepath.Base(path))
		}
	}
	return "", true, fmt.Errorf("%s has no network: want one of %s%s", folder, strings.Join(variants(of), ", "), instead(there, "FOLDER"))
}

// FetchNetwork downloads the network of a name that begins with [config.HubPrefix]: the first of networkFiles,
// its external weight files and its preprocessor_config.json; with texts also its text tower and tokenizer.
// NAME:fp16 is of another number format: vision_model_fp16.onnx, and so on. Files in the cache
// dir, by default ledg/networks in the user's cache folder, are not downloaded again, and the
// commit of a revision (by default main) is resolved once. say, if not nil, receives one line
// before a download.
func FetchNetwork(ctx context.Context, name, dir string, texts bool, say func(string)) (f FetchedNetwork, err error) {
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
	rest, of, _ := strings.Cut(strings.TrimPrefix(name, config.HubPrefix), ":")
	id, revision, _ := strings.Cut(rest, "@")
	repo, err := hub.Open(ctx, filepath.Join(dir, "hub"), id, revision)
	if err != nil {
		return f, err
	}
	main, err := chooseFile(repo, of)
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
	towers, others := []string{main.Name}, []string{preprocess.File, preprocess.OpenCLIPFile}
	if texts {
		others = append(others, tokenizerFiles...)
		for _, name := range tokenizerFiles {
			others = append(others, "textual/"+name)
		}
		if text := filepath.ToSlash(imported.TextFile(filepath.FromSlash(main.Name))); text != main.Name {
			if _, ok := repo.Lookup(text); !ok {
				return f, fmt.Errorf("it has no text tower: there is no %s; names need a network of images and texts, such as CLIP or SigLIP", text)
			}
			towers = append(towers, text)
		}
	}
	for _, name := range towers {
		if err := download(f.Name+" ("+name+", ", ", "+licence+") from the Hugging Face hub, once, into "+dir, name); err != nil {
			return f, err
		}
		files, err := imported.WeightFiles(repo.Path(name))
		if err != nil {
			return f, err
		}
		for i, file := range files {
			files[i] = path.Join(path.Dir(name), file)
		}
		if err := download("its weights (", ")", files...); err != nil {
			return f, err
		}
	}
	for _, name := range others {
		if _, ok := repo.Lookup(name); ok {
			if _, err := repo.Download(ctx, name); err != nil {
				return f, err
			}
		}
	}
	return f, nil
}

// chooseFile chooses the network among the files of a repository.
func chooseFile(r *hub.Repo, of string) (hub.File, error) {
	for _, name := range variants(of) {
		if f, ok := r.Lookup(name); ok {
			return f, nil
		}
	}
	var there []string
	for _, f := range r.Files {
		if strings.HasSuffix(f.Name, ".onnx") {
			there = append(there, f.Name)
		}
	}
	return hub.File{}, fmt.Errorf("it has none of %s%s", strings.Join(variants(of), ", "), instead(there, "hf:OWNER/NAME"))
}
