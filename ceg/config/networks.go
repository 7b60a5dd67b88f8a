package config

import "slices"

// NetworkInfo is what settings need to know of a backbone. Package model builds it.
type NetworkInfo struct {
	Name string
	// Vectors says that it takes feature vectors instead of images.
	Vectors bool
	// Width is the published number of channels of its first layer, 0 where the data
	// set's recipe has one. Narrow ones are trained at other widths, too.
	Width  int
	Narrow bool
}

// Networks lists the backbones.
func Networks() []NetworkInfo {
	return []NetworkInfo{
		{Name: "smallcnn"},
		{Name: "resnet18", Width: 64, Narrow: true},
		{Name: "resnet34", Width: 64, Narrow: true},
		{Name: "resnet50", Width: 64, Narrow: true},
		{Name: "efficientnet-lite0", Width: 32},
		{Name: "efficientnet-lite1", Width: 32},
		{Name: "efficientnet-lite2", Width: 32},
		{Name: "linear", Vectors: true},
		{Name: "mlp", Vectors: true},
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
	list := Networks()
	i := slices.IndexFunc(list, func(n NetworkInfo) bool { return n.Name == name })
	if i < 0 {
		return NetworkInfo{}, false
	}
	return list[i], true
}
