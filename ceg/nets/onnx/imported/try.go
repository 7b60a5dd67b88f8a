package imported

import (
	"cmp"
	"fmt"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/nets"
)

// Trial is the number of images of [Trainable.Try]: few enough to be cheap.
func Trial(size int) int { return max(1, min(48, 224*224/max(size*size, 1))) }

// Try checks that one training step works on images of zeros: forward, in training and evaluation
// mode, and backward. Its result is discarded.
func (t *Trainable) Try(on engine.Backend) error {
	values, err := t.Values()
	if err != nil {
		return err
	}
	if err := t.grows(on); err != nil {
		return fmt.Errorf("%s: %s", t.Path, firstLine(err))
	}
	count := Trial(t.size)
	args := []any{tensors.FromFlatDataAndDimensions(make([]float32, count*t.size*t.size*3), count, t.size, t.size, 3)}
	for _, p := range t.params {
		args = append(args, tensors.FromFlatDataAndDimensions(values[p.Name], p.Shape...))
	}
	compute := on.Compute
	if on.Kind == engine.Go {
		compute = &lowered{compute}
	}
	named := func(args []*graph.Node) map[string]*graph.Node {
		params := map[string]*graph.Node{}
		for i, p := range t.params {
			params[p.Name] = args[1+i]
		}
		return params
	}
	if list, names := t.lates(); len(list) > 0 { // before, as gradients crash of indices that are out of range
		var computed []later
		var results []*tensors.Tensor
		err = caught(func() {
			exec := graph.MustNewExec(compute, func(args []*graph.Node) []*graph.Node {
				values := t.call(t.plain, named(args), args[0], nil, names)
				of, flags := checkLater(list, values[1:])
				computed = of
				return append(flags, graph.Const(args[0].Graph(), int32(0)))
			})
			defer exec.Finalize()
			results = exec.MustCall(args...)
		})
		var flags []int32
		for _, v := range results[:min(len(computed), len(results))] {
			flags = append(flags, tensors.ToScalar[int32](v))
		}
		if err = cmp.Or(err, errOutside(computed, flags)); err != nil {
			return fmt.Errorf("%s: %s", t.Path, firstLine(err))
		}
	}
	err = caught(func() {
		exec := graph.MustNewExec(compute, func(args []*graph.Node) []*graph.Node {
			params := named(args)
			f := t.Build(params, []nets.Pass{{Images: args[0], UpdateStats: true}}, true)
			gradients, _ := f.Pull([]*graph.Node{graph.OnesLike(f.Passes[0])})
			out := t.Build(params, []nets.Pass{{Images: args[0], NoGrad: true}}, false).Passes
			for _, p := range t.params {
				if g := gradients[p.Name]; g != nil {
					out = append(out, graph.ReduceAllSum(g))
				}
			}
			for _, v := range f.Running {
				out = append(out, graph.ReduceAllSum(v))
			}
			return out
		})
		defer exec.Finalize()
		exec.MustCall(args...)
	})
	if err != nil {
		return fmt.Errorf("%s: %s", t.Path, firstLine(err))
	}
	return nil
}

// many is a batch as large as those of training and evaluation.
const many = 1024 * few

// grows returns an error if the values of the network grow faster than the number of images, so
// that a trial with few images says nothing of the memory for many. It builds two graphs without
// computing them.
func (t *Trainable) grows(on engine.Backend) error {
	var sums [2]float64
	for i, images := range []int{few, many} {
		if err := caught(func() {
			g := graph.NewGraph(on.Compute, "sizes")
			defer g.Finalize()
			params := map[string]*graph.Node{}
			for _, q := range t.params {
				params[q.Name] = graph.Parameter(g, q.Name, shapes.Make(dtypes.Float32, q.Shape...))
			}
			t.call(t.plain, params, graph.Parameter(g, "images", shapes.Make(dtypes.Float32, images, t.size, t.size, 3)), nil, nil)
			for _, v := range g.Nodes() {
				sums[i] += float64(v.Shape().Size())
			}
		}); err != nil {
			return err
		}
	}
	if sums[1] > 1.5*many/few*sums[0] {
		return fmt.Errorf("its values grow faster than the number of images, from %.3g numbers for %d images to %.3g for %d: it is not trained", sums[0], few, sums[1], many)
	}
	return nil
}
