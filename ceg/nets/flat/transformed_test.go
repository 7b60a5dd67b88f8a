package flat_test

import (
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/flat"
)

// Features with weights whose layout was computed in another graph equal one graph's, to the byte.
func TestWeightsTransformedBefore(t *testing.T) {
	b, err := engine.Open("go")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for _, c := range []struct {
		net  nets.Backbone
		size int
	}{
		{nets.SmallCNN(24, config.MeanPool), 32},
		{resnet(18, 2), 32},
		{mobile, 112},
	} {
		t.Run(c.net.Name, func(t *testing.T) {
			params, _, err := nets.Params(c.net, c.size)
			if err != nil {
				t.Fatal(err)
			}
			var args []any
			for _, p := range params {
				args = append(args, tensors.FromFlatDataAndDimensions(p.Init(1), p.Shape...))
			}
			pixels := make([]float32, 3*c.size*c.size*3)
			for i := range pixels {
				pixels[i] = float32(i%17) / 17
			}
			args = append(args, tensors.FromFlatDataAndDimensions(pixels, 3, c.size, c.size, 3))
			read := func(in []*Node) (map[string]*Node, []nets.Pass) {
				m := map[string]*Node{}
				for i, p := range params {
					m[p.Name] = in[i]
				}
				return m, []nets.Pass{{Images: in[len(params)], NoGrad: true}}
			}
			run := func(args []any, build func(in []*Node) []*Node) []*tensors.Tensor {
				out, err := ExecOnceN(b.Compute, build, args...)
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			want := run(args, func(in []*Node) []*Node {
				m, passes := read(in)
				return flat.Build(c.net, m, passes, false).Passes
			})
			transformed := run(args, func(in []*Node) []*Node {
				m, passes := read(in)
				return flat.TransformedWeights(c.net, m, passes)
			})
			for _, w := range transformed {
				args = append(args, w)
			}
			got := run(args, func(in []*Node) []*Node {
				m, passes := read(in)
				return flat.BuildTransformed(c.net, m, in[len(params)+1:], passes).Passes
			})
			if !slices.Equal(tensors.MustCopyFlatData[float32](got[0]), tensors.MustCopyFlatData[float32](want[0])) {
				t.Error("the features differ")
			}
		})
	}
}
