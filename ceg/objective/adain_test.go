package objective_test

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/flat"
	"github.com/ledg-go/ledg/ceg/nets/native"
	"github.com/ledg-go/ledg/ceg/nets/nettest"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// The networks of AdaIN give the fixture's features and images, in both lowerings and
// on sides that 8 does not divide: 20x28 pixels become 24x32.
func TestAdaINNetworks(t *testing.T) {
	a := nettest.Open(t, "testdata/adain.npz")
	read := func(name string) *tensors.Tensor { // [n, channels, h, w]
		if strings.HasSuffix(name, "content") || strings.HasSuffix(name, "style") {
			var v []float32
			for _, b := range nettest.Values[uint8](a, name) {
				v = append(v, float32(b)/255)
			}
			return tensors.FromFlatDataAndDimensions(v, a.Shape(name)...)
		}
		return tensors.FromFlatDataAndDimensions(a.Floats(name), a.Shape(name)...)
	}
	list := objective.AdaIN([4]int{4, 6, 8, 10}).Nets(objective.Dims{})
	encoder, decoder := list[0], list[1]
	backend := enginetest.Open(t)
	builds := map[string]func(nets.Backbone, map[string]*Node, []nets.Pass, bool) nets.Features{
		"flat": flat.Build, "native": native.Target{}.Build,
	}
	for lowering, build := range builds {
		run := func(net objective.Net, images *tensors.Tensor) *tensors.Tensor {
			params, _ := fatal.Get2(nets.Params(net.Backbone, 32))(t)
			args := []any{images}
			for _, p := range params {
				v := nettest.Weights(net.Name+"."+p.Name, p.Shape, 3, 1)
				args = append(args, tensors.FromFlatDataAndDimensions(v, p.Shape...))
			}
			out := fatal.Get(ExecOnce(backend.Compute, func(in []*Node) *Node {
				byName := map[string]*Node{}
				for i, p := range params {
					byName[p.Name] = in[i+1]
				}
				x := TransposeAllAxes(in[0], 0, 2, 3, 1)
				f := build(net.Backbone, byName, []nets.Pass{{Images: x, NoGrad: true, Maps: true}}, false)
				return TransposeAllAxes(f.Passes[0], 0, 3, 1, 2)
			}, args...))(t)
			return out
		}
		for _, c := range []struct {
			net      objective.Net
			from, to string
		}{{encoder, "content", "content_features"}, {encoder, "style", "style_features"}, {decoder, "mixed", "stylised"}, {decoder, "target", "stylised_alpha1"}} {
			for _, size := range []string{"even", "odd"} {
				name := fmt.Sprintf("%s, %s of %s", lowering, c.to, size)
				nettest.Near(t, name, nettest.Floats(run(c.net, read(size+"."+c.from))), a.Floats(size+"."+c.to), 1e-4, 0)
			}
		}
	}
}
