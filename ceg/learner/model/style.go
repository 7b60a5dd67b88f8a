package model

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/weights"
	"github.com/ledg-go/ledg/ceg/nets/weights/pretrained"
	"github.com/ledg-go/ledg/ceg/objective"
)

// The files of pytorch-AdaIN's weights, by the network that they are of.
var styleFiles = map[string]string{
	objective.StyleEncoder: "vgg_normalised.pth",
	objective.StyleDecoder: "decoder.pth",
}

// OpenStyle reads AdaIN's weights for the objective stylematch from a folder with
// vgg_normalised.pth and decoder.pth, or from one of the two files with the other beside it
// (.safetensors files work, too). Missing, misshapen and non-finite tensors are errors;
// additional tensors are ignored.
func OpenStyle(path string) (*pretrained.Source, error) {
	dir := path
	if info, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("style-weights %q: no such folder or file; want %s", path, config.StyleFiles)
	} else if !info.IsDir() {
		dir = filepath.Dir(path)
	}
	src := &pretrained.Source{Weights: config.Weights{Name: config.StyleName, Data: "MS-COCO and WikiArt"}, Path: path, File: new(weights.File)}
	digest := sha256.New()
	for _, n := range objective.AdaIN(objective.VGG19).Nets(objective.Dims{}) {
		f, err := openStyleFile(dir, styleFiles[n.Name])
		if err != nil {
			return nil, err
		}
		fmt.Fprintln(digest, n.Name, f.Digest)
		params, _, err := nets.Params(n.Backbone, 32)
		if err != nil {
			return nil, err
		}
		var want []weights.Spec
		var there weights.StateDict
		for _, p := range params {
			want = append(want, weights.Spec{Name: p.Name, Shape: p.Shape})
			if t, ok := f.Tensors.Lookup(p.Name); ok {
				there = append(there, t)
			}
		}
		values, _, err := weights.Assign(want, there)
		if err != nil {
			return nil, fmt.Errorf("style-weights %s: %w", filepath.Join(dir, f.Name), err)
		}
		for _, p := range params {
			src.File.Tensors = append(src.File.Tensors, weights.FromFloat32(n.Name+"."+p.Name, p.Shape, values[p.Name]))
		}
	}
	src.Digest = hex.EncodeToString(digest.Sum(nil))
	src.File.Name, src.File.Digest = src.Name, src.Digest
	return src, nil
}

// openStyleFile opens a file of weights or the same as .safetensors.
func openStyleFile(dir, name string) (*weights.File, error) {
	for _, try := range []string{name, strings.TrimSuffix(name, ".pth") + ".safetensors"} {
		f, err := weights.Open(filepath.Join(dir, try))
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	return nil, fmt.Errorf("style-weights: no %s in %s; want %s", name, dir, config.StyleFiles)
}

// Values returns the values of weight tensors by name.
func Values(w *pretrained.Source) (map[string][]float32, error) {
	values := map[string][]float32{}
	for _, tensor := range w.File.Tensors {
		v, err := tensor.Float32s()
		if err != nil {
			return nil, fmt.Errorf("weights %s: %w", w, err)
		}
		values[tensor.Name] = v
	}
	return values, nil
}
