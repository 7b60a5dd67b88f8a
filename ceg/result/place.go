package result

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
)

// PlaceFile is the file in a run's folder that records where the run last found its images and
// weights on this machine. It is not a result.
const PlaceFile = "local.json"

// Place is the content of PlaceFile; paths are absolute, empty if there is none.
type Place struct {
	// Root is the folder of the images, SplitsDir the folder of the PACS lists.
	Root      string `json:"root"`
	SplitsDir string `json:"splits_dir"`
	// Images is the last known folder of the images from which the features at Root were
	// computed, if it differs from the one in their file.
	Images string `json:"images,omitempty"`
	// Labels is the user's file of labels, Columns the columns that the user has chosen in it.
	Labels  string               `json:"labels,omitempty"`
	Columns datasets.ColumnNames `json:"columns,omitzero"`
	// FollowLinks permits images behind symbolic links out of Root.
	FollowLinks bool `json:"follow_links,omitempty"`
	// Weights and Style locate the weights that the config names: "imagenet", a network on the
	// hub, or a path.
	Weights string `json:"weights,omitempty"`
	Style   string `json:"style_weights,omitempty"`
	// Backend is the requested backend, CacheDir the folder of decoded images.
	Backend  string `json:"backend,omitempty"`
	CacheDir string `json:"cache,omitempty"`
	// Keep is true if the features at Root are to be copied into the folder and are not yet.
	Keep bool `json:"keep,omitempty"`
}

// FeaturesFile is the copy of the training features in a run's folder.
const FeaturesFile = "features.safetensors"

// LeftOutFile is the table of a run's directory that lists the files of the user's own images
// that are not used, with reasons.
const LeftOutFile = "left-out.csv"

// NetworkDir is the copy of a trained ONNX network's files in a run's folder.
const NetworkDir = "network"

// ReadPlace reads the PlaceFile of the run in dir, which may be missing. A copy of the features
// in the folder is found after the folder was moved.
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

// Locate returns where the data of a run is: the values in place, and for the rest those that
// the run in dir stores. An empty dir remembers nothing.
func Locate(dir, dataset string, place Place) (Place, error) {
	if dir == "" {
		return place, nil
	}
	p, err := ReadPlace(dir)
	if err != nil {
		return p, err
	}
	return place.Or(p, dataset), nil
}

// Or returns p with what it leaves open as old has it. Of a data set of feature vectors, a Root
// that is a folder is the folder of the images that the features were computed from.
func (p Place) Or(old Place, dataset string) Place {
	now := old
	info, _ := datasets.Lookup(dataset)
	if folder, err := os.Stat(p.Root); err == nil && folder.IsDir() && info.Vectors {
		now.Images = p.Root
	} else if p.Root != "" {
		now.Root, now.SplitsDir = p.Root, p.SplitsDir
	}
	now.Keep, now.FollowLinks = old.Keep || p.Keep, old.FollowLinks || p.FollowLinks
	now.Labels, now.Weights, now.Style = cmp.Or(p.Labels, old.Labels), cmp.Or(p.Weights, old.Weights), cmp.Or(p.Style, old.Style)
	if p.Labels != "" {
		now.Columns = p.Columns
	}
	now.Backend, now.CacheDir = cmp.Or(p.Backend, old.Backend), cmp.Or(p.CacheDir, old.CacheDir)
	return now
}

// in returns p with absolute paths and with what it leaves open as old has it; see [Place.Or].
func (p Place) in(old Place, dataset string) (now Place, err error) {
	now = p.Or(old, dataset)
	for _, path := range []*string{&now.Root, &now.Images, &now.Labels, &now.SplitsDir, &now.Weights, &now.Style, &now.CacheDir} {
		if *path == "" || config.Elsewhere(*path) {
			continue
		}
		if *path, err = filepath.Abs(*path); err != nil {
			return now, err
		}
	}
	return now, nil
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
