// Package photos computes features of the images in a folder with a pretrained network and
// caches them, so that training takes seconds. Features of unchanged images are reused when
// images are added.
package photos

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/learner/embedding"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/nets/weights/pretrained"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// Network is the default network.
const Network = "efficientnet-lite0"

// Views is the number of views of each image: a clean one, a weak one and two strong ones.
const Views = 4

// pause is how long to wait before looking again whether somebody else has ended.
const pause = 200 * time.Millisecond

// Options are the settings of [Embed].
type Options struct {
	// By names the network, its weights, the size of the images and the decoding rule; the zero
	// value means Network with ImageNet weights at its own size, on stored pixels.
	By datasets.Origin
	// FollowLinks uses images behind symbolic links out of the folder. Group and Classes are as in
	// datasets.Options; the latter are used only with a Group.
	FollowLinks bool
	// Boxes make the boxes in the images the items; nil for whole images.
	Boxes *datasets.Boxes
	// Strict makes an image that cannot be decoded an error; otherwise it is left out.
	Strict  bool
	Group   string
	Classes []string
	// CacheDir holds the features; empty means the folder ledg/features in
	// os.UserCacheDir.
	CacheDir string
	// Backend is the argument of engine.Open; empty selects one.
	Backend string
	// Known lists files that may already have features of these images.
	Known []string
	// Say receives messages; it may be nil. Allow decides whether weights are downloaded; nil
	// allows it.
	Say   func(line string)
	Allow func(question string) bool
	// Progress reports the number of finished images; it may be nil.
	Progress func(done, total int)

	free func(dir string) (bytes int64, ok bool) // regular.FreeSpace, but in tests
}

// room returns an error if there is no space for n bytes beside what there is of a file.
func (o Options) room(file string, n int64) error {
	free := o.free
	if free == nil {
		free = regular.FreeSpace
	}
	for _, name := range []string{file, file + ".part"} {
		if info, err := os.Stat(name); err == nil {
			n -= info.Size()
		}
	}
	if have, ok := free(filepath.Dir(file)); ok && have < n {
		return fmt.Errorf("the features need %s in %s, and %s are free there: make room, or name another folder with --cache",
			humanize.Bytes(uint64(n)), filepath.Dir(file), humanize.Bytes(uint64(max(have, 0))))
	}
	return nil
}

// Embed computes the features of the images in a folder, domain/class/image or domain/image, and
// returns their file. Cached features are reused, also those of a folder of another name.
func Embed(ctx context.Context, root string, o Options) (file string, err error) {
	if o.Say == nil {
		o.Say = func(string) {}
	}
	if root, err = filepath.Abs(root); err != nil {
		return "", err
	}
	by := o.By
	by.Seed = cmp.Or(by.Seed, 1)
	if by.ONNX == nil {
		by.Network = cmp.Or(by.Network, Network)
		known, _ := config.LookupNetwork(by.Network)
		by.Width, by.Size = cmp.Or(by.Width, known.Width), cmp.Or(by.Size, known.Size)
		by.Weights = cmp.Or(by.Weights, config.ImageNet)
	}
	if by.Decoding.Boxes() && o.Boxes == nil {
		return "", fmt.Errorf("%s: %w", root, rgb.ErrNoBox)
	}
	if by.Decoding.OfBoxes() == rgb.Scaled.OfBoxes() {
		by.Decoding = rgb.ScaledFor(by.Fit())
	}
	if o.Boxes != nil {
		by.Decoding = by.Decoding.OfBoxes()
	}
	if o.Group == "" { // folders name the classes
		o.Classes = nil
	}
	opening := datasets.Options{Decoding: by.Decoding, Patterns: o.By.Exclude, Layout: o.By.Layout, SiteRule: o.By.SiteRule, FollowLinks: o.FollowLinks, Boxes: o.Boxes, Group: o.Group, Classes: o.Classes}
	d, truth, err := datasets.Open("folder", root, opening)
	if err != nil {
		return "", err
	}
	front, err := model.OpenFront(ctx, by, pretrained.Options{Say: o.Say, Allow: o.Allow})
	if err != nil {
		return "", err
	}
	by = front.Origin
	by.Dataset, by.Root, by.FollowLinks = d.Name, root, o.FollowLinks
	if file, err = cacheFile(o.CacheDir, by); err != nil {
		return "", err
	}
	unlock, err := o.wait(ctx, file)
	if err != nil {
		return "", err
	}
	defer unlock()
	x, err := front.Extractor(ctx, o.Backend)
	if err != nil {
		return "", err
	}
	defer x.Close()
	if err := o.room(file, 2*4*int64(d.Len())*Views*int64(x.FeatureDim())); err != nil { // the journal, and then the file
		return "", err
	}
	o.Say(fmt.Sprintf("computing features of %d images with %s (%s), once; they are stored in %s", d.Len(), by.Network, cmp.Or(by.WeightsName, "random weights"), file))
	if note := by.Decoding.Note(); note != "" {
		o.Say(note)
	}
	writing := embedding.Options{Size: by.Size, Views: Views, Seed: by.Seed, Origin: by, Say: o.Say, Progress: o.Progress, Known: append(slices.Clone(o.Known), Cached(filepath.Dir(file))...)}
	err = embedding.Write(ctx, file, d, truth, x, writing)
	if bad := (*datasets.UnreadableError)(nil); errors.As(err, &bad) && !o.Strict {
		opening.Damaged = bad.Files
		if d, truth, err = datasets.Open("folder", root, opening); err != nil {
			return "", err
		}
		err = embedding.Write(ctx, file, d, truth, x, writing)
	}
	if line := d.LeftOut(); err == nil && line != "" {
		o.Say(line)
	}
	return file, err
}

// wait locks a file of features against others who would write the same, of whom it speaks while it
// waits for them.
func (o Options) wait(ctx context.Context, file string) (unlock func(), err error) {
	lock, holder := regular.NewLock(file+".lock"), file+".process"
	ok, err := lock.TryLock()
	if err == nil && !ok {
		other := "another process"
		if text, err := regular.Read(holder, 32); err == nil {
			other = "process " + strings.TrimSpace(string(text))
		}
		o.Say(fmt.Sprintf("waiting for %s, which computes these features", other))
		if _, err = lock.TryLockContext(ctx, pause); err != nil && ctx.Err() != nil {
			return nil, fmt.Errorf("interrupted while waiting for %s, which computes the features in %s", other, file)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	err = regular.Write(holder, fmt.Appendln(nil, os.Getpid()))
	return func() { os.Remove(holder); lock.Unlock() }, err
}

// Cached lists the files of features in a cache folder; see [Options].
func Cached(dir string) []string {
	dir, err := cacheFolder(dir)
	if err != nil {
		return nil
	}
	entries, _ := os.ReadDir(dir) // a folder that cannot be listed has none
	var list []string
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".safetensors" {
			list = append(list, filepath.Join(dir, e.Name()))
		}
	}
	return list
}

func cacheFolder(dir string) (string, error) {
	if dir != "" {
		return dir, nil
	}
	dir, err := datasets.CacheFolder("")
	return filepath.Join(dir, "features"), err
}

// cacheFile names the features of a folder by a network.
func cacheFile(dir string, by datasets.Origin) (string, error) {
	dir, err := cacheFolder(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	by.Trained, by.Licence = "", ""
	key, err := json.Marshal(by)
	if err != nil {
		return "", err
	}
	name := strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, filepath.Base(by.Root))
	sum := sha256.Sum256(key)
	return filepath.Join(dir, fmt.Sprintf("%s-%s-%x.safetensors", name, by.Network, sum[:6])), nil
}
