package nets

import (
	"fmt"
	"strings"

	"github.com/ledg-go/ledg/ceg/config"
)

// Family builds the backbones of one architecture: known is the registry entry, n the run's
// settings, and vector the length of feature vectors, 0 for images.
type Family func(known config.NetworkInfo, n config.Network, vector int) (Backbone, error)

// families has what the files of this package put there when the program starts, each
// beside the layers that it builds of.
var families = map[string]Family{}

// New returns the network of a run's settings, for feature vectors of length vector or, if that
// is 0, for images. [config.Networks] lists the networks. To add an architecture, write a file
// here with its layers, an entry of families, and a line there.
func New(n config.Network, vector int) (Backbone, error) {
	known, ok := config.LookupNetwork(n.Name)
	names := strings.Join(config.NetworkNames(vector > 0), ", ")
	switch {
	case !ok:
		return Backbone{}, fmt.Errorf("config: network %q, want one of %s", n.Name, names)
	case vector > 0 && !known.Vectors:
		return Backbone{}, fmt.Errorf("config: network %q takes images, and the examples are feature vectors: want one of %s", n.Name, names)
	case vector == 0 && known.Vectors:
		return Backbone{}, fmt.Errorf("config: network %q takes feature vectors, and the examples are images: want one of %s", n.Name, names)
	case vector == 0 && n.Width < 1:
		return Backbone{}, fmt.Errorf("config: network width %d, want at least 1", n.Width)
	}
	if build, ok := registered.Load(n.Name); ok {
		return build.(func(width, vector int) Backbone)(n.Width, vector), nil
	}
	return families[known.Family](known, n, vector)
}
