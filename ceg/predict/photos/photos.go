// Package photos makes feature vectors of a folder of one's own images, once, by a network
// with published weights: what there is to train on in seconds where training on the pixels
// takes minutes and knows less. The vectors lie in a cache; of images that come or change later
// only those are computed.
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

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/nets/weights/pretrained"
	"github.com/ledg-go/ledg/ceg/predict/embedding"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
)

// Network is the network that is used where none is named.
const Network = "efficientnet-lite0"

// Views are the views of each image: the clean one, a weak one and two strong ones.
const Views = 4

// pause is how long to wait before looking again whether somebody else has ended.
const pause = 200 * time.Millisecond

// Options are the choices of [Embed]. The zero value works.
type Options struct {
	// By names the network, its weights, the size of the images and how they are decoded; the
	// zero value is Network with ImageNet's weights at its own size, of pixels as stored.
	By datasets.Origin
	// FollowLinks uses images behind links that lead out of the folder. Group and Classes are
	// those of datasets.Options; the latter count with a Group alone.
	FollowLinks bool
	// Strict makes an image that cannot be decoded an error; otherwise it is left out.
	Strict  bool
	Group   string
	Classes []string
	// CacheDir holds the features; empty means the folder ledg/features in
	// os.UserCacheDir.
	CacheDir string
	// Backend is what engine.Open takes; empty chooses.
	Backend string
	// Known are files that may have features of these images already.
	Known []string
	// Say is told what happens, in lines; nil for nobody. Allow is asked before weights are
	// downloaded, with what would be; nil allows it.
	Say   func(line string)
	Allow func(question string) bool
	// Progress is told how many images are done; nil for nobody.
	Progress func(done, total int)
}

// Embed makes the features of the images in a folder, domain/class/image or domain/image, and
// returns their file. What was computed before is not computed again, be it of a folder of
// another name.
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
	if o.Group == "" { // folders name the classes
		o.Classes = nil
	}
	opening := datasets.Options{Decoding: o.By.Decoding, Patterns: o.By.Exclude, FollowLinks: o.FollowLinks, Group: o.Group, Classes: o.Classes}
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
	lock := regular.NewLock(file + ".lock") // of who would write the same
	if _, err := lock.TryLockContext(ctx, pause); err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	defer lock.Unlock()
	x, err := front.Extractor(ctx, o.Backend)
	if err != nil {
		return "", err
	}
	defer x.Close()
	o.Say(fmt.Sprintf("looking at %d images with %s (%s), once; what comes out is kept in %s", d.Len(), by.Network, cmp.Or(by.WeightsName, "random weights"), file))
	known, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*.safetensors"))
	if err != nil {
		return "", err
	}
	writing := embedding.Options{Size: by.Size, Views: Views, Seed: by.Seed, Origin: by, Progress: o.Progress, Known: append(slices.Clone(o.Known), known...)}
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

// cacheFile names the features of a folder by a network.
func cacheFile(dir string, by datasets.Origin) (string, error) {
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no folder for features: %w", err)
		}
		dir = filepath.Join(user, "ledg", "features")
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
