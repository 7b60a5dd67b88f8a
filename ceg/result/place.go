package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ledg-go/ledg/datasets/regular"
)

// PlaceFile is the name of the file in a run's directory that says where the run
// last found its images and weights, and how it ran. It concerns one machine and is no
// part of the records.
const PlaceFile = "local.json"

// Place is the content of PlaceFile: absolute paths, empty where there is none.
type Place struct {
	// Root is the folder of the images, SplitsDir that of the PACS lists.
	Root      string `json:"root"`
	SplitsDir string `json:"splits_dir"`
	// Images is where the images were last that features at Root were made of, if that is not
	// where their file says.
	Images string `json:"images,omitempty"`
	// Labels is the file of labels that were given.
	Labels string `json:"labels,omitempty"`
	// FollowLinks says that images behind links out of Root are used.
	FollowLinks bool `json:"follow_links,omitempty"`
	// Weights and Style are what the weights that the config names are found by:
	// "imagenet", a network on the hub, or a path.
	Weights string `json:"weights,omitempty"`
	Style   string `json:"style_weights,omitempty"`
	// Backend is what was asked to compute, and CacheDir the folder of decoded images.
	Backend  string `json:"backend,omitempty"`
	CacheDir string `json:"cache,omitempty"`
	// Keep says that the features at Root are to be kept in the directory and are not yet.
	Keep bool `json:"keep,omitempty"`
}

// FeaturesFile is the file of a run's directory that keeps the features it is trained on, if
// it does.
const FeaturesFile = "features.safetensors"

// NetworkDir is the folder of a run's directory that keeps the network of an ONNX file that it
// trains.
const NetworkDir = "network"

// ReadPlace reads the PlaceFile of the run in dir, which need not be there. Features that the
// directory keeps go with it where it is moved.
func ReadPlace(dir string) (p Place, err error) {
	path := filepath.Join(dir, PlaceFile)
	data, err := regular.Read(path, maxSettings)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	if err := Decode(data, &p); err != nil {
		return p, fmt.Errorf("%s: %w", path, err)
	}
	if own := filepath.Join(dir, FeaturesFile); filepath.Base(p.Root) == FeaturesFile {
		if _, err := os.Stat(own); err == nil {
			p.Root, err = filepath.Abs(own)
			return p, err
		}
	}
	return p, nil
}

// isPlace reports whether the PlaceFile in dir is one that ledg has written: it is, to the
// byte, what Write makes of its content.
func isPlace(dir string) bool {
	data, err := regular.Read(filepath.Join(dir, PlaceFile), maxSettings)
	if err != nil {
		return false
	}
	var p Place
	var b bytes.Buffer
	return Decode(data, &p) == nil && p.Write(&b) == nil && bytes.Equal(b.Bytes(), data)
}

// Write writes the content of a PlaceFile.
func (p Place) Write(w io.Writer) error { return json.NewEncoder(w).Encode(p) }

// WritePlace writes the PlaceFile.
func (d *Dir) WritePlace(p Place) error { return d.WriteFile(PlaceFile, p.Write) }
