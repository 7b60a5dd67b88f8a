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

	"github.com/ledg-go/ledg/datasets/arrays"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// Origin says what features were made of and by what, as package embedding writes it into
// their file: with it the images can be shown, and others be embedded alike.
type Origin struct {
	// Dataset is the data set of the images, and Root its folder: an absolute path, and
	// Beside the same seen from the folder of the features' file, for when both move.
	// They are empty for images that are drawn.
	Dataset string `json:"dataset"`
	Root    string `json:"root,omitempty"`
	Beside  string `json:"beside,omitempty"`
	// FollowLinks says that images behind links out of Root were used.
	FollowLinks bool `json:"follow_links,omitempty"`
	// Decoding says which pixels the files stand for.
	Decoding rgb.Decoding `json:"decode,omitempty"`
	// Network is the backbone's name, Width the channels of its first layer, Pooling what
	// made its features, and Size the side of the images in pixels. With [ImportedNetwork] the
	// weights are an ONNX file with the network itself, and ONNX says how images are read for it.
	Network string `json:"network"`
	Width   int    `json:"width"`
	Pooling string `json:"pooling"`
	Size    int    `json:"size"`
	// Weights is the word that opens its weights: "imagenet", "none" (they are drawn from
	// Seed) or an absolute path. WeightsDigest is their SHA-256, WeightsName what they are
	// called, and Trained and Licence are what they were trained on, and theirs.
	Weights       string `json:"weights"`
	WeightsName   string `json:"weights_name,omitempty"`
	WeightsDigest string `json:"weights_digest,omitempty"`
	Trained       string `json:"trained,omitempty"`
	Licence       string `json:"licence,omitempty"`
	// Seed determined the augmented views, and weights that were drawn.
	Seed uint64   `json:"seed"`
	ONNX *Reading `json:"onnx,omitempty"`
}

// ImportedNetwork is the name of every network from an ONNX file.
const ImportedNetwork = "onnx"

// OriginKey is the key of a file's metadata that has its [Origin], as JSON.
const OriginKey = "origin"

// originals are the images that features were made of.
type originals struct {
	origin Origin
	// digests are those of the images when they were embedded, by row; nil where the file
	// does not say.
	digests []digest
	beside  string // the folder of the features' file
	moved   string // where the images are now, if somebody says so

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
	list, err := arrays.Strings(a)
	if err != nil {
		return nil, err
	}
	if len(list) != f.rows {
		return nil, a.Errorf("%d strings, but features has %d rows", len(list), f.rows)
	}
	o.digests = make([]digest, len(list))
	for i, s := range list {
		if n, err := hex.Decode(o.digests[i][:], []byte(s)); err != nil || n != len(o.digests[i]) {
			return nil, a.Errorf("row %d: %q is no SHA-256", i, s)
		}
	}
	return o, nil
}

// ErrNoImages is the error of who asks features of unknown origin for an image.
var ErrNoImages = errors.New("the file has feature vectors, and does not say what images they were made of, as files of ledg embed do")

// Origin returns where the features come from; ok is false where their file does not say.
func (f *Features) Origin() (o Origin, ok bool) {
	if f.originals == nil {
		return o, false
	}
	return f.originals.origin, true
}

// ImageRoot returns the folder of the images that the features were made of: where it was,
// or else where it lies as seen from the features' file. It is empty for images that are
// drawn. The error says what is missing.
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

// Folder returns the folder of the image files of a data set that was opened at root: that is
// root, but of feature vectors where the images are that they were made of. It is empty where
// no image is a file.
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
func (o *originals) read(ctx context.Context, id string, sum digest) (*rgb.Image, digest, error) {
	if err := o.open(); err != nil {
		return nil, digest{}, err
	}
	if o.drawn != nil {
		i, ok := o.drawn.Index(id)
		if !ok {
			return nil, digest{}, fmt.Errorf("data set %s has no such image", o.drawn.Name)
		}
		return o.drawn.source.read(ctx, i)
	}
	b, err := regular.ReadFS(o.images, id, rgb.MaxFile)
	if err != nil {
		return nil, digest{}, bare(err)
	}
	now := contentDigest(b)
	if sum != (digest{}) && now != sum {
		return nil, now, errors.New("the image has changed since its features were computed: embed it again")
	}
	m, err := o.origin.Decoding.Decode(ctx, b)
	return m, now, err
}

func (f *Features) digest(i int) (digest, error) {
	switch o := f.originals; {
	case o == nil:
		return digest{}, ErrNoImages
	case o.digests != nil:
		return o.digests[f.rows[i]], nil
	default:
		_, sum, err := o.read(context.Background(), f.examples[i].ID, digest{})
		return sum, err
	}
}

func (f *Features) read(ctx context.Context, i int) (*rgb.Image, digest, error) {
	o := f.originals
	if o == nil {
		return nil, digest{}, ErrNoImages
	}
	var sum digest
	if o.digests != nil {
		sum = o.digests[f.rows[i]]
	}
	return o.read(ctx, f.examples[i].ID, sum)
}
