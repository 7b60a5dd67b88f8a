package datasets

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// Origin records the images, the network and the settings from which features were computed;
// package embedding writes it into their file. With it the images can be shown, and more images
// embedded in the same way.
type Origin struct {
	// Dataset is the data set of the images. Root is its folder as an absolute path, and Beside
	// the same path relative to the features' file, for when both move. They are empty for
	// generated images.
	Dataset string `json:"dataset"`
	Root    string `json:"root,omitempty"`
	Beside  string `json:"beside,omitempty"`
	// FollowLinks is true if images behind symbolic links out of Root were used.
	FollowLinks bool `json:"follow_links,omitempty"`
	// Decoding is the rule that decoded the image files.
	Decoding rgb.Decoding `json:"decode,omitempty"`
	// Exclude are the patterns that left images out.
	Exclude []string `json:"exclude,omitempty"`
	// Layout and SiteRule are as in Options.
	Layout   string `json:"layout,omitempty"`
	SiteRule string `json:"site,omitempty"`
	// Network is the backbone's name, Width the number of channels of its first layer, Pooling
	// its pooling, and Size the side of the images in pixels. With [ImportedNetwork] the weights
	// are an ONNX file with the network, and ONNX describes its input and output.
	Network string `json:"network"`
	Width   int    `json:"width"`
	Pooling string `json:"pooling"`
	Size    int    `json:"size"`
	// Weights is the argument that opens its weights: "imagenet", "none" (random with Seed) or
	// an absolute path. WeightsDigest is their SHA-256, WeightsName their name, Trained their
	// training data, and Licence their licence.
	Weights       string `json:"weights"`
	WeightsName   string `json:"weights_name,omitempty"`
	WeightsDigest string `json:"weights_digest,omitempty"`
	Trained       string `json:"trained,omitempty"`
	Licence       string `json:"licence,omitempty"`
	// Seed draws the augmented views, and random weights.
	Seed uint64   `json:"seed"`
	ONNX *Reading `json:"onnx,omitempty"`
}

// ImportedNetwork is the network name for ONNX files.
const ImportedNetwork = "onnx"

// OriginKey is the metadata key of a file's [Origin], as JSON.
const OriginKey = "origin"

// LeftOutKey is the key of a file's metadata that lists the files that were left out, as JSON.
const LeftOutKey = "left_out"

// originals are the images that features were made of.
type originals struct {
	origin Origin
	// digests are the images' digests when they were embedded, by row; nil where the file does not
	// say.
	digests []digest
	beside  string // the folder of the features' file
	moved   string // current folder of the images, if specified

	once   sync.Once
	drawn  *Dataset
	images fs.FS
	err    error
}

// originals reads where the features come from; nil if the file does not say.
func (f *featureFile) originals(moved string) (*originals, error) {
	text, ok := f.Metadata()[OriginKey]
	if !ok {
		return nil, nil
	}
	o := &originals{beside: filepath.Dir(f.Path()), moved: moved}
	if err := json.Unmarshal([]byte(text), &o.origin); err != nil {
		return nil, fmt.Errorf("%s: %s in the metadata: %w", f.Path(), OriginKey, err)
	}
	if !f.Has("digests") {
		return o, nil
	}
	a, err := f.vector("digests")
	if err != nil {
		return nil, err
	}
	list, err := f.text(a)
	if err != nil {
		return nil, err
	}
	o.digests = make([]digest, len(list))
	for i, s := range list {
		if n, err := hex.Decode(o.digests[i][:], []byte(s)); err != nil || n != len(o.digests[i]) {
			return nil, a.Errorf("row %d: %q is no SHA-256", i, s)
		}
	}
	return o, nil
}

// ErrNoImages is the error of reading an image of features of unknown origin.
var ErrNoImages = errors.New("the file has feature vectors, and does not say what images they were made of, as files of ledg embed do")

// Origin returns the features' origin; ok is false if their file does not record it.
func (f *Features) Origin() (o Origin, ok bool) {
	if f.originals == nil {
		return o, false
	}
	return f.originals.origin, true
}

// ImageRoot returns the folder of the source images: the recorded one, or else the one at the
// recorded path relative to the features' file. It is empty for generated images. The error names
// the missing part.
func (f *Features) ImageRoot() (string, error) {
	if f.originals == nil {
		return "", fmt.Errorf("%s: %w", f.path, ErrNoImages)
	}
	root, err := f.originals.root()
	if err != nil {
		return "", fmt.Errorf("%s: %w", f.path, err)
	}
	return root, nil
}

// Folder returns the folder of the image files of a data set opened at root: root itself, or for
// feature vectors the folder of their source images. It is empty if images are not files.
func (d *Dataset) Folder(root string) (string, error) {
	if f, ok := d.Features(); ok {
		return f.ImageRoot()
	}
	return root, nil
}

func (o *originals) root() (string, error) {
	if o.origin.Root == "" {
		return "", nil
	}
	for _, dir := range []string{o.moved, o.origin.Root, filepath.Join(o.beside, filepath.FromSlash(o.origin.Beside))} {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir, nil
		}
	}
	return "", fmt.Errorf("the images that the features were made of are no longer in %s: put them back, or say with --root where they are now", o.origin.Root)
}

// open finds the images.
func (o *originals) open() error {
	o.once.Do(func() {
		dir, err := o.root()
		switch {
		case err != nil:
			o.err = err
		case dir == "":
			o.drawn, _, o.err = Open(o.origin.Dataset, "", Options{})
		case o.origin.FollowLinks:
			o.images = os.DirFS(dir)
		default:
			var root *os.Root
			if root, o.err = os.OpenRoot(dir); o.err == nil {
				o.images = root.FS()
			}
		}
	})
	return o.err
}

// read decodes the image called id, whose digest was sum unless that is zero.
func (o *originals) read(ctx context.Context, id string, view int, sum digest) (*rgb.Image, digest, error) {
	if err := o.open(); err != nil {
		return nil, digest{}, err
	}
	if o.drawn != nil {
		i, ok := o.drawn.Index(id)
		if !ok {
			return nil, digest{}, fmt.Errorf("data set %s has no such image", o.drawn.Name)
		}
		return o.drawn.source.read(ctx, i, view)
	}
	b, err := regular.ReadFS(o.images, rgb.FilePath(id), rgb.MaxFile)
	if err != nil {
		return nil, digest{}, regular.Bare(err)
	}
	now := contentDigest(id, b)
	if sum != (digest{}) && now != sum {
		return nil, now, errors.New("the image has changed since its features were computed: embed it again")
	}
	m, _, err := viewed(o.origin.Decoding, view).LookAt(ctx, id, b)
	return m, now, err
}

func (f *Features) digest(i int) (digest, error) {
	switch o := f.originals; {
	case o == nil:
		return digest{}, ErrNoImages
	case o.digests != nil:
		return o.digests[f.rows[i]], nil
	default:
		_, sum, err := o.read(context.Background(), f.examples[i].ID, 0, digest{})
		return sum, err
	}
}

func (f *Features) read(ctx context.Context, i, view int) (*rgb.Image, digest, error) {
	o := f.originals
	if o == nil {
		return nil, digest{}, ErrNoImages
	}
	var sum digest
	if o.digests != nil {
		sum = o.digests[f.rows[i]]
	}
	return o.read(ctx, f.examples[i].ID, view, sum)
}
