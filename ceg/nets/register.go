package nets

import (
	"fmt"
	"sync"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/internal/registry"
	"github.com/ledg-go/ledg/ceg/internal/source"
)

// Input is what a registered network computes features of.
type Input uint8

const (
	// OnImages are normalised images, float32 [n, size, size, 3].
	OnImages Input = iota
	// OnFeatures are standardised feature vectors, float32 [n, length], of the data set features.
	OnFeatures
)

// registered holds constructors of networks that the program registered, func(width, vector int) Backbone, by name.
var registered sync.Map

// RegisterFunc is [Register] for a graph function, which has no ONNX form; weights are exported as .safetensors.
func RegisterFunc(name string, on Input, f Func) error {
	return Register(name, on, func(width, vector int) Backbone { return OfFunc(name, width, vector, f) }, f)
}

// Register makes a network available in this program under its name, like the built-in ones, as
// active.Register does for a query strategy: a digest of its code becomes part of the config of every run that uses
// it. Every objective trains it. build returns the backbone for the setting network.width and a length of feature
// vectors, 0 for images: of [OfFunc] or of [Backbone.Layers], which are fast on the Go backend, may have
// BatchNorm, and have an ONNX form. The functions in values are part of the code. Check a new network with
// objectivetest.CheckNetwork.
func Register(name string, on Input, build func(width, vector int) Backbone, values ...any) error {
	fail := func(err error) error { return fmt.Errorf("network %q: %w", name, err) }
	if _, taken := config.LookupNetwork(name); taken {
		return fail(fmt.Errorf("the name is taken by another network: choose another"))
	}
	b := build(16, []int{0, 64}[on])
	if _, _, err := Params(b, 64); err != nil {
		return fail(err)
	}
	code, err := source.Digest(append(values, build)...)
	if err != nil {
		return fail(err)
	}
	if err := registry.Add("network", name); err != nil {
		return err
	}
	registered.Store(name, build)
	config.AddNetwork(config.NetworkInfo{Name: name, Vectors: on == OnFeatures, Whole: b.Graph != nil, Code: code})
	return nil
}
